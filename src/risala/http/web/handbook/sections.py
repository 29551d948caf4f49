"""Which pages of the documentation are chapters, by the list of all of them (``docs/all.md``).

The service reads this, and so does what builds its wheel: it imports nothing of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LIST: Final = "all.md"
LANGUAGES: Final = ("fr", "ar")
"""Languages with a folder of translated chapters; English stands outside of them."""
_HEADING: Final = re.compile(r"^##+ (.+)$", re.M)
_LINK: Final = re.compile(r"^- \[[^]]+\]\(([^)#\s.][^)#\s]*)\.md\)", re.M)
FOR_ALL: Final = (
    "Learn",
    "Quick start",
    "Send and verify",
    "Coming from elsewhere",
    "For programs",
)
"""The headings of the list whose pages members of organizations read, too."""
FOR_OPERATORS: Final = ("Carriers", "The machine", "People and money", "For the operator")
NOT_FOR_MEMBERS: Final = frozenset({"tutorials/usb-modem", "tutorials/write-a-driver"})
"""Chapters of such a heading that only operators need."""
LAST: Final = "Understand"
HEADINGS: Final = (*FOR_ALL, *FOR_OPERATORS, LAST)


class HandbookSection(NamedTuple):
    """A heading of the list, and the chapters below it."""

    heading: str
    chapters: tuple[str, ...]
    """Paths below ``docs``, without their suffix: ``how-to/usb-modem``."""


def sections(listed: str) -> Iterator[HandbookSection]:
    """The sections of the handbook, in the order of the list, whose text is ``listed``."""
    parts = _HEADING.split(listed)
    for heading, below in zip(parts[1::2], parts[2::2], strict=True):
        if heading in HEADINGS:
            yield HandbookSection(heading, tuple(_LINK.findall(below)))


def files(listed: str) -> Iterator[str]:
    """The paths below ``docs`` that the handbook is made of, translations included. A chapter that
    is not translated has no file of that language."""
    yield LIST
    for chapter in dict.fromkeys(each for of in sections(listed) for each in of.chapters):
        yield f"{chapter}.md"
        yield from (f"{language}/{chapter}.md" for language in LANGUAGES)
