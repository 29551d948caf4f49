"""Others' texts in a form that is safe in our own sentences."""

from __future__ import annotations

import unicodedata
from typing import Final

_CONTROL: Final = "C"
"""The categories of control and format characters, and of non-characters."""


def one_line(text: str) -> str:
    """A text of others without anything that breaks a line or turns the reading direction."""
    return "".join(
        " " if each.isspace() else each
        for each in text
        if each.isspace() or unicodedata.category(each)[0] != _CONTROL
    ).strip()
