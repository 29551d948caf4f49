"""`install.sh` on a machine of stand-ins: what it does, and what it refuses before anything runs.

The script, gpgv, sqv, the signatures and the checksums are true; the key is thrown away.
"""

import base64
import hashlib
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deploy.release import installer
from deploy.release.installer import Published

from mirrors import DEBIAN_12, MARKS, FakeMachine, a_release, needs_gpg, throw_away_key
from patience import until

pytestmark = [needs_gpg, pytest.mark.skipif(not shutil.which("dpkg"), reason="dpkg is Debian's")]
NOTHING = "Nothing was changed."
PAGE = "http://127.0.0.1:8090/first-run/"
UNIT = "etc/containers/systemd/risala.container"


@pytest.fixture
def key(tmp_path, monkeypatch):
    return throw_away_key(tmp_path / "keys", monkeypatch)


@pytest.fixture
def dist(tmp_path, key) -> Path:
    """The release 1.1.0."""
    return a_release(tmp_path / "dist", "1.1.0", key)


@pytest.fixture
def machine(tmp_path) -> FakeMachine:
    return FakeMachine.made(tmp_path / "machine")


def without(folder: Path, *names: str) -> str:
    """A folder of all programs of this machine but some."""
    folder.mkdir()
    for place in ("/usr/bin", "/bin"):
        for path in Path(place).iterdir():
            if path.name not in names and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    return str(folder)


def refused(machine: FakeMachine, dist: Path, why: str, *words: str) -> None:
    """The script stopped for a reason, and neither root nor any program did anything."""
    did = machine.did()
    done = machine.install(dist, "--from", str(dist), *words)
    assert done.returncode == 1, done.stdout
    assert re.search(why, done.stderr), done.stderr
    assert NOTHING in done.stderr
    assert machine.did() == did


# -- what it does ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("os_release", "mark"),
    [
        (DEBIAN_12, "deb12"),
        ('ID=debian\nVERSION_ID="13"\nPRETTY_NAME="Raspberry Pi OS"\n', "deb13"),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', "ubuntu24.04"),
        ('ID=ubuntu\nVERSION_ID="26.04"\n', "ubuntu26.04"),
    ],
)
def test_each_system_gets_its_package_and_the_link_to_the_first_questions(
    tmp_path, dist, os_release, mark
):
    machine = FakeMachine.made(tmp_path / "machine", os_release)
    done = machine.install(dist, "--from", str(dist))
    assert done.returncode == 0, done.stderr
    asked = [each for each in machine.did() if each != "sudo"]
    assert asked[0] == "apt-get update -q"
    assert re.fullmatch(rf"apt-get install -q -y \S+/risala_1\.1\.0-1\+{mark}_amd64\.deb", asked[1])
    assert PAGE in done.stdout
    # Once more changes nothing, and asks nothing again.
    before = machine.did()
    done = machine.install(dist, "--from", str(dist))
    assert "is installed already" in done.stdout
    assert PAGE not in done.stdout
    assert [each for each in machine.did()[len(before) :] if each != "sudo"] == []


