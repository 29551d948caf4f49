"""Packages for other systems and processors, as far as that goes without a root and a network."""

import shutil
import sys
from pathlib import Path

import pytest
from deploy.debian import environment, foreign
from deploy.release import packages
from deploy.release.systems import SYSTEMS

from mirrors import MARKS


def test_wheels_of_another_processor_are_those_of_its_name():
    words = foreign.tags("aarch64", 13)
    platforms = [words[at + 1] for at, word in enumerate(words) if word == "--platform"]
    assert {"manylinux_2_17_aarch64", "manylinux_2_28_aarch64", "manylinux2014_aarch64"} <= {
        *platforms
    }
    # No system that a package is for has an older C library than the newest of these.
    assert "manylinux_2_37_aarch64" not in platforms
    assert " --abi cp313 --abi abi3 --abi none" in " ".join(words)


def test_what_another_processor_lacks_or_needs_more_ends_the_build(tmp_path, monkeypatch):
    native, other = tmp_path / "native", tmp_path / "other"
    for site in (native, other):
        (site / "flask-3.1.0.dist-info").mkdir(parents=True)
    foreign._compare(native, other)
    (native / "cffi-2.1.dist-info").mkdir()
    with pytest.raises(foreign.Differs, match=r"not in both: \['cffi-2\.1\.dist-info'\]"):
        foreign._compare(native, other)
    (other / "cffi-2.1.dist-info").mkdir()
    for site, libraries in ((native, "libc.so.6"), (other, "libc.so.6 libnew.so.1")):
        (site / "module.so").write_text(libraries)
    (other / "libown.so").write_text("")

    def readelf(*words: str) -> str:
        names = [name for path in words[3:] for name in Path(path).read_text().split()]
        lines = [f" 0x1 (NEEDED) Shared library: [{name}]" for name in names]
        return "\n".join([*lines, " 0x1 (NEEDED) [ld-linux-aarch64.so.1]", " (NEEDED) [libown.so]"])

    monkeypatch.setattr(foreign, "run", readelf)
    with pytest.raises(foreign.Differs, match=r"need more: \['libnew\.so\.1'\]"):
        foreign._compare(native, other)


@pytest.mark.skipif(not shutil.which("readelf"), reason="readelf is in binutils")
def test_libraries_of_a_native_module_are_read_from_it(tmp_path):
    """Any module of this Python will do."""
    import _ctypes

    module = getattr(_ctypes, "__file__", None)
    if module is None:
        pytest.skip("this Python has its modules built in")
    shutil.copy(module, tmp_path)
    assert any(name.startswith("libc.so") for name in foreign.needed(tmp_path))


def test_pip_takes_wheels_of_a_folder_alone(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(environment, "run", lambda *words: ran.append(words))
    pip = environment.Pip(tmp_path, sys.executable, tmp_path / "wheels")
    pip.lock(tmp_path, "requirements.lock", "--python", "/there/python")
    pip.lock(tmp_path, "requirements.lock", "--target", "/there/site")
    for words in ran:
        assert words[:2] == (sys.executable, str(tmp_path / "wheels/pip"))
        assert {"--no-index", "--require-hashes", "--only-binary"} <= {*words}
    assert ran[0][2:5] == ("--python", "/there/python", "install")
    assert ran[1][2] == "install"
    assert ran[1][-4:-2] == ("--no-deps", "-r") or "--target" in ran[1]


def test_each_system_has_its_own_mark_and_python():
    assert tuple(system.mark for system in SYSTEMS) == MARKS
    assert len({system.minor for system in SYSTEMS}) == len(SYSTEMS)


def test_roots_are_roots_and_need_the_keys_of_their_archive(tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "ROOTS", tmp_path)
    system = next(each for each in SYSTEMS if "ubuntu" in each.mark)
    with pytest.raises(SystemExit, match=r"--ubuntu-keyring FILE names them elsewhere"):
        packages.made_root(system, str(tmp_path / "none.gpg"))
    monkeypatch.setattr(packages.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match="sudo make packages"):
        packages.check()
