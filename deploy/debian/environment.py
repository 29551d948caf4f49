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
WITH_DRIVER: Final = ("x86_64", "aarch64")
"""Machines for which there is a wheel of the standby's PostgreSQL driver, with libpq in it."""
COMMAND: Final = """\
#!/{home}/bin/python -P
import sys

from risala.__main__ import main

sys.exit(main())
"""
_REMOVED: Final = re.compile(
    r"^(\.\./\.\./\.\./|[^,]*/direct_url\.json,|[^,]*/__pycache__/).*\n", re.M
)
"""Lines of a RECORD about files that the package leaves out: commands of other packages too."""


def made(top: Path, build: Path, root: Path, python: str) -> Path:
    """Everything of the lock, by its hash, and Risala. Returns the folder of its packages.

    Paths are those of the installed package: no file has a path of this build.
    """
    home = root / HOME
    run(python, "-m", "venv", str(build / "tools"))
    run(python, "-m", "venv", "--without-pip", str(home))
    pip = (str(build / "tools/bin/python"), "-m", "pip", "--python", str(home / "bin/python"))
    install = (*pip, "install", "--quiet", "--no-compile", "--no-warn-script-location")
    lock = str(top / "requirements.lock")
    by_hash = (*install, "--require-hashes", "--only-binary", ":all:")
    run(*by_hash, "-r", lock)
    if platform.machine() in WITH_DRIVER:
        run(*by_hash, "--no-deps", "-r", str(top / "requirements-standby.lock"))
    hatch = (str(home / "bin/python"), "-m", "hatchling", "build", "-t", "wheel")
    run(*hatch, "-d", str(build / "wheel"), cwd=top)
    (wheel,) = (build / "wheel").glob("*.whl")
    run(*install, "--no-deps", "--no-index", str(wheel))
    name = Path(os.path.realpath(python)).name
    _settle(home, name)
    compiled(python, root, home / "lib")
    _nothing_of(str(build), home)
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
    (site,) = home.glob("lib/python3*/site-packages")
    (site / "risala-local.pth").write_text(f"{LOCAL}\n")
    for path in site.rglob("*"):
        if path.is_file():
            path.chmod(0o644)  # some wheels mark modules as executable
    for pycache in list(home.rglob("__pycache__")):
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