def test_a_dry_run_checks_everything_and_does_nothing(machine, dist):
    done = machine.install(dist, "--from", str(dist), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "would run: env DEBIAN_FRONTEND=noninteractive apt-get install" in done.stdout
    assert "Everything was checked. Nothing was changed." in done.stdout
    assert machine.did() == []


def test_a_published_release_is_also_a_source_of_upgrades(tmp_path, machine, key):
    public = "https://downloads.example.org/risala"
    dist = a_release(tmp_path / "published", "1.1.0", key, public=public)
    done = machine.install(dist, "--from", str(dist), "--no-questions")
    assert done.returncode == 0, done.stderr
    source = (machine.root / "etc/apt/sources.list.d/risala.sources").read_text()
    keyring = machine.root / "usr/share/keyrings/risala-archive-keyring.gpg"
    assert f"URIs: {public}/apt\nSuites: bookworm\n" in source
    assert f"Signed-By: {keyring}\n" in source
    assert keyring.read_bytes() == key.public()
    assert "Next: sudo risala init" in done.stdout


@pytest.fixture
def fedora(tmp_path) -> FakeMachine:
    return FakeMachine.made(tmp_path / "fedora", "ID=fedora\nVERSION_ID=43\n")


def of_image(machine: FakeMachine) -> list[str]:
    """What was asked that changes containers or units."""
    asks = r"podman (--version|volume (exists|inspect)|image exists|container exists|images)|sudo"
    return [line for line in machine.did() if not re.match(asks, line)]


def test_fedora_gets_the_image_and_a_unit(fedora, dist):
    """Ctrl-C ends the page, and not the script: the service goes on."""
    done = fedora.install(dist, "--from", str(dist))
    assert done.returncode == 0, done.stderr
    assert PAGE in done.stdout
    loads, owns, asks, *starts = of_image(fedora)
    assert re.fullmatch(r"podman load \S+ \S+ \S+/risala_1\.1\.0_amd64\.container\.tar\.xz", loads)
    assert re.search(r" localhost/risala:1\.1\.0 -R 10001:10001 \S*/etc/risala$", owns)
    assert " localhost/risala:1.1.0 init --web --port 8090 " in asks
    assert starts == ["systemctl daemon-reload", "systemctl restart risala"]
    unit = (fedora.root / UNIT).read_text()
    assert "Image=localhost/risala:1.1.0\n" in unit
    # The port of [http], for this machine alone: whoever wants more says so.
    assert "PublishPort=127.0.0.1:8091:8091\n" in unit
    assert "Environment=RISALA_HTTP__PORT=8091\n" in unit
    # Once more changes nothing.
    before = of_image(fedora)
    assert "is installed already" in fedora.install(dist, "--from", str(dist)).stdout
    assert of_image(fedora) == before


def test_the_image_takes_answers_from_a_file(tmp_path, fedora, dist):
    (tmp_path / "answers.toml").write_text('country = "KE"\n')
    answers = ("--answers", str(tmp_path / "answers.toml"))
    done = fedora.install(dist, "--from", str(dist), *answers)
    assert done.returncode == 0, done.stderr
    asked = of_image(fedora)[2]
    assert re.search(r" -v \S+/answers\.toml:/answers\.toml:ro,Z ", asked)
    assert " init --yes --file /answers.toml " in asked
    assert of_image(fedora)[-1] == "systemctl restart risala"


def test_an_image_that_nobody_set_up_is_not_started(fedora, dist):
    (fedora.root / "unanswered").touch()
    done = fedora.install(dist, "--from", str(dist))
    assert done.returncode == 1
    assert "nobody answered the questions" in done.stderr
    assert not fedora.has(UNIT)
    assert not any("systemctl" in line for line in fedora.did())
    # The next run asks again.
    (fedora.root / "unanswered").unlink()
    assert PAGE in fedora.install(dist, "--from", str(dist)).stdout
    assert fedora.has(UNIT)


def test_podman_comes_after_the_image_was_checked(tmp_path, fedora, dist):
    (fedora.root / "bin/podman").rename(fedora.root / "kept")
    tools = without(tmp_path / "tools", "podman")
    image = dist / "risala_1.1.0_amd64.container.tar.xz"
    text = image.read_text()
    image.write_text("another image\n")
    done = fedora.install(dist, "--from", str(dist), path=tools)
    assert "is not the release's" in done.stderr
    assert fedora.did() == []
    image.write_text(text)
    done = fedora.install(dist, "--from", str(dist), "--no-questions", path=tools)
    assert done.returncode == 0, done.stderr
    assert of_image(fedora)[0] == "dnf install -q -y podman"
    assert "PublishPort=127.0.0.1:8080:8080\n" in (fedora.root / UNIT).read_text()


def test_a_podman_without_units_is_refused(fedora, dist):
    (fedora.root / "podman").write_text("4.3.1\n")
    done = fedora.install(dist, "--from", str(dist))
    assert (done.returncode, of_image(fedora)) == (1, [])
    assert "podman 4.3.1 is here. Units of containers need 4.4 or newer." in done.stderr
    assert NOTHING in done.stderr


@pytest.mark.slow
def test_uninstalling_leaves_data_and_a_purge_asks_for_an_organization(machine, dist):
    machine.install(dist, "--from", str(dist))
    database = machine.root / "var/lib/risala/risala.db"
    database.touch()
    for typed in ("", "Another shop\n"):
        done = machine.install(dist, "--purge", typed=typed)
        assert done.returncode == 1
        assert NOTHING in done.stderr
        assert database.exists()
    assert machine.install(dist, "--uninstall").returncode == 0
    assert not machine.has("version")
    assert database.exists()
    assert "not installed" in machine.install(dist, "--uninstall").stdout
    machine.install(dist, "--from", str(dist))
    done = machine.install(dist, "--purge", typed="My shop\n")
    assert done.returncode == 0, done.stderr
    left = ("var/lib/risala", "etc/risala", "var/backups/risala", "version")
    assert [name for name in left if machine.has(name)] == []


def test_a_purge_says_that_a_process_of_the_user_still_runs(machine, dist):
    (machine.root / "busy").touch()
    done = machine.install(dist, "--purge", typed="machine\n")
    assert done.returncode == 1
    assert "the user stays: ps -u risala. All else is gone." in done.stderr
    assert NOTHING not in done.stderr
    assert not machine.has("var/lib/risala")


def test_without_the_program_a_purge_asks_for_the_machine(machine, dist):
    (machine.root / "var/lib/risala/risala.db").touch()
    assert machine.install(dist, "--purge", typed="My shop\n").returncode == 1
    assert machine.install(dist, "--purge", typed="machine\n").returncode == 0
    assert not machine.has("var/lib/risala")


@pytest.mark.slow
def test_of_an_image_each_version_goes_and_the_volumes_with_a_purge_alone(fedora, dist):
    fedora.install(dist, "--from", str(dist))
    done = fedora.install(dist, "--uninstall")
    assert done.returncode == 0, done.stderr
    gone = [line for line in fedora.did() if line.startswith("podman image rm")]
    assert [line.rpartition(":")[2] for line in gone] == ["1.0.0", "1.1.0"]
    assert fedora.has("volumes/risala-data/risala.db")
    fedora.install(dist, "--from", str(dist))
    for stop in (False, True):  # also of a service that does not run
        if stop:
            (fedora.root / "runs").unlink()
        done = fedora.install(dist, "--purge", typed="Another shop\n")
        assert 'no organization "Another shop"' in done.stderr
    done = fedora.install(dist, "--purge", typed="My shop\n")
    assert done.returncode == 0, done.stderr
    assert not fedora.has(UNIT)
    assert not fedora.has("volumes")


def test_volumes_that_stayed_are_purged_later(fedora, dist):
    fedora.install(dist, "--from", str(dist))
    fedora.install(dist, "--uninstall")
    assert fedora.install(dist, "--purge", typed="My shop\n").returncode == 1
    done = fedora.install(dist, "--purge", typed="machine\n")
    assert done.returncode == 0, done.stderr
    assert not fedora.has("volumes")
    assert not any("apt-get" in line for line in fedora.did())


# -- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["risala_1.1.0-1+deb12_amd64.deb", "SHA256SUMS"])
def test_a_changed_file_is_refused(machine, dist, name):
    with (dist / name).open("a") as file:
        file.write("more\n")
    why = r"no signature of the release's key" if name == "SHA256SUMS" else r"is not the release's"
    refused(machine, dist, why)
    refused(machine, dist, why, "--dry-run")


def test_a_changed_image_is_refused(fedora, dist):
    (dist / "risala_1.1.0_amd64.container.tar.xz").write_text("another image\n")
    refused(fedora, dist, r"container\.tar\.xz is not the release's")


@pytest.mark.slow
def test_a_key_that_is_not_the_releases_is_refused(tmp_path, machine, dist, monkeypatch):
    mine = (dist / "install.sh").read_text()
    other = throw_away_key(tmp_path / "others", monkeypatch)
    forged = a_release(tmp_path / "forged", "1.1.0", other)
    (forged / "install.sh").write_text(mine)
    refused(machine, forged, "no signature of the release's key")
    # Nor where somebody put another key into the script, and left the fingerprint.
    swapped = (forged / "install.sh").read_text()
    theirs = Published("1.1.0").script(other)
    pattern = re.compile(r"^KEY='[^']*'$", re.M)
    both = pattern.sub(pattern.search(theirs)[0], swapped)
    (forged / "install.sh").write_text(both)
    refused(machine, forged, f"is signed by {other.fingerprint}, not by the release's key")


def test_a_key_that_has_expired_is_refused(tmp_path, machine, key, dist):
    """gpgv calls its signature right, and says only beside that the key is over."""
    stale = a_release(tmp_path / "stale", "1.1.0", key)
    for words in (
        ("--quick-set-expire", key.fingerprint, "seconds=1"),
        ("--output", str(stale / "key.gpg"), "--export", key.fingerprint),
    ):
        subprocess.run(
            ("gpg", "--batch", "--yes", "--passphrase", "", *words),
            check=True,
            capture_output=True,
        )
    until((lambda: "[expired:" in _listed(key.fingerprint)), "the key is over")
    script = (stale / "install.sh").read_text()
    folded = base64.encodebytes((stale / "key.gpg").read_bytes()).decode().strip()
    (stale / "install.sh").write_text(re.sub(r"(?m)^KEY='[^']*'$", f"KEY='{folded}'", script))
    refused(machine, stale, "no signature of the release's key")


def _listed(fingerprint: str) -> str:
    command = ("gpg", "--list-keys", fingerprint)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_an_older_version_is_refused_though_it_is_signed(tmp_path, machine, dist, key):
    old = a_release(tmp_path / "old", "1.0.9", key)
    shutil.copy(dist / "install.sh", old)
    refused(machine, old, r"offers Risala 1\.0\.9, older than 1\.1\.0 of this script")


def test_what_is_installed_is_not_made_older(machine, dist):
    (machine.root / "version").write_text("1.2.0-1+deb12\n")
    refused(machine, dist, r"Risala 1\.2\.0-1\+deb12 is installed, which is newer than 1\.1\.0")


@pytest.mark.parametrize(
    ("age", "why"),
    [
        (timedelta(days=181), "was valid until"),
        (timedelta(days=-2), "the clock of this machine is before the release"),
    ],
)
def test_a_list_out_of_its_time_is_refused(tmp_path, machine, key, age, why):
    held_back = a_release(tmp_path / "held", "1.1.0", key, datetime.now(UTC) - age)
    refused(machine, held_back, why)


def test_a_list_without_a_signature_or_a_file_is_refused(machine, dist):
    (dist / "SHA256SUMS.asc").unlink()
    refused(machine, dist, r"SHA256SUMS\.asc could not be fetched")


def test_a_file_that_never_ends_is_refused(machine, dist):
    """A mirror may send without an end: what is fetched has a most."""
    with (dist / "SHA256SUMS").open("ab") as file:
        file.truncate(1_000_000)
    refused(machine, dist, "SHA256SUMS could not be fetched from .*, or is too large")


@pytest.mark.parametrize(
    ("os_release", "why"),
    [
        ("ID=raspbian\nVERSION_ID=12\n", "has 32 bits"),
        ("ID=alpine\nVERSION_ID=3.23\n", r"no package for alpine 3\.23"),
        ("ID=debian\nVERSION_ID=11\n", "no package for debian 11"),
    ],
)
def test_another_system_is_refused(tmp_path, dist, os_release, why):
    refused(FakeMachine.made(tmp_path / "machine", os_release), dist, why)


def test_a_script_that_was_changed_is_not_run(tmp_path, dist, key):
    """The line that people type has the script's checksum."""
    line = Published("1.1.0", "https://downloads.example.org/risala").one_line(key)
    asks, checks, runs = line.split(" && ")
    assert asks == "curl -fsSO https://downloads.example.org/risala/install.sh"
    assert runs == "sh install.sh"
    place = tmp_path / "typed"
    place.mkdir()
    true = Published("1.1.0", "https://downloads.example.org/risala").script(key)
    for text, code in ((true, 0), (f"{true}rm -rf /\n", 1)):
        (place / "install.sh").write_text(text)
        done = subprocess.run(("sh", "-c", checks), cwd=place, check=False, capture_output=True)
        assert done.returncode == code
    assert hashlib.sha256(true.encode()).hexdigest() in line


def test_half_a_script_does_nothing(machine, dist):
    text = (dist / "install.sh").read_text()
    (dist / "install.sh").write_text(text.rpartition("\nmain ")[0])
    done = machine.install(dist, "--from", str(dist))
    assert (done.returncode, done.stdout, machine.did()) == (0, "", [])


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sqv"), reason="sqv is what Debian 13 has instead of gpgv")
def test_sqv_checks_as_gpgv_does(tmp_path, machine, dist, monkeypatch):
    """Debian 13 has no gpgv."""
    tools = without(tmp_path / "tools", "gpgv", "gpg")
    done = machine.install(dist, "--from", str(dist), "--dry-run", path=tools)
    assert done.returncode == 0, done.stderr
    other = throw_away_key(tmp_path / "others", monkeypatch)
    forged = a_release(tmp_path / "forged", "1.1.0", other)
    (forged / "install.sh").write_text((dist / "install.sh").read_text())
    done = machine.install(forged, "--from", str(forged), path=tools)
    assert "no signature of the release's key" in done.stderr
    assert machine.did() == []


def test_the_script_is_plain_shell():
    subprocess.run(("sh", "-n", str(installer.SCRIPT)), check=True)
    if shutil.which("shellcheck"):
        subprocess.run(("shellcheck", str(installer.SCRIPT)), check=True)


def test_only_plain_addresses_are_written_into_the_script():
    for public, registry in (
        ("http://example.org", ""),
        ("https://example.org/$(id)", ""),
        ("https://example.org/'", ""),
        ("", "Example/risala"),
        ("", "risala"),
    ):
        with pytest.raises(SystemExit, match="is no "):
            installer.published("1.1.0", public, registry)
    assert (
        installer.published("1.1.0", "https://example.org/r/", "").public == "https://example.org/r"
    )


def test_the_compose_file_of_a_release_pulls_its_image():
    text = Published("1.1.0", "", "registry.example.org/risala").compose()
    assert "    image: registry.example.org/risala:1.1.0\n" in text
    assert "deploy/" not in text
    assert "    image: localhost/risala:1.1.0\n" in Published("1.1.0").compose()


def test_the_marks_of_packages_are_those_that_the_script_asks_for():
    text = installer.SCRIPT.read_text("utf-8")
    assert tuple(re.findall(r"mark=(\S+) suite=\w+ ;;", text)) == MARKS
