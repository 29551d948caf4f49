"""What is checked and changed in the source, up to the release's commit."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from deploy.release import changelog, installer
from deploy.release.version import current, numbers, planned, set_version
from deploy.release.workshop import Workshop


def tag_of(version: str) -> str:
    return f"v{version}"


def promises_of(top: Path, version: str) -> Path:
    """The table of what a minor version promises: its patches promise no less."""
    major, minor, _ = numbers(version)
    return top / f"tests/promises/{major}.{minor}.json"


def is_prepared(shop: Workshop, version: str) -> bool:
    """Whether the release's commit is there: a run before this one made it."""
    is_told = bool(changelog.notes_of(shop.top, version))
    return current(shop.top) == version and is_told


def check(shop: Workshop, version: str) -> None:
    """Refuse a release that could not be what it says.

    Raises:
        SystemExit: with the reason in a sentence.
    """
    wanted = numbers(version)
    check_committed(shop)
    tag, head = tag_of(version), shop.git("rev-parse", "HEAD")
    if shop.git("tag", "--list", tag):
        if shop.git("rev-parse", f"{tag}^{{commit}}") != head:
            raise SystemExit(f"{tag} is released: it is another commit. Take the next version.")
        return
    if wanted < planned(current(shop.top)):
        raise SystemExit(f"{version} is older than {current(shop.top)}, which the source has.")
    newest = max((numbers(each[1:]) for each in _tags(shop)), default=(0, 0, 0))
    if wanted <= newest:
        said = ".".join(map(str, newest))
        raise SystemExit(f"{version} is older than {said}, which is released.")
    if not is_prepared(shop, version) and not changelog.has_news(shop.top, version):
        raise SystemExit(f"changes/ is empty: there is nothing to say of {version}.")


def check_committed(shop: Workshop) -> None:
    """
    Raises:
        SystemExit: files were changed, and no commit has that.
    """
    changed = shop.git("status", "--porcelain")
    if changed:
        raise SystemExit(f"These files are not committed:\n{changed}")


def _tags(shop: Workshop) -> list[str]:
    return [each for each in shop.git("tag", "--list", "v*.*.*").split() if each[1:2].isdigit()]


def prepare(shop: Workshop, version: str, line: str = "") -> None:
    """Make the release's commit. What fails leaves the source as it was.

    Args:
        shop: the source.
        version: what it becomes.
        line: how people install it, for the first page; empty: as the page says.

    Raises:
        SystemExit: something failed.
    """
    with commit(shop, f"Risala {version}"):
        set_version(shop.top, version)
        if line:
            installer.tell(shop.top, line)
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        changelog.fold(shop.top, version, day, shop.run)
        shop.run(*shop.make, "generated")
        store_promises(shop, version)


@contextlib.contextmanager
def commit(shop: Workshop, subject: str) -> Iterator[None]:
    """Commit what is changed within. What fails leaves the source as it was."""
    try:
        yield
        shop.git("add", "--all")
        shop.git("commit", "--quiet", "--message", subject)
    except BaseException:
        # Nothing was uncommitted before, so all that is there is this run's.
        shop.git("reset", "--quiet", "--hard", "HEAD")
        shop.git("clean", "--quiet", "--force", "-d")
        raise


def store_promises(shop: Workshop, version: str) -> None:
    """Write down what the version promises, from 1.0 on.

    Raises:
        SystemExit: it takes away what an earlier 1.x promised.
    """
    if numbers(version)[0] < 1:
        return
    target = promises_of(shop.top, version)
    target.parent.mkdir(parents=True, exist_ok=True)
    shop.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(target.parent))
    shop.run(sys.executable, "-m", "proofs.promises", str(target))
