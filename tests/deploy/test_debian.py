"""The Debian package, built without its Python environment: everything else is in it."""

import gzip
import marshal
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import click
import pytest
from deploy.debian import control, environment, manpages
from deploy.debian.build import COMPLETIONS

from risala.cli.main import cli

ROOT = Path(__file__).parents[2]
SCRIPTS = ("postinst", "prerm", "postrm")
COMMANDS = dict(manpages.commands(cli))
DATE = "2026-11-27"
needs_dpkg = pytest.mark.skipif(
    shutil.which("dpkg-deb") is None, reason="dpkg-deb is Debian's: no package can be built here"
)


def build(out: Path) -> Path:
    """The package's file."""
    command = ("-m", "deploy.debian.build", "--without-environment")
    subprocess.run(
        [sys.executable, *command, "--build", str(out / "build"), "--out", str(out)],
        cwd=ROOT,
        env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            "PYTHONSAFEPATH": "1",
            "LC_ALL": "C.UTF-8",
            "SOURCE_DATE_EPOCH": "1795790085",
        },
        check=True,
        capture_output=True,
    )
    (made,) = out.glob("*.deb")
    return made


@pytest.fixture(scope="module")
def deb(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("deb"))


@pytest.fixture(scope="module")
def tree(deb, tmp_path_factory) -> Path:
    """The unpacked package, with what is for dpkg itself in ``DEBIAN``."""
    place = tmp_path_factory.mktemp("tree")
    subprocess.run(["dpkg-deb", "-R", str(deb), str(place)], check=True)
    return place


# -- the package ---------------------------------------------------------------------------------


@needs_dpkg
@pytest.mark.slow
@pytest.mark.long
def test_dpkg_is_told_what_it_is(deb):
    def field(name: str) -> str:
        told = subprocess.run(
            ["dpkg-deb", "-f", str(deb), name], capture_output=True, text=True, check=True
        )
        return told.stdout.strip()

    minor = sys.version_info.minor
    assert field("Depends").split(", ")[0] == f"python3.{minor}"
    assert deb.name == f"risala_{field('Version')}_{field('Architecture')}.deb"
    assert field("Installed-Size").isdigit()
    listed = subprocess.run(
        ["dpkg-deb", "-c", str(deb)], capture_output=True, text=True, check=True
    ).stdout
    for line in listed.splitlines():
        assert re.match(r"(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root/root ", line), line


@needs_dpkg
@pytest.mark.slow
@pytest.mark.long
def test_what_shells_man_and_systemd_read_is_at_its_place(tree):
    pages = {path.name for path in (tree / "usr/share/man/man1").iterdir()}
    assert pages == {"risala.1.gz", *(f"risala-{name}.1.gz" for name in COMMANDS)}
    for name in COMPLETIONS.values():
        assert "RISALA_COMPLETE" in (tree / name).read_text()
    assert (tree / "usr/bin/risala").readlink() == Path("../lib/risala/bin/risala")
    for unit in (ROOT / "deploy/systemd").iterdir():
        text = (tree / "usr/lib/systemd/system" / unit.name).read_text()
        assert "/opt/" not in re.sub(r"(?m)^#.*$", "", text)
    for kind in ("sysusers.d", "tmpfiles.d"):
        ours = (ROOT / "deploy" / kind / "risala.conf").read_bytes()
        assert (tree / "usr/lib" / kind / "risala.conf").read_bytes() == ours
    doc = tree / "usr/share/doc/risala"
    assert "Apache-2.0" in (doc / "copyright").read_text()
    assert gzip.decompress((doc / "changelog.Debian.gz").read_bytes()).startswith(b"risala (")
    assert (doc / "examples/risala.toml").stat().st_size > 10_000
    # No file that a purge would not know of, and none that dpkg would ask about.
    assert not (tree / "etc").exists()
    assert not (tree / "var").exists()
    assert not (tree / "DEBIAN/conffiles").exists()


@needs_dpkg
@pytest.mark.slow
@pytest.mark.long
def test_the_same_sources_make_the_same_package(deb, tmp_path):
    assert build(tmp_path).read_bytes() == deb.read_bytes()


# -- man pages -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.long
def test_each_command_has_a_page_that_man_understands(tmp_path):
    made = manpages.pages(DATE, "1.0.0")
    for name, command in COMMANDS.items():
        text = made[f"risala-{name}.1"]
        for path, _ in manpages.leaves(command, f"risala {name}"):
            assert f'.SS "{manpages.escaped(path)}"' in text
        assert ".SH NAME\n" in text
    if shutil.which("man") is None:
        return
    for name, text in made.items():
        page = tmp_path / name
        page.write_text(text, encoding="utf-8")
        told = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"},
        )
        assert told.stderr == "", name


