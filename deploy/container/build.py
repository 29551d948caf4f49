"""Build the image of the wheel and the bill of materials in ``dist/`` (`make container`).

Podman or docker does it; podman needs no root. The image is left with the tool, as
``localhost/risala``, and in a file that ``podman load`` and ``docker load`` take.
What follows ``--`` goes to the tool.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

TOP: Final = Path(__file__).parents[2]
TOOLS: Final = ("podman", "docker")
"""The first of them that is installed is used. Debian has both; podman needs no root."""
NAME: Final = "localhost/risala"
LATEST: Final = f"{NAME}:latest"
BASE: Final = "docker.io/library/debian:bookworm-slim"
IGNORED: Final = ("--ignorefile", "deploy/container/Containerfile.dockerignore")
"""Docker finds this one by its name."""
FORMAT: Final = ("--format", "docker")
"""An image of the other format (OCI) has no health check: podman leaves it out."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", default=BASE, help="an image of Debian 12 or 13 to start from")
    parser.add_argument("--architecture", default="", help="arm64 or amd64, by emulation: another")
    parser.add_argument("--tool", choices=TOOLS, default=None)
    parser.add_argument("--out", type=Path, default=TOP / "dist", help="where the file goes")
    parser.add_argument("options", nargs="*", help="further options of the tool's, after --")
    given = parser.parse_args(words)
    tool = given.tool or found()
    version = re.findall(r'__version__ = "(.+)"', (TOP / "src/risala/__init__.py").read_text())[0]
    image = f"{NAME}:{version}"
    for needed in (f"risala-{version}-py3-none-any.whl", "risala.cdx.json"):
        if not (TOP / "dist" / needed).is_file():
            raise SystemExit(f"There is no dist/{needed}: make dist sbom")
    architecture = given.architecture or run(("dpkg", "--print-architecture")).strip()
    run(built(tool, version, given.base, source_date(), architecture, given.options))
    run((tool, "tag", image, LATEST))
    made = saved(tool, image, given.out / f"risala_{version}_{architecture}.container.tar.xz")
    print(f"{image}, and {made}: {made.stat().st_size / 1_000_000:.1f} MB")


def found() -> str:
    """The tool of this machine.

    Raises:
        SystemExit: neither is installed.
    """
    for tool in TOOLS:
        if shutil.which(tool):
            return tool
    raise SystemExit("There is no podman or docker here: sudo apt-get install podman")


def built(
    tool: str, version: str, base: str, epoch: int, architecture: str, options: Sequence[str]
) -> tuple[str, ...]:
    """The command that builds."""
    # The commit's date for all files: when it was built says nothing.
    own = () if tool == "docker" else (*FORMAT, *IGNORED, "--timestamp", str(epoch))
    return (
        *(tool, "build", *own, "--tag", f"{NAME}:{version}"),
        *("--platform", f"linux/{architecture}"),
        *("--build-arg", f"VERSION={version}", "--build-arg", f"BASE={base}"),
        *("--file", "deploy/container/Containerfile"),
        *options,
        ".",
    )


def saved(tool: str, image: str, file: Path) -> Path:
    """The image in a file, squeezed by xz: Debian 12's podman cannot load what gzip packed."""
    bare = file.with_suffix("")
    bare.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    run((tool, "save", "--output", str(bare), image, LATEST))
    run(("xz", "--force", "--threads=0", "-3", str(bare)))
    return file


def source_date() -> int:
    """The last commit's; of an unpacked source package that of its file of settings."""
    if (TOP / ".git").exists():
        return int(run(("git", "-C", str(TOP), "log", "-1", "--format=%ct")))
    return int((TOP / "pyproject.toml").stat().st_mtime)


def run(command: Sequence[str]) -> str:
    """What dpkg or git says; what other commands print, people see. One that fails ends the build.

    Raises:
        SystemExit: it failed.
    """
    is_asked = command[0] in ("dpkg", "git")
    done = subprocess.run(
        command, cwd=TOP, check=False, stdout=subprocess.PIPE if is_asked else None, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} … failed: exit code {done.returncode}")
    return done.stdout or ""


if __name__ == "__main__":
    main()
