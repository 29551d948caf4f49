"""How many words the documents have: ``python -m proofs.words`` lists the pages, longest first.

Two kinds are capped, in English: what people read from beginning to end (guides: tutorials, quick
starts, how-tos, discussions) and the reference that is written by hand. Words are what ``wc -w``
counts, blocks and tables included. Pages that a command writes, and appendices with evidence for
auditors, are beside it. ``tests/docs/pages/test_words.py`` compares the sums with the caps.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[1] / "docs"
GUIDES_MAX: Final = 65_000
"""Words of all guides together. This number only falls: a longer guide needs a shorter one."""
REFERENCE_MAX: Final = 30_000
"""Words of the reference that is written by hand. This number only falls, too."""
GUIDES: Final = ("tutorials", "quick-start", "how-to", "discussion")
GENERATED: Final = (
    "authorization.md",
    "carrier-settings.md",
    "channel-contract.md",
    "cli.md",
    "configuration.md",
    "database-views.md",
    "driver-contract.md",
    "error-sentences.md",
    "found.md",
    "hook-programs.md",
    "http-driver.md",
    "http-members.md",
    "known-modems.md",
    "mail-contract.md",
    "metrics-list.md",
    "operations.md",
    "other-contracts.md",
    "payment-contract.md",
    "payment-settings.md",
    "python-client.md",
    "simulator-settings.md",
    "sink-contract.md",
    "skill.md",
)
"""Of ``docs/reference``: ``make generated`` writes these pages."""
APPENDICES: Final = (
    "asvs.md",
    "evidence.md",
    "faults.md",
    "http-parsing.md",
    "pumping.md",
    "reliability.md",
    "threat-model.md",
)
"""Of ``docs/reference``: tables of evidence, which targets write or tests compare."""


def words(page: Path) -> int:
    """The words of a page, as ``wc -w`` counts them."""
    return len(page.read_text("utf-8").split())


def guides() -> dict[str, int]:
    """The words of each guide, by its path below ``docs``."""
    return dict(_counted(page for kind in GUIDES for page in DOCS.glob(f"{kind}/**/*.md")))


def reference() -> dict[str, int]:
    """The words of each page of the reference that is written by hand."""
    beside = {*GENERATED, *APPENDICES}
    return dict(_counted(page for page in DOCS.glob("reference/*.md") if page.name not in beside))


def _counted(pages: Iterator[Path]) -> Iterator[tuple[str, int]]:
    for page in sorted(pages):
        yield str(page.relative_to(DOCS)), words(page)


def main() -> None:
    """Print both kinds."""
    for title, pages, most in (
        ("guides", guides(), GUIDES_MAX),
        ("reference by hand", reference(), REFERENCE_MAX),
    ):
        print(f"{sum(pages.values()):7,} words of {title}, of {most:,} at most")
        for page, count in sorted(pages.items(), key=lambda each: -each[1]):
            print(f"{count:7,} {page}")


if __name__ == "__main__":
    main()
