"""The package's own Python environment, at its place below the package's root."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

HOME: Final = Path("usr/lib/risala")
LOCAL: Final = "/usr/local/lib/risala/plugins"
"""Plugins of this machine, which no upgrade of the package touches. They come last: a package of
Risala's own is never replaced by one from there."""
MORE_LOCKS: Final = ("requirements-standby.lock", "requirements-pdf.lock")
"""What the package has beside its lock: the standby's PostgreSQL driver, and what writes PDF."""
WITH_WHEELS: Final = ("x86_64", "aarch64")
"""Machines for which there are wheels of these: libpq is in them, and what shapes letters."""
COMMAND: Final = """\
#!/{home}/bin/python -P
import sys

from risala.__main__ import main

sys.exit(main())
"""
_REMOVED: Final = re.compile(r"^(\.\./\.\./|[^,]*/direct_url\.json,|[^,]*/__pycache__/).*\n", re.M)
"""Lines of a RECORD about files that the package leaves out: commands of other packages too."""


class Pip:
    """What installs by hashes: from the registry, or from a folder of wheels alone.

    Args:
        build: a scratch folder.
        python: the Python that it runs by.
        wheels: a folder with wheels and an unpacked pip, for where there is no network; None: the
            registry, by a pip of this Python's own.
    """

    def __init__(self, build: Path, python: str, wheels: Path | None) -> None:
        if wheels is None:
            run(python, "-m", "venv", str(build / "tools"))
            self._pip, self._source = (str(build / "tools/bin/python"), "-m", "pip"), ()
        else:
            self._pip = (python, str(wheels / "pip"))
            self._source = ("--no-index", "--find-links", str(wheels))

    def lock(self, top: Path, name: str, *where: str) -> None:
        """Install what a lock names; it is whole, so that nothing else is looked for."""
        by_hash = ("--require-hashes", "--only-binary", ":all:", "--no-deps")
        self._install(where, *self._source, *by_hash, "-r", str(top / name))

    def wheel(self, wheel: Path, *where: str) -> None:
        self._install(where, "--no-deps", "--no-index", str(wheel))

    def _install(self, where: tuple[str, ...], *words: str) -> None:
        options = ("--quiet", "--no-compile", "--no-warn-script-location", "--no-cache-dir")
        before = where if where[0] == "--python" else ()
        after = where if not before else ()
        run(*self._pip, *before, "install", *options, *after, *words)


def made(top: Path, build: Path, root: Path, python: str, pip: Pip) -> Path:
    """Everything of the lock, by its hash, and Risala. Returns the folder of its packages.

    Paths are those of the installed package: no file has a path of this build.
    """
    home = root / HOME
    run(python, "-m", "venv", "--without-pip", str(home))
    here = ("--python", str(home / "bin/python"))
    pip.lock(top, "requirements.lock", *here)
    if platform.machine() in WITH_WHEELS:
        for name in MORE_LOCKS:
            pip.lock(top, name, *here)
    hatch = (str(home / "bin/python"), "-m", "hatchling", "build", "-t", "wheel")
    run(*hatch, "-d", str(build / "wheel"), cwd=top)
    pip.wheel(built_wheel(build), *here)
    name = Path(os.path.realpath(python)).name
    _settle(home, name)
    compiled(python, root, home / "lib")
    _nothing_of(str(build), home)
    return site_of(home)


def built_wheel(build: Path) -> Path:
    """Risala's own wheel, which the first environment of a build leaves."""
    (wheel,) = (build / "wheel").glob("*.whl")
    return wheel


def site_of(home: Path) -> Path:
    """The folder of an environment's packages."""
    (site,) = home.glob("lib/python3*/site-packages")
    return site


def _settle(home: Path, python: str) -> None:
    """Leave what runs, as it is at its place: modules, the Python, the one command."""
    for name in ("bin", "include", "lib64", "share"):
        path = home / name
        if path.is_symlink():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
    (home / "bin").mkdir()
    for link, target in (
        (python, f"../../../bin/{python}"),
        ("python3", python),
        ("python", python),
    ):
        (home / "bin" / link).symlink_to(target)
    command = home / "bin/risala"
    command.write_text(COMMAND.format(home=HOME))
    command.chmod(0o755)
    (home / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python[6:]}\n"
    )
    cleaned(site_of(home))


def cleaned(site: Path) -> None:
    """Take away what is of the build, and let plugins of the machine be found."""
    (site / "risala-local.pth").write_text(f"{LOCAL}\n")
    for path in site.rglob("*"):
        if path.is_file():
            path.chmod(0o644)  # some wheels mark modules as executable
    for pycache in list(site.rglob("__pycache__")):
        shutil.rmtree(pycache)
    for record in site.glob("*.dist-info/RECORD"):
        origin = record.with_name("direct_url.json")  # where the wheel lay at the build
        origin.unlink(missing_ok=True)
        record.write_text(_REMOVED.sub("", record.read_text("utf-8")), "utf-8")


def compiled(python: str, root: Path, lib: Path) -> None:
    """Compile all modules, so that neither an upgrade nor the first start has to.

    The service may not write there. The modules are not compared with their sources' dates, which
    dpkg sets; the package depends on this very Python, whose minor version all of them are for.
    """
    places = ("-s", str(root), "-p", "/")  # what a traceback names
    run(
        *(python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *(*places, str(lib)),
        env={**os.environ, "PYTHONHASHSEED": "0"},  # the order of sets: the same bytes each time
    )


def _nothing_of(build: str, home: Path) -> None:
    sought = build.encode()
    found = [path for path in home.rglob("*") if path.is_file() and sought in path.read_bytes()]
    if found:
        raise SystemExit(f"These files have a path of this build in them: {found}")


def libraries(build: Path, home: Path) -> str:
    """The packages of the libraries that native modules are linked with."""
    modules = sorted(str(path) for path in home.rglob("*.so*") if path.is_file())
    place = build / "shlibs"
    (place / "debian").mkdir(parents=True)
    (place / "debian/control").write_text("Source: risala\n\nPackage: risala\nArchitecture: any\n")
    # Some wheels bring a library along: it is no package, and is found by its path.
    told = run("dpkg-shlibdeps", "-O", "--warnings=0", "--ignore-missing-info", *modules, cwd=place)
    return told.strip().partition("=")[2]


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints. One that fails ends the build, with what it said."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, check=False, stdout=subprocess.PIPE, text=True
        )
    except FileNotFoundError as error:
        raise SystemExit(
            f"There is no {error.filename} here: sudo apt install dpkg-dev python3-venv"
        ) from error
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:6])} … failed: exit code {done.returncode}")
    return done.stdout