def test_a_page_has_options_examples_and_no_requests_of_the_text():
    @click.command(
        help="Do `it`. And more.\n\n.TH is no request.\n\n\b\nExamples:\n  risala it --fast\n"
    )
    @click.option("--fast", is_flag=True, help="Don't wait.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def command() -> None:
        pass

    text = manpages.page(command, "it", DATE, "1.0.0")
    assert "risala\\-it \\- Do it\n" in text
    assert "Do \\fBit\\fP. And more." in text
    assert "\n\\&.TH is no request." in text
    own, common = text.split(".SH COMMON OPTIONS")
    assert "\\fB\\-\\-fast\\fP\nDon\\(aqt wait." in own.split(".SH OPTIONS")[1]
    assert "\\-\\-json" in common
    assert "\\fBrisala it \\-\\-fast\\fP" in text.split(".SH EXAMPLES")[1]


# -- versions --------------------------------------------------------------------------------------


def test_a_release_is_newer_than_what_came_before_it(monkeypatch):
    told = {"ID": "debian", "VERSION_ID": "12"}
    monkeypatch.setattr(control.platform, "freedesktop_os_release", lambda: told)
    assert control.debian_version("1.0.0", "1") == "1.0.0-1+deb12"
    assert control.debian_version("1.0.0rc1", "1") == "1.0.0~rc1-1+deb12"
    assert control.debian_version("1.0.0.dev3", "2") == "1.0.0~dev3-2+deb12"
    told |= {"ID": "ubuntu", "VERSION_ID": "24.04"}
    assert control.debian_version("1.0.0", "1") == "1.0.0-1+ubuntu24.04"


@needs_dpkg
def test_dpkg_sorts_versions_as_they_come():
    versions = ("0.9.9", "1.0.0.dev0", "1.0.0rc1", "1.0.0", "1.1.0.dev0", "1.1.0")
    for older, newer in pairwise(control.debian_version(each, "1") for each in versions):
        subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=True)


# -- what dpkg runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_shell_and_ask_nothing(name):
    script = ROOT / "deploy/debian" / name
    subprocess.run(["sh", "-n", str(script)], check=True)
    text = script.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert "set -e" in text
    assert "debconf" not in text


def test_the_service_waits_for_settings_and_a_purge_knows_what_was_made():
    unit = (ROOT / "deploy/systemd/risala.service").read_text()
    assert "ConditionPathExists=/etc/risala/risala.toml\n" in unit
    purge = (ROOT / "deploy/debian/postrm").read_text()
    made = re.findall(r"^[df] (\S+)", (ROOT / "deploy/tmpfiles.d/risala.conf").read_text(), re.M)
    assert made
    for path in (*made, "/etc/risala/risala.toml"):
        assert path in purge
    enabled = {
        unit.name for unit in (ROOT / "deploy/systemd").iterdir() if "[Install]" in unit.read_text()
    }
    stopped = (ROOT / "deploy/debian/prerm").read_text()
    for name in enabled:
        assert name in stopped
        assert name in purge


# -- the environment -------------------------------------------------------------------------------


def test_an_environment_is_left_with_the_paths_of_its_place(tmp_path):
    home = tmp_path / environment.HOME
    site = home / "lib/python3.11/site-packages"
    record = site / "risala-1.0.0.dist-info/RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("risala/__init__.py,sha256=x,1\n../../../bin/flask,sha256=y,2\n")
    (record.parent / "direct_url.json").write_text('{"url": "file:///build/risala.whl"}')
    (home / "bin").mkdir()
    (home / "bin/flask").write_text("#!/build/bin/python\n")
    (home / "lib64").symlink_to("lib")
    environment._settle(home, "python3.11")
    assert sorted(path.name for path in (home / "bin").iterdir()) == [
        *("python", "python3", "python3.11", "risala")
    ]
    assert (home / "bin/risala").read_text().startswith("#!/usr/lib/risala/bin/python -P\n")
    assert record.read_text() == "risala/__init__.py,sha256=x,1\n"
    assert not (record.parent / "direct_url.json").exists()
    environment._nothing_of("/build", home)


def test_a_path_of_the_build_that_is_left_ends_it(tmp_path):
    (tmp_path / "module.py").write_text("HERE = '/build/deb'\n")
    with pytest.raises(SystemExit, match=r"module\.py"):
        environment._nothing_of("/build/deb", tmp_path)


def test_modules_come_compiled_and_name_the_place_where_they_are_installed(tmp_path):
    site = tmp_path / environment.HOME / "lib/python3/site-packages"
    site.mkdir(parents=True)
    (site / "one.py").write_text("def where():\n    pass\n")
    environment.compiled(sys.executable, tmp_path, site.parents[1])
    (module,) = (site / "__pycache__").iterdir()
    content = module.read_bytes()
    assert content[4:8] == b"\x01\0\0\0"  # by a hash, and nobody compares it
    code = marshal.loads(content[16:])
    assert code.co_filename == f"/{environment.HOME}/lib/python3/site-packages/one.py"
    # So no script of dpkg's has to: an upgrade would keep the service down meanwhile.
    for name in SCRIPTS:
        assert "compileall" not in (ROOT / "deploy/debian" / name).read_text()
