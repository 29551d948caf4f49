"""A release of small files, signed by a throw-away key, and a machine that installs from it.

The machine is a folder: programs that would change it stand in for themselves, and write down what
they were asked. ``install.sh`` is the true one, but for the folders that it looks into.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deploy.release import sign
from deploy.release.installer import Published
from deploy.release.signing import ReleaseKey, release_key

needs_gpg = pytest.mark.skipif(
    not (shutil.which("gpg") and shutil.which("gpgv")),
    reason="gpg and gpgv sign and check releases, and are not here",
)
MARKS = ("deb12", "deb13", "ubuntu24.04", "ubuntu26.04")
DEBIAN_12 = 'ID=debian\nVERSION_ID="12"\n'
STAND_IN = '#!/bin/sh\necho "$(basename "$0") $*" >>"$MACHINE/did"\n'
PROGRAMS = {
    "sudo": 'echo sudo >>"$MACHINE/did"; exec "$@"',
    "id": "echo 1000",
    "dpkg": """case "$1" in
  --print-architecture) echo amd64 ;;
  *) exec /usr/bin/dpkg "$@" ;;
esac""",
    "dpkg-query": 'test ! -e "$MACHINE/version" || echo "installed $(cat "$MACHINE/version")"',
    "apt-get": f"""{STAND_IN}case " $* " in
  *" install "*)
    for file; do :; done
    file=${{file##*/risala_}}
    echo "${{file%_*}}" >"$MACHINE/version" ;;
  *" remove "*|*" purge "*) rm -f "$MACHINE/version" ;;
esac""",
    "risala": f"""{STAND_IN}case "$1 $2" in
  "org show") test "$4" = "My shop" || test ! "$4" ;; # without a name it shows the only one
  "init "*) for file; do :; done; : >"$file"; echo http://127.0.0.1:8090/first-run/word ;;
esac""",
    "runuser": 'shift 3; exec "$@"',
    # Volumes are folders. What asks on a page gets Ctrl-C, as the whole terminal does.
    "podman": f"""{STAND_IN}volumes="$MACHINE/volumes"
case " $* " in
  " --version ") echo "podman version $(cat "$MACHINE/podman" 2>/dev/null || echo 5.4.2)" ;;
  *" --all "*localhost*) exit 125 ;; # no names beside it, as the real one
  " volume exists "*) test -e "$volumes/$3" ;;
  " volume inspect "*) for name; do :; done; test -e "$volumes/$name" && echo "$volumes/$name" ;;
  " volume rm "*) rm -rf "$volumes" ;;
  " container exists "*) test -e "$MACHINE/runs" ;;
  " exec "*) shift 2; exec "$@" ;;
  *" org show "*) while [ "$1" != org ]; do shift; done; exec risala "$@" ;;
  " images "*) echo localhost/risala:1.0.0; echo localhost/risala:1.1.0 ;;
  " run "*)
    mkdir -p "$volumes/risala-settings" "$volumes/risala-data"
    : >>"$volumes/risala-settings/risala.toml"
    case " $* " in *" --web "*) kill -INT "$PPID" ;; esac
    case " $* " in *" init "*) ;; *) exit 0 ;; esac
    test ! -e "$MACHINE/unanswered" || exit 1
    : >"$volumes/risala-data/risala.db"
    printf '[mail]\\nport = 587\\n[http]\\nport = 8091\\n' >"$volumes/risala-settings/risala.toml"
    echo http://127.0.0.1:8090/first-run/word ;;
esac""",
    "uname": 'case "$1" in -m) echo x86_64 ;; *) echo machine ;; esac',
    "systemctl": f"""{STAND_IN}case "$1" in
  restart) touch "$MACHINE/runs" ;;
  stop) rm -f "$MACHINE/runs" ;;
esac""",
    "dnf": f'{STAND_IN}mv "$MACHINE/kept" "$MACHINE/bin/podman"',
    "userdel": f'{STAND_IN}test ! -e "$MACHINE/busy"',
}
MOVED = ("/etc/", "/usr/share/keyrings/", "/run/systemd/", "/var/lib/risala", "/var/backups/")
"""What the script names of a machine, and the test's machine has below its folder."""


