"""The wheel and the sdist: what is in them, and that they work where the source is not."""

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import httpx2
import pytest

from patience import HANG_S
from processes import Process
from risala.client.version import VERSION

ROOT = Path(__file__).parents[2]
AS_DATA = "risala/http/static/clients/python"
pytestmark = [pytest.mark.slow, pytest.mark.long]


def build(source: Path, out: Path, *kinds: str) -> list[Path]:
    flags = [word for kind in kinds for word in ("-t", kind)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *flags, "-d", str(out)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    return sorted(out.iterdir())


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    sdist, wheel = build(ROOT, tmp_path_factory.mktemp("dist"), "sdist", "wheel")[::-1]
    assert sdist.suffix == ".gz"
    assert wheel.suffix == ".whl"
    return sdist, wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_the_package_and_nothing_of_the_workshop(made):
    found = {name for name in contents(made[1]) if ".dist-info/" not in name}
    # Chapters of ``docs``, which the handbook shows.
    chapters = {name for name in found if name.startswith("risala/http/static/handbook/")}
    assert chapters
    found -= chapters
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ours = {name.removeprefix("src/") for name in tracked}
    # The client is a wheel of its own, which a service makes of the same sources.
    assert found == {
        *(name for name in ours if not name.startswith("risala/client/")),
        *(f"{AS_DATA}/{name[7:]}" for name in ours if name.startswith("risala/client/")),
        *(f"{AS_DATA}/{name}" for name in ("pyproject.toml", "README.md", "LICENSE")),
    }
    assert not [
        name for name in found if re.search(r"(^|/)(tests?|conftest\.py|__pycache__)/", name)
    ]
    # Pages, what browsers get, sentences in three languages, letters, types.
    for part in ("http/static/", "/templates/", ".po", "letters/ar.toml", "risala/py.typed"):
        assert [name for name in found if part in name], part


def test_what_it_needs_is_what_is_locked(made):
    metadata = next(
        data.decode() for name, data in contents(made[1]).items() if name.endswith("/METADATA")
    )
    needs = {
        re.match(r"[A-Za-z0-9-]+", line.split(": ")[1])[0].lower()
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    }
    lock = (ROOT / "requirements.lock").read_text()
    locked = set(re.findall(r"^([a-z0-9-]+)==", lock, re.M))
    locked |= set(re.findall(r"^([a-z0-9-]+)\[", lock, re.M))
    assert needs <= locked


def test_the_sdist_makes_the_same_wheel(made, tmp_path):
    with tarfile.open(made[0]) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    (again,) = build(source, tmp_path / "out", "wheel")
    assert again.name == made[1].name
    assert contents(again) == contents(made[1])


def test_from_the_wheel_a_message_is_accepted(made, tmp_path):
    """In an environment of its own. Its dependencies are this one's, so that no network is needed;
    the source is not to be found there."""
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin/python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(made[1])],
        check=True,
    )
    (site,) = place.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = subprocess.run(
        [str(python), "-c", "import risala; print(risala.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(site))
    process = Process(
        (str(place / "bin/risala"), "serve", "--demo", "--port", "0", "--data", "data"), tmp_path
    )
    try:
        process.wait_line(lambda line: line.startswith("curl "))
        facts = json.loads((tmp_path / "data/demo.json").read_text())
        base = facts["base_url"]
        answer = httpx2.post(
            f"{base}/api/sms",
            json={"to": "+22236123456", "body": "Salam"},
            headers={"x-api-key": facts["secret_key"]},
            timeout=HANG_S,
        )
        assert (answer.status_code, answer.json()["accepted"]) == (200, True)
        process.wait_line(lambda line: "delivered" in line)
        # A page with its styles, in Arabic: templates, static files and catalogues are there.
        page = httpx2.get(f"{base}/sign-in", headers={"accept-language": "ar"}, timeout=HANG_S)
        assert page.status_code == 200
        assert 'lang="ar"' in page.text
        style = re.search(r'href="(/[^"]+\.css[^"]*)"', page.text)[1]
        assert httpx2.get(base + style, timeout=HANG_S).status_code == 200
        client = f"{base}/clients/risala_client-{VERSION}-py3-none-any.whl"
        assert httpx2.get(client, timeout=HANG_S).status_code == 200
    finally:
        process.end()
