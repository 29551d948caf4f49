"""The Debian package for each system and processor, built in roots (``make packages``).

A root is made by debootstrap from the system's own archive, checked by that archive's keys, and
kept in ``build/roots``. What is built in it sees no network: wheels are fetched beforehand, by the
hashes of the lock. The package for the other processor is made beside this one's, of its wheels.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.debian import foreign
from deploy.debian.environment import MORE_LOCKS
from deploy.release.systems import ARCHITECTURES, SYSTEMS, System

TOP: Final = Path(__file__).parents[2]
ROOTS: Final = TOP / "build/roots"
WHEELS: Final = TOP / "build/wheels"
INCLUDED: Final = "python3,dpkg-dev,xz-utils"
"""dpkg-dev says which packages the native modules' libraries are in."""
SCRIPT: Final = "gutsy"
"""How debootstrap installs an Ubuntu, whose newest names an older Debian does not know."""
LOCKS: Final = ("requirements.lock", *MORE_LOCKS)
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make packages", description=__doc__)
    names = [each.codename for each in SYSTEMS]
    parser.add_argument("--only", action="append", default=[], choices=names)
    parser.add_argument("--native", action="store_true", help="for this processor alone")
    parser.add_argument("--out", type=Path, default=TOP / "dist", help="where packages go")
    parser.add_argument("--ubuntu-keyring", help="the keys of Ubuntu's archive, for other places")
    given = parser.parse_args(words)
    check()
    for system in SYSTEMS:
        if not given.only or system.codename in given.only:
            root = made_root(system, given.ubuntu_keyring)
            for package in built(system, root, given.out, native=given.native):
                print(f"{package}: {package.stat().st_size / 1_000_000:.1f} MB", flush=True)


def check() -> None:
    """
    Raises:
        SystemExit: roots cannot be made here.
    """
    if os.geteuid() != 0:
        raise SystemExit("A root is root's: sudo make packages")
    if not shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:{PATH}"):
        raise SystemExit("There is no debootstrap here: sudo apt-get install debootstrap")


def made_root(system: System, ubuntu_keyring: str | None = None) -> Path:
    """The folder of a system, made once; half a root has another name.

    Raises:
        SystemExit: the archive's keys are not here, or it could not be made.
    """
    root = ROOTS / system.codename
    if root.is_dir():
        return root
    is_ubuntu = "ubuntu" in system.mark
    keyring = (is_ubuntu and ubuntu_keyring) or system.keyring
    if not Path(keyring).is_file():
        raise SystemExit(
            f"The keys of the archive of {system.codename} are not here: {keyring}. They are in"
            " Ubuntu's package ubuntu-keyring; --ubuntu-keyring FILE names them elsewhere."
        )
    unfinished = root.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    options = ("--variant=minbase", f"--keyring={keyring}", f"--include={INCLUDED}")
    where = (system.codename, str(unfinished), system.archive)
    script = (SCRIPT,) if is_ubuntu else ()
    _run("debootstrap", *options, f"--components={system.components}", *where, *script)
    unfinished.rename(root)
    return root


def built(system: System, root: Path, out: Path, *, native: bool) -> list[Path]:
    """A system's packages, in ``out``."""
    here = _run("dpkg", "--print-architecture").strip()
    others = [] if native else [each for each in ARCHITECTURES if each != here]
    for architecture in (here, *others):
        fetch_wheels(system, architecture)
    place = root / "build"
    shutil.rmtree(place, ignore_errors=True)
    (place / "source").mkdir(parents=True)
    commit = "HEAD"
    archive = subprocess.run(
        ("git", "archive", commit), cwd=TOP, check=True, stdout=subprocess.PIPE
    ).stdout
    subprocess.run(("tar", "-x", "-C", str(place / "source")), input=archive, check=True)
    shutil.copytree(_wheels(system), place / "wheels", copy_function=os.link)
    epoch = _run("git", "log", "-1", "--format=%ct", commit).strip()
    also = "".join(f" --also {each}" for each in others)
    _in_root(
        root,
        "cd /build/source && PYTHONPATH=. python3 -B -m deploy.debian.build"
        f" --wheels /build/wheels --build /build/deb --out /build/out{also}",
        {name: os.environ[name] for name in ("DEBFULLNAME", "DEBEMAIL") if name in os.environ}
        | {"SOURCE_DATE_EPOCH": epoch},
    )
    out.mkdir(parents=True, exist_ok=True)
    made = [Path(shutil.copy(each, out)) for each in sorted((place / "out").glob("*.deb"))]
    shutil.rmtree(place)
    return made


def _wheels(system: System) -> Path:
    return WHEELS / f"3.{system.minor}"


def fetch_wheels(system: System, architecture: str) -> None:
    """Fetch what the locks name, for another Python and processor; by their hashes."""
    place = _wheels(system)
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "pip").is_dir():
        import pip

        # Debian and Ubuntu have pip in packages of their own; one that is a folder runs anywhere.
        shutil.copytree(Path(pip.__file__).parent, place / "pip")
    tags = foreign.tags(foreign.MACHINES[architecture], system.minor)
    for lock in LOCKS:
        asked = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", lock)
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(place))
        _run(*command, *tags, *asked)


def _in_root(root: Path, script: str, env: dict[str, str]) -> None:
    # What is mounted goes with the process, whatever becomes of it; there is no network inside.
    alone = ("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child")
    told = " ".join(shlex.quote(f"{name}={value}") for name, value in env.items())
    quoted = shlex.quote(str(root))
    inside = f"env -i PATH={PATH} HOME=/root LC_ALL=C.UTF-8 {told} sh -ec {shlex.quote(script)}"
    _run(*alone, "sh", "-ec", f"mount -t proc proc {quoted}/proc; exec chroot {quoted} {inside}")


def _run(*command: str) -> str:
    """What a command prints.

    Raises:
        SystemExit: it failed; with the end of what it said.
    """
    done = subprocess.run(
        command,
        cwd=TOP,
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{PATH}"},
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
