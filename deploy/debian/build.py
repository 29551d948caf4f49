"""Build the Debian package for this machine's Debian and processor (`make deb`).

``--without-environment`` leaves the Python environment out, for a look at everything else: the
package is then built in seconds and does not run.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.debian import control, environment, foreign
from deploy.debian.environment import HOME, run

TOP: Final = Path(__file__).parents[2]
HERE: Final = TOP / "deploy/debian"
DOC: Final = Path("usr/share/doc/risala")
UNITS: Final = Path("usr/lib/systemd/system")
COMPLETIONS: Final = {
    "bash": "usr/share/bash-completion/completions/risala",
    "zsh": "usr/share/zsh/vendor-completions/_risala",
    "fish": "usr/share/fish/vendor_completions.d/risala.fish",
}
MODE: Final = "u=rwX,go=rX"


class Python:
    """A Python that has Risala: ``path`` is where."""

    def __init__(self, command: list[str], path: str) -> None:
        self._command = command
        self._env = {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join((str(TOP), path)),
            "RISALA_CONFIG": os.devnull,  # no settings of the machine that builds
        }

    def module(self, name: str, *arguments: str) -> str:
        return run(*self._command, "-m", name, *arguments, env=self._env)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=TOP / "dist", help="where the package goes")
    parser.add_argument("--build", type=Path, default=TOP / "build/deb", help="a scratch folder")
    parser.add_argument("--revision", default="1", help="of the package, not of Risala")
    parser.add_argument("--without-environment", action="store_true")
    parser.add_argument("--wheels", type=Path, help="take wheels and pip from here, by no network")
    also = "one more processor, by its wheels"
    parser.add_argument("--also", choices=sorted(foreign.MACHINES), help=also)
    given = parser.parse_args()
    os.umask(0o022)
    # The directory may have belonged to a build that was cut off.
    shutil.rmtree(given.build, ignore_errors=True)
    for made in packages(given.build.absolute(), given):
        print(f"{made}: {made.stat().st_size / 1_000_000:.1f} MB")


def packages(build: Path, given: argparse.Namespace) -> list[Path]:
    """The built packages' files: this machine's, and one of another processor if it is asked."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(source_date()))
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    upstream = re.findall(r'__version__ = "(.+)"', (TOP / "src/risala/__init__.py").read_text())[0]
    version = control.debian_version(upstream, given.revision)
    root, pip = build / "root", None
    (root / "DEBIAN").mkdir(parents=True)
    if given.without_environment:
        python, libraries = Python([sys.executable], os.environ.get("PYTHONPATH", "")), ""
        (root / HOME / "bin").mkdir(parents=True)
    else:
        pip = environment.Pip(build, sys.executable, given.wheels)
        site = environment.made(TOP, build, root, sys.executable, pip)
        libraries = environment.libraries(build, root / HOME)
        # -S: this machine's own packages are not the package's.
        python = Python([sys.executable, "-S"], str(site))
    command(root)
    units(root)
    written_by_risala(root, python, epoch, upstream)
    documents(root, version, upstream, epoch)
    needed = control.depends(f"python3.{sys.version_info.minor}", libraries)
    roots = {run("dpkg", "--print-architecture").strip(): root}
    if given.also and pip:
        native = foreign.Native(root, sys.executable)
        roots[given.also] = foreign.made(TOP, build, native, given.also, pip)
    made = []
    for architecture, each in roots.items():
        for_dpkg(each, version, architecture, needed)
        made.append(packed(each, given.out / f"risala_{version}_{architecture}.deb", epoch))
    return made


def source_date() -> int:
    """The last commit's; of an unpacked source package that of its file of settings."""
    if (TOP / ".git").exists():
        return int(run("git", "-C", str(TOP), "log", "-1", "--format=%ct"))
    return int((TOP / "pyproject.toml").stat().st_mtime)


def command(root: Path) -> None:
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/risala").symlink_to("../lib/risala/bin/risala")


def units(root: Path) -> None:
    """The units of a source installation, with the package's paths."""
    (root / UNITS).mkdir(parents=True)
    for unit in sorted((TOP / "deploy/systemd").iterdir()):
        text = unit.read_text().replace("/opt/risala/bin/risala", "/usr/bin/risala")
        (root / UNITS / unit.name).write_text(text)
    for kind in ("sysusers.d", "tmpfiles.d"):
        place = root / "usr/lib" / kind
        place.mkdir(parents=True)
        shutil.copyfile(TOP / "deploy" / kind / "risala.conf", place / "risala.conf")


def written_by_risala(root: Path, python: Python, epoch: int, upstream: str) -> None:
    """What the installed Risala writes of itself: man pages, completions, settings, licences."""
    day = f"{datetime.fromtimestamp(epoch, UTC):%Y-%m-%d}"
    pages, doc = root / "usr/share/man/man1", root / DOC
    python.module("deploy.debian.manpages", str(pages), day, upstream)
    for page in sorted(pages.iterdir()):
        squeezed(page)
    for shell, name in COMPLETIONS.items():
        place = root / name
        place.parent.mkdir(parents=True)
        place.write_text(python.module("risala", "completion", shell))
    (doc / "examples").mkdir(parents=True)
    python.module("risala", "init", str(doc / "examples/risala.toml"))
    python.module("deploy.debian.copyright", str(doc / "copyright"))


def documents(root: Path, version: str, upstream: str, epoch: int) -> None:
    doc = root / DOC
    (doc / "changelog.Debian").write_text(control.changelog(version, upstream, epoch))
    shutil.copyfile(TOP / "CHANGELOG.md", doc / "changelog")
    shutil.copyfile(TOP / "README.md", doc / "README.md")
    for name in ("changelog.Debian", "changelog", "README.md"):
        squeezed(doc / name)
    shutil.copyfile(HERE / "README.Debian", doc / "README.Debian")
    for part in ("prometheus", "grafana"):
        shutil.copytree(TOP / "deploy" / part, doc / "examples" / part)
    overrides = root / "usr/share/lintian/overrides/risala"
    overrides.parent.mkdir(parents=True)
    shutil.copyfile(HERE / "lintian-overrides", overrides)


def squeezed(path: Path) -> None:
    """Debian's policy wants these compressed as far as gzip can; without a time in them."""
    packed = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
    path.with_name(f"{path.name}.gz").write_bytes(packed)
    path.unlink()


def for_dpkg(root: Path, version: str, architecture: str, needed: str) -> None:
    place = root / "DEBIAN"
    place.mkdir(exist_ok=True)
    (place / "md5sums").write_text(control.checksums(root))
    (place / "control").write_text(control.control(root, version, architecture, needed))
    for script in ("postinst", "prerm", "postrm"):
        shutil.copyfile(HERE / script, place / script)


def packed(root: Path, deb: Path, epoch: int) -> Path:
    """The package, the same for the same sources: dpkg-deb sorts, and no file is newer than it."""
    run("chmod", "-R", MODE, str(root))
    for script in ("postinst", "prerm", "postrm"):
        (root / "DEBIAN" / script).chmod(0o755)
    for path in sorted(root.rglob("*"), reverse=True):
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    os.utime(root, (epoch, epoch))
    deb.parent.mkdir(parents=True, exist_ok=True)
    unfinished = deb.with_suffix(".unfinished")  # half a package has no package's name
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(unfinished))
    unfinished.rename(deb)
    return deb


if __name__ == "__main__":
    main()
