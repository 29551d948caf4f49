"""The container's recipe and compose file, read as far as that can be done without an engine."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from deploy.container import build

from risala.config.load import load_settings
from risala.engine.journal.store import sealing_key, server_key

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "deploy/container"


def steps() -> list[tuple[str, str]]:
    """Each instruction and its words, lines joined."""
    text = (PLACE / "Containerfile").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found = [line.strip().partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in found]


def values(word: str) -> list[str]:
    return [rest for found, rest in steps() if found == word]


def test_every_instruction_is_one():
    known = {
        *("FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL"),
        *("HEALTHCHECK", "ENTRYPOINT", "CMD", "ARG", "LABEL"),
    }
    assert {word for word, _ in steps()} <= known
    assert values("ARG")[0] == f"BASE={build.BASE}"
    for stage in values("FROM"):
        assert stage.split(" AS ")[0] == "${BASE}"


def test_what_is_copied_is_there_and_let_in():
    let_in = {
        line[1:]
        for line in (PLACE / "Containerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    sources = set()
    for copied in values("COPY"):
        *names, _ = (word for word in copied.split() if not word.startswith("--"))
        if "--from=" not in copied:
            sources |= set(names)
    assert {each.replace("${VERSION}", "*") for each in sources} == let_in
    built = {each for each in sources if each.startswith("dist/")}
    assert built == {"dist/risala-${VERSION}-py3-none-any.whl", "dist/risala.cdx.json"}
    for source in sources - built:
        assert (ROOT / source).exists(), source


def test_what_is_installed_has_hashes():
    installs = [step for step in values("RUN") if re.search(r"/pip --python \S+ install", step)]
    assert installs
    for step in installs:
        assert "--require-hashes -r requirements.lock" in step or "--no-deps" in step


@pytest.mark.parametrize("step", values("RUN"))
def test_each_step_is_a_command_line(step):
    assert shlex.split(step)


def test_it_runs_without_root_on_a_volume_and_says_how_it_is():
    assert values("USER") == ["10001:10001"]
    assert values("VOLUME") == ["/var/lib/risala"]
    # Engines start an unhealthy container anew, which mends no carrier.
    assert "/healthz" in values("HEALTHCHECK")[0]
    assert json.loads(values("ENTRYPOINT")[0]) == ["/opt/risala/bin/risala"]
    assert len(values("FROM")) == 2  # what is run has neither pip's cache nor the source
    user = next(index for index, (word, _) in enumerate(steps()) if word == "USER")
    assert "RUN" not in {word for word, _ in steps()[user:]}


def test_its_environment_is_settings_that_there_are(tmp_path):
    given = dict(pair.split("=", 1) for pair in shlex.split(values("ENV")[0]))
    environ = {name: value for name, value in given.items() if name.startswith("RISALA_HTTP")}
    settings = load_settings(None, environ=environ)
    assert settings.http.host == "0.0.0.0"
    assert given["RISALA_DATA"] == values("VOLUME")[0]


def test_the_compose_file_holds_what_the_units_hold():
    told = yaml.safe_load((PLACE / "compose.yaml").read_text())
    ((name, service),) = told["services"].items()
    assert name == "gateway"
    assert service["image"] == build.NAME
    assert service["ulimits"]["core"] == 0
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert service["stop_grace_period"] == "45s"
    volumes = {each.split(":")[0]: each.split(":")[1] for each in service["volumes"]}
    assert set(volumes) == set(told["volumes"])
    assert volumes["data"] == values("VOLUME")[0]
    assert service["ports"] == ["127.0.0.1:8080:8080"]  # whoever wants more says so


def test_the_pair_is_two_that_take_over_from_each_other():
    services = yaml.safe_load((PLACE / "pair.yaml").read_text())["services"]
    assert services["one"]["volumes"] != services["two"]["volumes"]
    for each in (services["one"], services["two"]):
        assert each["image"] == build.NAME
        # The image's entry point is `risala`: what is more than one command replaces it.
        shell, option, script = each["entrypoint"]
        assert (shell, option) == ("sh", "-c")
        assert script == "risala standby rejoin; exec risala standby watch --take-over"
        assert "command" not in each
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])
        environ = {name: str(value) for name, value in each["environment"].items()}
        assert {server_key.KEY_VARIABLE, sealing_key.KEY_VARIABLE} <= environ.keys()
        prefixed = {name: each for name, each in environ.items() if "__" in name}
        standby = load_settings(None, environ=prefixed).standby
        assert (standby.copy_kind, standby.lease_kind) == ("postgresql", "postgresql")
        assert standby.replicate == "before_answer"
        assert standby.postgresql.url_env in environ


def test_the_image_keeps_its_health_check_and_does_not_tell_when_it_was_built():
    command = build.built(
        "podman", "1.2.3", "localhost/debian", 1795790085, "arm64", ["--network", "host"]
    )
    told = " ".join(command)
    assert told.startswith("podman build --format docker ")  # podman's own format has none
    assert "--timestamp 1795790085" in told
    assert "--tag localhost/risala:1.2.3" in told
    assert "--platform linux/arm64" in told
    assert "--build-arg VERSION=1.2.3 --build-arg BASE=localhost/debian" in told
    assert command[-3:] == ("--network", "host", ".")
    assert build.IGNORED[1] == str((PLACE / "Containerfile.dockerignore").relative_to(ROOT))
    assert "--format" not in build.built("docker", "1.2.3", build.BASE, 1, "amd64", [])


def test_without_a_wheel_the_build_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "TOP", tmp_path)
    (tmp_path / "src/risala").mkdir(parents=True)
    (tmp_path / "src/risala/__init__.py").write_text('__version__ = "1.2.3"\n')
    with pytest.raises(SystemExit, match=r"dist/risala-1\.2\.3-py3-none-any\.whl: make dist sbom"):
        build.main(["--tool", "podman"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="no podman or docker here"):
        build.found()
