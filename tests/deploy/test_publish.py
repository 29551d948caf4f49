"""What a person or a workflow does with a release, as far as it goes without accounts."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from deploy.release import installer

from mirrors import a_release, needs_gpg, throw_away_key

PLACE = Path(installer.__file__).parent
WORKFLOW = PLACE / "workflows/release.yml"


def steps() -> dict[str, dict]:
    """The steps of the workflow that have a name."""
    jobs = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"].values()
    return {each["name"]: each for job in jobs for each in job["steps"] if "name" in each}


@pytest.mark.parametrize("path", [PLACE / "publish.md", WORKFLOW])
def test_a_registry_gets_the_health_check_too(path):
    """An image in OCI's own format has none."""
    copies = re.findall(r"skopeo copy (.*)oci-archive:", path.read_text("utf-8"))
    assert len(copies) == 1
    assert "--all --format v2s2" in copies[0]


def test_every_command_is_plain_shell():
    shells = re.findall(r"```sh\n(.*?)```", (PLACE / "publish.md").read_text("utf-8"), re.S)
    shells += [each["run"] for each in steps().values() if "run" in each]
    assert len(shells) > 10
    for text in shells:
        subprocess.run(("bash", "-n"), input=text, text=True, check=True)


@pytest.mark.slow
@needs_gpg
def test_the_workflow_takes_the_files_of_the_releases_key_alone(tmp_path, monkeypatch):
    key = throw_away_key(tmp_path / "keys", monkeypatch)
    dist = a_release(tmp_path / "dist", "1.1.0", key)
    script = steps()["Check signature and checksums"]["run"]

    def code(fingerprint: str) -> int:
        environ = os.environ | {"FINGERPRINT": fingerprint}
        command = ("bash", "-e", "-c", script)
        done = subprocess.run(command, cwd=tmp_path, env=environ, check=False, capture_output=True)
        return done.returncode

    assert code(key.fingerprint) == 0
    assert code("0" * 40)
    compose = dist / "compose.yaml"
    text = compose.read_text()
    compose.write_text(f"{text}# more\n")
    assert code(key.fingerprint)
    compose.write_text(text)
    assert code(key.fingerprint) == 0
    with (dist / "SHA256SUMS").open("a") as file:
        file.write("# more\n")
    assert code(key.fingerprint)
