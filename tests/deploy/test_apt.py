"""The folder of apt, read by the true apt: what a hostile mirror changes is refused."""

import gzip
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deploy.release import apt, sign
from deploy.release.artefacts import SUMS
from deploy.release.installer import Published
from deploy.release.systems import ARCHITECTURES, SYSTEMS

from mirrors import apt_of, needs_gpg, throw_away_key

pytestmark = [
    needs_gpg,
    pytest.mark.skipif(
        not (shutil.which("apt-get") and shutil.which("dpkg-deb")),
        reason="apt and dpkg are Debian's",
    ),
]
NOW = datetime.now(UTC)


def a_deb(folder: Path, version: str, mark: str = "deb12", architecture: str = "amd64") -> Path:
    """A package without files."""
    root = folder / "root"
    (root / "DEBIAN").mkdir(parents=True)
    told = (
        f"Version: {version}-1+{mark}\nArchitecture: {architecture}\nMaintainer: A <a@b.example>\n"
    )
    (root / "DEBIAN/control").write_text(f"Package: risala\n{told}Description: nothing\n")
    deb = folder / f"risala_{version}-1+{mark}_{architecture}.deb"
    subprocess.run(("dpkg-deb", "-b", str(root), str(deb)), check=True, capture_output=True)
    shutil.rmtree(root)
    return deb


@pytest.fixture
def key(tmp_path, monkeypatch):
    return throw_away_key(tmp_path / "keys", monkeypatch)


class Machine:
    """What apt knows of a folder."""

    def __init__(self, root: Path, folder: Path, key) -> None:
        self._command = apt_of(root, folder, key, "bookworm")
        self._root = root

    def update(self) -> subprocess.CompletedProcess[str]:
        return self._run("update")

    def candidate(self) -> str:
        told = subprocess.run(
            ("apt-cache", *self._command[2:], "policy", "risala"),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return next((line.split()[1] for line in told.splitlines() if "Candidate" in line), "")

    def download(self) -> subprocess.CompletedProcess[str]:
        return self._run("download", "risala")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (*self._command, *words), check=False, capture_output=True, text=True, cwd=self._root
        )


@pytest.fixture
def folder(tmp_path, key) -> Path:
    apt.written(tmp_path / "apt", [a_deb(tmp_path, "1.1.0")], key, NOW)
    return tmp_path / "apt"


@pytest.fixture
def machine(tmp_path, folder, key) -> Machine:
    return Machine(tmp_path / "machine", folder, key)


def test_apt_finds_the_newest_package_and_fetches_it(machine):
    done = machine.update()
    assert done.returncode == 0, done.stderr
    assert machine.candidate() == "1.1.0-1+deb12"
    assert machine.download().returncode == 0


def test_each_suite_has_the_packages_of_its_system(tmp_path, key):
    debs = [
        a_deb(tmp_path, "1.1.0", system.mark, each) for system in SYSTEMS for each in ARCHITECTURES
    ]
    apt.written(tmp_path / "apt", debs, key, NOW)
    for system in SYSTEMS:
        suite = tmp_path / "apt/dists" / system.codename
        assert "Architectures: amd64 arm64\n" in (suite / "Release").read_text()
        for each in ARCHITECTURES:
            listed = (suite / f"main/binary-{each}/Packages").read_text()
            assert listed.count("Package: risala\n") == 1
            assert f"+{system.mark}_{each}.deb\n" in listed
        for signed in (("InRelease",), ("Release.gpg", "Release")):
            keyring = tmp_path / "key.gpg"
            keyring.write_bytes(key.public())
            names = [str(suite / name) for name in signed]
            subprocess.run(
                ("gpgv", "--keyring", str(keyring), *names), check=True, capture_output=True
            )


def test_a_changed_list_is_refused(machine, folder):
    listed = folder / "dists/bookworm/main/binary-amd64/Packages"
    text = listed.read_text().replace("1.1.0-1+deb12", "9.9.9-1+deb12")
    listed.write_text(text)
    listed.with_name("Packages.gz").write_bytes(gzip.compress(text.encode()))
    assert machine.update().returncode != 0
    assert machine.candidate() in ("", "(none)")


def test_a_changed_package_is_refused(machine, folder):
    assert machine.update().returncode == 0
    (deb,) = (folder / apt.POOL).glob("*.deb")
    deb.write_bytes(deb.read_bytes()[:-1] + b"x")
    done = machine.download()
    assert done.returncode != 0
    assert "Hash Sum mismatch" in done.stderr


def test_a_list_that_is_no_longer_valid_is_refused(tmp_path, machine, folder, key):
    past = NOW - apt.VALID_FOR - timedelta(days=1)
    apt.written(folder, [a_deb(tmp_path, "1.1.0")], key, past)
    done = machine.update()
    assert done.returncode != 0
    assert "expired" in done.stderr


def test_another_key_is_refused(tmp_path, machine, folder, monkeypatch):
    other = throw_away_key(tmp_path / "others", monkeypatch)
    apt.written(folder, [a_deb(tmp_path, "9.9.9")], other, NOW)
    assert machine.update().returncode != 0
    assert machine.candidate() in ("", "(none)")


def test_an_older_list_does_not_take_the_newer_ones_place(tmp_path, machine, folder, key):
    assert machine.update().returncode == 0
    apt.written(folder, [a_deb(tmp_path, "1.0.0")], key, NOW - timedelta(days=30))
    machine.update()
    assert machine.candidate() == "1.1.0-1+deb12"


def test_a_release_is_signed_anew_without_building(tmp_path, key, capsys):
    dist = tmp_path / "dist"
    dist.mkdir()
    files = [a_deb(dist, "1.1.0"), *sign.begun(dist, Published("1.1.0"), key)]
    script = (dist / "install.sh").read_bytes()
    sign.signed(dist, "1.1.0", files, key, NOW - timedelta(days=100))
    before = (dist / SUMS).read_text()
    sign.main([key.fingerprint, "--dist", str(dist)])
    assert "Risala 1.1.0 is signed anew, valid until " in capsys.readouterr().out
    after = (dist / SUMS).read_text()
    assert before.splitlines()[3:] == after.splitlines()[3:]
    assert f"# Date: {NOW:%Y-%m-%d}\n" in after
    # The line that people type has its checksum.
    assert (dist / "install.sh").read_bytes() == script
    assert (dist / "apt/dists/bookworm/InRelease").exists()
    (dist / "compose.yaml").write_text("another\n")
    with pytest.raises(SystemExit, match="has not the files of its SHA256SUMS"):
        sign.main([key.fingerprint, "--dist", str(dist)])


def test_a_key_is_named_by_its_fingerprint(key):
    from deploy.release.signing import release_key

    spaced = " ".join(key.fingerprint[at : at + 4] for at in range(0, 40, 4)).lower()
    assert release_key(spaced) == key
    with pytest.raises(SystemExit, match="is no fingerprint"):
        release_key("Aminata")
    with pytest.raises(SystemExit, match="gpg --list-secret-keys failed"):
        release_key("0" * 40)
