"""What a stick writes and reads: its XML, as fields. Pure.

The documents are flat, and sticks break the rules of XML: characters beyond the basic plane come as
two surrogates in UTF-8 (CESU-8), and a received MMS as octets of no charset. So fields are looked
for one by one: a message that cannot be read well does not hide the others, and nothing is expanded
that an entity names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from html import escape, unescape
from typing import Final

from risala.dataclass import dataclass

ITEMS_MAX: Final = 50
"""The most messages that are read of one list: the most that a stick gives."""
VALUE_CHARACTERS_MAX: Final = 10_000
"""The longest value; the rest is cut off."""
_ROOT: Final = re.compile(r"<(response|error)>(.*)</\1>|<(response|error)\s*/>", re.DOTALL)
_FIELD: Final = re.compile(r"<([A-Za-z_]\w{0,60})>(.*?)</\1>", re.DOTALL)
_MESSAGE: Final = re.compile(r"<Message>(.*?)</Message>", re.DOTALL)
_UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 §2.2 does not have."""


class StrangeXmlError(Exception):
    """What came is not what a stick writes."""


@dataclass(frozen=True, slots=True)
class StickWords:
    """An answer of a stick. It prints nothing: it may hold texts and secrets."""

    code: int | None = field(default=None, repr=False)
    """The code of an error; None: it is none."""
    text: str = field(default="", repr=False)
    """What stands in it if it has no fields: ``OK``."""
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    messages: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    def number(self, name: str, otherwise: int = 0) -> int:
        """A field as a number; ``otherwise`` if it is missing or none."""
        return number_in(self.fields.get(name, ""), otherwise)


def number_in(text: str, otherwise: int = 0) -> int:
    """The number that a text begins with, as in ``-73dBm`` and ``>=-51dBm``."""
    matched = re.match(r"\s*[<>=]*\s*(-?[0-9]{1,9})", text)
    return otherwise if matched is None else int(matched[1])


def read(body: bytes) -> StickWords:
    """Read an answer.

    Raises:
        StrangeXmlError: it is no document of a stick.
    """
    document = _text(body)
    root = _ROOT.search(document)
    if root is None:
        raise StrangeXmlError
    name, inner = root[1] or root[3], root[2] or ""
    blocks = _MESSAGE.findall(inner)[:ITEMS_MAX]
    fields = _fields(_MESSAGE.sub("", inner))
    if name == "error":
        return StickWords(number_in(fields.get("code", ""), -1))
    text = "" if fields else unescape(inner).strip()
    return StickWords(None, text, fields, tuple(_fields(each) for each in blocks))


def write(fields: Mapping[str, object]) -> bytes:
    """Write a request; a mapping as a value becomes elements within it."""
    document = f'<?xml version="1.0" encoding="UTF-8"?><request>{_written(fields)}</request>'
    units = document.encode("utf-16-be", "surrogatepass")
    chars = (units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in _pairs(units))
    return "".join(chars).encode("utf-8", "surrogatepass")


def _pairs(units: bytes) -> range:
    return range(0, len(units), 2)


def _written(fields: Mapping[str, object]) -> str:
    written = []
    for name, value in fields.items():
        inner = _written(value) if isinstance(value, Mapping) else _escaped(str(value))
        written.append(f"<{name}>{inner}</{name}>")
    return "".join(written)


def _escaped(value: str) -> str:
    return escape(_UNFIT.sub("", value), quote=False)


def _text(body: bytes) -> str:
    try:
        halves = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        halves = body.decode("utf-8", "replace")
    return _UNFIT.sub("", halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _fields(inner: str) -> dict[str, str]:
    """By name; the first of several, so that no text can bring a second one."""
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(inner):
        fields.setdefault(name, unescape(value)[:VALUE_CHARACTERS_MAX])
    return fields