def throw_away_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> ReleaseKey:
    """A new key in a keyring of its own, which gpg uses from then on."""
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    name = f"Release of {home.name}"
    made = ("gpg", "--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign")
    subprocess.run((*made, "never"), check=True, capture_output=True)
    listed = subprocess.run(
        ("gpg", "--list-keys", "--with-colons"), check=True, capture_output=True, text=True
    ).stdout
    return release_key(next(line.split(":")[9] for line in listed.splitlines() if "fpr" in line))


def a_release(
    dist: Path, version: str, key: ReleaseKey, moment: datetime | None = None, public: str = ""
) -> Path:
    """The files of a version, signed; packages and image are a line of text."""
    dist.mkdir(exist_ok=True)
    names = [f"risala_{version}-1+{mark}_amd64.deb" for mark in MARKS]
    names.append(f"risala_{version}_amd64.container.tar.xz")
    for name in names:
        (dist / name).write_text(f"{name}\n")
    files = [*(dist / name for name in names), *sign.begun(dist, Published(version, public), key)]
    path = sign.told(dist, version, files, moment or datetime.now(UTC))
    key.detached(path)
    return dist


@dataclass
class FakeMachine:
    """A machine below a folder."""

    root: Path

    @classmethod
    def made(cls, root: Path, os_release: str = DEBIAN_12) -> FakeMachine:
        for name in (*MOVED, "/etc/apt/sources.list.d", "/run/systemd/system", "/bin"):
            (root / name[1:]).mkdir(parents=True, exist_ok=True)
        (root / "etc/os-release").write_text(os_release)
        (root / "etc/risala").mkdir()
        for name, text in PROGRAMS.items():
            path = root / "bin" / name
            path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        return cls(root)

    def install(
        self, dist: Path, *words: str, typed: str = "", path: str = "/usr/bin:/bin"
    ) -> subprocess.CompletedProcess[str]:
        """Run the script of a release; one that is a mirror's own lies there too."""
        text = (dist / "install.sh").read_text("utf-8")
        for name in MOVED:
            text = text.replace(name, f"{self.root}{name}")
        script = self.root / "install.sh"
        script.write_text(text, "utf-8")
        return subprocess.run(
            ("sh", str(script), *words),
            check=False,
            capture_output=True,
            text=True,
            input=typed,
            env={
                "PATH": f"{self.root / 'bin'}:{path}",
                "MACHINE": str(self.root),
                "HOME": str(self.root),
                "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            },
        )

    def did(self) -> list[str]:
        """What was asked of the programs that change a machine, and of root."""
        path = self.root / "did"
        return path.read_text().splitlines() if path.exists() else []

    def has(self, name: str) -> bool:
        return (self.root / name).exists()


def apt_of(root: Path, apt: Path, key: ReleaseKey, codename: str) -> Sequence[str]:
    """apt-get with a state of its own, which knows only a folder and a key."""
    for name in ("lists/partial", "cache/archives/partial", "etc"):
        (root / name).mkdir(parents=True, exist_ok=True)
    keyring = root / "key.gpg"
    keyring.write_bytes(key.public())
    source = f"deb [signed-by={keyring} arch=amd64] file:{apt} {codename} main\n"
    (root / "etc/sources.list").write_text(source)
    (root / "status").touch()
    told = {
        "Dir::Etc::sourcelist": root / "etc/sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": root / "lists",
        "Dir::State::status": root / "status",
        "Dir::Cache": root / "cache",
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "APT::Sandbox::User": "",
        "APT::Update::Error-Mode": "any",
        "Acquire::Check-Valid-Until": "true",  # containers may have switched both off
        "Acquire::Check-Date": "true",
    }
    return (
        "apt-get",
        "-q",
        *(word for each in told.items() for word in ("-o", f"{each[0]}={each[1]}")),
    )
