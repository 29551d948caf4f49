"""Reading a batch item by item, so that its size costs neither the loop's time nor memory.

``json.loads`` of 8 MiB would hold the loop for a tenth of a second, and may build objects of a
hundred times that size. Here one item after another is decoded, validated and dropped, and other
tasks run in between. A fault of an item is that item's alone, unless the item's end cannot be
found: then the whole body is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Final

import trio

from risala.engine.model.commands import SendMessage
from risala.http.api.bodies import parse_item
from risala.http.api.fields import BATCH_ITEMS_MAX, BodyContext
from risala.http.common.parse import (
    DECODER,
    DEPTH_MAX,
    LENIENT,
    DuplicateMember,
    as_object,
    check_depth,
    fault,
    has_escapes,
    is_deeper,
    opens_deeper,
    read_text,
)
from risala.http.common.problems import BodyIssue, Problem, bad_body
from risala.http.common.unknown_members import note_unknown

ITEMS_A_TURN: Final = 32
"""Items that are read before other tasks run: about a third of a millisecond."""
VALUE_CHARACTERS_MAX: Final = 64 * 1024
"""Characters of one item. The largest valid message takes fewer, even with every character
escaped."""
MEMBERS_MAX: Final = 100
"""Members of the envelope: their names are remembered, to notice one that is there twice."""

_LOOK: Final = 4096
"""Characters that are given to the decoder at first: nearly every item is within them, and only a
longer one costs a second try with more."""
_NUMBER_TAIL: Final = 2
"""Characters that may follow the digits of a number before its next digits: ``e-``."""
_OTHER_VALUES: Final = '["-0123456789tfn'
_DUPLICATE: Final = object()
"""Stands for a value in which a member occurs twice."""
_SPACE: Final = " \t\n\r"
_skip_space: Final = re.compile(f"[{_SPACE}]*").match

Item = SendMessage | Problem


async def parse_batch(raw: bytes, context: BodyContext) -> list[Item]:
    """For each item, in order, its command or the problem with it.

    Raises:
        Problem: 400, where the body around the items is wrong.
    """
    text, escapes = read_text(raw), has_escapes(raw)
    values = _at_a_glance(text)
    if values is not None:
        await trio.lowlevel.checkpoint()
        return await _read_items(values, context, escapes=escapes)
    reader = _Reader(text)
    items: list[Item] | None = None
    for name in reader.names():
        if name != "messages":
            note_unknown((name,))
            reader.value()
        elif reader.peek() == "[":
            items = await _read_items(reader.items(), context, escapes=escapes)
        elif reader.value() is not None:  # null is as if omitted
            raise _bad_list("not_a_list", "must be a list.")
        await trio.lowlevel.checkpoint()
    if items is None:
        raise _bad_list("required", "is required.")
    if not items:
        raise _bad_list("too_few_entries", "must have at least one entry.")
    return items


def _at_a_glance(text: str) -> list[dict[str, Any]] | None:
    """The items of a body that is small and plainly good: decoded at once, it takes no longer than
    one item may. None where the body has to be read step by step."""
    if len(text) > VALUE_CHARACTERS_MAX:
        return None
    try:
        body, end = DECODER.raw_decode(text)
    except (ValueError, DuplicateMember, RecursionError):
        return None
    if end != len(text) or type(body) is not dict or len(body) != 1:
        return None
    values = body.get("messages")
    if type(values) is not list or not values or not all(type(each) is dict for each in values):
        return None
    # Besides the body's two brackets and one of each other item's all might be of one item.
    brackets = text.count("[") + text.count("{") - 1 - len(values)
    if brackets > DEPTH_MAX and any(is_deeper(each, DEPTH_MAX) for each in values):
        return None
    return values


async def _read_items(
    values: Iterable[dict[str, Any] | Problem], context: BodyContext, *, escapes: bool
) -> list[Item]:
    items: list[Item] = []
    for value in values:
        if len(items) == BATCH_ITEMS_MAX:
            raise _bad_list("too_many_entries", f"must have at most {BATCH_ITEMS_MAX} entries.")
        if isinstance(value, Problem):
            items.append(value)
        else:
            try:
                items.append(parse_item(value, context, escapes=escapes))
            except Problem as problem:
                items.append(problem)
        if len(items) % ITEMS_A_TURN == 0:
            await trio.lowlevel.checkpoint()
    return items


class _Reader:
    """A place in the text, and the steps of RFC 8259 that lead on from there."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        character = self._text[self._at : self._at + 1]
        if character in _SPACE:
            match = _skip_space(self._text, self._at)
            assert match is not None
            self._at = match.end()
            character = self._text[self._at : self._at + 1]
        return character

    def names(self) -> Iterator[str]:
        """The names of the members of the object that the text is. The caller reads each member's
        value before it asks for the next name."""
        first = self.peek()
        if first != "{":
            raise fault("not_an_object" if first and first in _OTHER_VALUES else "invalid_json")
        seen: set[str] = set()
        for _ in self._separated("}"):
            if self.peek() != '"':
                raise fault("invalid_json")
            name = str(self.value())
            if name in seen:
                raise fault("duplicate_member")
            seen.add(name)
            if len(seen) > MEMBERS_MAX:
                text = f"The body can have at most {MEMBERS_MAX} members."
                raise bad_body([BodyIssue((), "too_many_entries", text)])
            self._take(":")
            yield name
        if self.peek():
            raise fault("invalid_json")

    def items(self) -> Iterator[dict[str, Any] | Problem]:
        """The items of the list that begins here: objects, and a problem for each that is none."""
        for number in self._separated("]"):
            value, brackets = self._decode(("messages", number), DEPTH_MAX)
            try:
                if value is _DUPLICATE:
                    raise fault("duplicate_member")
                item: dict[str, Any] | Problem = as_object(value, brackets)
            except Problem as problem:
                item = problem
            yield item

    def value(self) -> object:
        """The value that begins here, in the body around the items."""
        value, brackets = self._decode((), DEPTH_MAX - 1)
        if value is _DUPLICATE:
            raise fault("duplicate_member")
        check_depth(value, brackets, DEPTH_MAX - 1)
        return value

    def _separated(self, end: str) -> Iterator[int]:
        """Step through an object or list: past its opening bracket, then past each comma, up to the
        closing one (``end``)."""
        self._at += 1
        if self.peek() != end:
            for number in count():
                yield number
                if self._take("," + end) == end:
                    return
        else:
            self._at += 1

    def _take(self, characters: str) -> str:
        """Step past the next character, which must be one of these, and return it."""
        character = self.peek()
        if not character or character not in characters:
            raise fault("invalid_json")
        self._at += 1
        return character

    def _decode(self, path: tuple[str | int, ...], depth_max: int) -> tuple[Any, int]:
        """The value that begins here, and the number of brackets in its text."""
        self.peek()
        piece = ""
        for size in (_LOOK, VALUE_CHARACTERS_MAX):
            piece = self._text[self._at : self._at + size]
            try:
                value, end = _decode(piece)
            except RecursionError:
                raise fault("too_deep", path) from None
            except ValueError:
                continue
            if size < VALUE_CHARACTERS_MAX and end + _NUMBER_TAIL >= size and _is_number(value):
                continue
            self._at += end
            return value, piece.count("[", 0, end) + piece.count("{", 0, end)
        if opens_deeper(piece.encode(), depth_max):
            raise fault("too_deep", path)
        if self._at + VALUE_CHARACTERS_MAX >= len(self._text):
            raise fault("invalid_json", path)
        text = f"This is not valid JSON, or has more than {VALUE_CHARACTERS_MAX} characters."
        raise bad_body([BodyIssue(path, "invalid_json", text)])


def _is_number(value: object) -> bool:
    """Whether a value is a number: where its text was cut off, no other reads as whole."""
    return isinstance(value, int | float)


def _decode(piece: str) -> tuple[Any, int]:
    """The value at the beginning of a text, and where it ends."""
    try:
        return DECODER.raw_decode(piece)
    except DuplicateMember:
        return _DUPLICATE, LENIENT.raw_decode(piece)[1]


def _bad_list(code: str, rule: str) -> Problem:
    return bad_body([BodyIssue(("messages",), code, f"`messages` {rule}")])
