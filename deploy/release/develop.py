"""After a release: ``make develop VERSION=1.2.0`` (docs/how-to/make-a-release.md says when).

From its commit on the source says that it becomes that version and is not it yet: ``1.2.0.dev0``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.release.prepare import check_committed, commit
from deploy.release.version import DEVELOPED, current, numbers, planned, set_version
from deploy.release.workshop import Workshop

TOP: Final = Path(__file__).parents[2]


def begin(shop: Workshop, version: str) -> None:
    """Make the commit from which on the source becomes a version.

    Raises:
        SystemExit: the source has that version or a later one; or something failed, and the source
            is as it was.
    """
    check_committed(shop)
    now = current(shop.top)
    if numbers(version) <= planned(now):
        raise SystemExit(f"{version} does not come after {now}, which the source has.")
    with commit(shop, f"Here begins what becomes {version}"):
        set_version(shop.top, f"{version}{DEVELOPED}")
        shop.run(*shop.make, "generated")


def main(words: Sequence[str] | None = None, shop: Workshop | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make develop", description=__doc__)
    parser.add_argument("version", help="the next release, such as 1.2.0")
    given = parser.parse_args(words)
    begin(shop or Workshop(TOP), given.version)
    print(f"The source is {given.version}{DEVELOPED}, in a commit of its own.")


if __name__ == "__main__":
    main()
