"""The client as its users install it: a wheel of its own, in an environment that has no server.

Nothing is fetched: what the wheel says that it needs is linked from the tests' own environment, and
nothing else is there.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import httpx2
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from patience import HANG_S
from processes import environment
from risala.client.version import VERSION
from risala.http.web.handbook.chapters import known
from risala.http.web.handbook.sections import files

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "clients/python"
ALL = ROOT / "docs/all.md"
HANDBOOK = "risala/http/static/handbook"
HANDBOOK_MAX = 512 * 1024
"""Octets of the handbook in the wheel."""
PROGRAM = """
import os
from risala.client import Risala
with Risala(os.environ["URL"], os.environ["KEY"]) as risala:
    sent = risala.send_message("+22236123456", "From the wheel")
    print(risala.get_message(sent.message_id).body)
"""


def run(*command: object, **more: str) -> str:
    done = subprocess.run(
        [str(each) for each in command],
        env=environment() | more,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        cwd="/",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path, into: Path, kind: str) -> Path:
    """A wheel, or an sdist, of a folder."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into))
    subprocess.run(command, cwd=folder, capture_output=True, timeout=HANG_S, check=True)
    suffix = {"wheel": "*.whl", "sdist": "*.tar.gz"}[kind]
    return max(into.glob(suffix), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build(CLIENT, tmp_path_factory.mktemp("client"), "wheel")


@pytest.fixture(scope="module")
def server_wheel(tmp_path_factory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("server"), "wheel")


def needed(wheel: Path) -> set[str]:
    """Distributions that the wheel needs, and those that they need, by their names here."""
    [found] = Distribution.discover(name="risala-client", path=[str(wheel)])
    names, asked = set(), [*(found.requires or ())]
    while asked:
        one = Requirement(asked.pop())
        name = canonicalize_name(one.name)
        if name not in names and (one.marker is None or one.marker.evaluate({"extra": ""})):
            names.add(name)
            asked += distribution(name).requires or ()
    return names


def contents(wheel: Path) -> dict[str, bytes]:
    """Its files, but for those that its builder words."""
    with zipfile.ZipFile(wheel) as archive:
        names = [
            name
            for name in archive.namelist()
            if not name.endswith((".dist-info/METADATA", ".dist-info/WHEEL", ".dist-info/RECORD"))
        ]
        return {name: archive.read(name) for name in names}


def said(wheel: Path) -> list[tuple[str, str]]:
    """What its metadata says, however it is ordered and spaced."""
    [found] = Distribution.discover(name="risala-client", path=[str(wheel)])
    fields = [(name, str(value)) for name, value in found.metadata.items()]
    told = [each for each in fields if each[0] not in ("Metadata-Version", "Requires-Dist")]
    required = [("Requires-Dist", str(Requirement(each))) for each in found.requires or ()]
    return sorted([*told, *required])


class Environment:
    """A fresh virtual environment without pip: ours installs into it."""

    def __init__(self, place: Path) -> None:
        venv.create(place, with_pip=False, symlinks=True)
        self.python = place / "bin/python"
        [self.packages] = place.glob("lib/python3*/site-packages")

    def link(self, names: set[str]) -> None:
        """Links what these distributions have, from the tests' environment."""
        for name in names:
            found = distribution(name)
            tops = {path.parts[0] for path in found.files or () if ".." not in path.parts}
            for top in tops - {"__pycache__"}:
                (self.packages / top).symlink_to(found.locate_file(top))

    def pip(self, *arguments: object) -> None:
        run(sys.executable, "-m", "pip", "-q", "--python", self.python, *arguments)

    def install(self, wheel: Path) -> None:
        self.pip("install", "--no-index", "--no-deps", "--no-compile", wheel)

    def run(self, program: str, **more: str) -> str:
        return run(self.python, "-I", "-c", program, **more)


def test_its_versions_are_one():
    told = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    assert told["version"] == VERSION
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_it_needs_an_http_client_and_nothing_of_the_server(wheel):
    names = needed(wheel)
    assert "httpx2" in names
    assert not names & {"risala", "trio", "quart", "hypercorn", "pydantic", "sqlite-utils", "click"}


def test_it_sends_from_an_environment_of_its_own(wheel, shared_service, tmp_path):
    account = shared_service.organization()
    place = Environment(tmp_path / "venv")
    place.link(needed(wheel))
    place.install(wheel)
    told = {"URL": shared_service.url, "KEY": account.secret_key}
    assert place.run(PROGRAM, **told) == "From the wheel\n"
    with pytest.raises(AssertionError, match="risala"):
        place.run("import risala.engine")


def test_a_service_serves_it_as_it_is_built(wheel, shared_service, tmp_path):
    """pip installs it from the service's address, and it sends from there."""
    url = f"{shared_service.url}/clients/{wheel.name}"
    served = tmp_path / wheel.name
    served.write_bytes(httpx2.get(url, timeout=HANG_S).content)
    assert contents(served) == contents(wheel)
    assert said(served) == said(wheel)
    account = shared_service.organization()
    place = Environment(tmp_path / "venv")
    place.link(needed(wheel))
    place.pip("install", "--no-index", "--no-deps", "--no-cache-dir", url)
    told = {"URL": shared_service.url, "KEY": account.secret_key}
    assert place.run(PROGRAM, **told) == "From the wheel\n"
    place.pip("check")
    place.pip("uninstall", "-y", "risala-client")
    with pytest.raises(AssertionError, match="risala"):
        place.run("import risala.client")


def test_the_sdist_makes_the_same_wheel(wheel, tmp_path):
    sdist = build(CLIENT, tmp_path, "sdist")
    run("tar", "-xzf", sdist, "-C", tmp_path)
    [unpacked] = (each for each in tmp_path.iterdir() if each.is_dir())
    again = build(unpacked, tmp_path / "again", "wheel")
    assert again.read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("first", ["client", "server"])
def test_beside_the_server_each_comes_and_goes_without_the_other(
    wheel, server_wheel, tmp_path, first
):
    """No file is of both: whichever is removed leaves the other whole."""
    place = Environment(tmp_path / "venv")
    place.link(needed(wheel))
    both = [wheel, server_wheel] if first == "client" else [server_wheel, wheel]
    for each in both:
        place.install(each)
    place.run("import risala.client, risala.sms; assert risala.__version__")
    place.pip("uninstall", "-y", "risala-client")
    place.run("import risala.sms; assert risala.__version__")
    with pytest.raises(AssertionError, match=r"No module named 'risala\.client'"):
        place.run("import risala.client")
    place.install(wheel)
    place.pip("uninstall", "-y", "risala")
    place.run("import risala.client")
    with pytest.raises(AssertionError, match=r"No module named 'risala\.sms'"):
        place.run("import risala.sms")


def test_the_services_wheel_has_the_handbook_and_no_more_of_the_documentation(tmp_path):
    """Each chapter in each of its languages, in half a MiB."""
    wheel = build(ROOT, tmp_path, "wheel")
    with zipfile.ZipFile(wheel) as archive:
        packed = [each for each in archive.infolist() if each.filename.startswith(f"{HANDBOOK}/")]
    written = {name for name in files(ALL.read_text("utf-8")) if (ROOT / "docs" / name).is_file()}
    assert {each.filename.removeprefix(f"{HANDBOOK}/") for each in packed} == written
    assert {f"{each}.md" for each in known()} <= written
    assert {"fr/how-to/receive-webhooks.md", "ar/how-to/receive-webhooks.md"} <= written
    assert sum(each.compress_size for each in packed) < HANDBOOK_MAX
