"""Notes from a store that others can write to: each field has its kind and its bounds.

A number may be a text there, or 1e300; brackets may be deeper than a parser goes; a file may be
larger than memory. Each is refused in a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeVar

NOTE_BYTES_MAX: Final = 4096
"""The most bytes of a note, and of a piece's first line: ten times what one has."""
INTEGER_MAX: Final = (1 << 63) - 1
"""What the stores hold."""
AT_MAX: Final = 253_402_300_799_999
"""The last millisecond of the year 9999: no calendar here goes on."""
_TEXT_CHARACTERS_MAX: Final = 255

T = TypeVar("T")


class BadPiece(Exception):
    """A file is not what was written; the sentence names it."""


def note_of(path: Path) -> dict[str, Any] | None:
    """The content of a JSON file; None: it does not exist.

    Raises:
        BadPiece: it is not the JSON of a note.
        OSError: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(NOTE_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    return parsed(data, str(path))


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """A JSON object.

    Args:
        name: what to call it in a sentence.

    Raises:
        BadPiece: it is something else, or too long.
    """
    try:
        if len(data) > NOTE_BYTES_MAX:
            raise BadPiece(f"{name} is damaged: it is too long.")
        note = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadPiece(f"{name} is damaged.") from error
    if not isinstance(note, dict):
        raise BadPiece(f"{name} is damaged.")
    return note


def checked(kind: type[T], note: Mapping[str, Any], name: str) -> T:
    """A dataclass of texts, numbers and flags out of a note; fields that it does not know are from
    a later version, and are passed over.

    Raises:
        BadPiece: a field is missing, of another kind or beyond what it may be.
    """
    values: dict[str, Any] = {}
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if each.name in note:
            values[each.name] = note[each.name]
            _refuse_odd(str(each.type), each.name, note[each.name], name)
    try:
        return kind(**values)
    except TypeError as error:
        raise BadPiece(f"{name} is damaged: something is missing in it.") from error


def _refuse_odd(kind: str, field: str, value: object, name: str) -> None:
    match kind:
        case "int":
            highest = AT_MAX if field == "at" else INTEGER_MAX
            is_right = type(value) is int and 0 <= value <= highest
        case "bool":
            is_right = type(value) is bool
        case _:
            is_short = isinstance(value, str) and len(value) <= _TEXT_CHARACTERS_MAX
            is_right = is_short and str(value).isprintable()
    if not is_right:
        raise BadPiece(f"{name} is damaged: its {field} is not what a primary writes.")
