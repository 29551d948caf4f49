"""What others wrote, as it may stand in our own sentences."""

from __future__ import annotations

import unicodedata
from typing import Final

_CONTROL: Final = "C"
"""Of control and format characters, and what is no character at all."""


def one_line(text: str) -> str:
    """What others wrote, with nothing in it that breaks a line or turns the reading direction."""
    return "".join(
        " " if each.isspace() else each
        for each in text
        if each.isspace() or unicodedata.category(each)[0] != _CONTROL
    ).strip()
