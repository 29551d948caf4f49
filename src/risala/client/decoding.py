"""From JSON to frozen dataclasses, by their annotations.

Members that are not known are passed over, so that a newer service can be asked by an older
client. A member that is null or missing takes the field's default; without a default the answer is
not one of this service.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Final, TypeVar, cast

from .errors import UnreadableAnswerError

T = TypeVar("T")
Convert = Callable[[object], Any]
WIRE: Final = "wire"
"""The metadata of a field that is called otherwise on the wire than its name in camel case."""


def decoded(kind: type[T], value: object) -> T:
    """An object of ``kind``; raises `UnreadableAnswerError`."""
    if not isinstance(value, Mapping):
        raise UnreadableAnswerError("The answer is no JSON object.")
    members: dict[str, Any] = {}
    for name, wire, convert, is_needed in _plan(cast("Hashable", kind)):
        member = value.get(wire)
        if member is not None:
            members[name] = convert(member)
        elif is_needed:
            raise UnreadableAnswerError(f"The answer has no `{wire}`.")
    return kind(**members)


def camel(name: str) -> str:
    """``message_id`` as the API writes it: ``messageId``."""
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


@cache
def _plan(kind: Hashable) -> tuple[tuple[str, str, Convert, bool], ...]:
    """The name of each field, its name on the wire, how it is read, whether it must be there."""
    hints = typing.get_type_hints(kind)
    plan = []
    for field in dataclasses.fields(cast("type[Any]", kind)):
        if not field.init:
            continue
        is_needed = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        wire = field.metadata.get(WIRE, camel(field.name))
        plan.append((field.name, wire, _convert(wire, hints[field.name]), is_needed))
    return tuple(plan)


def _convert(wire: str, hint: object) -> Convert:
    """How a member is read."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        [hint] = [each for each in inner if each is not type(None)]
        return _convert(wire, hint)
    if origin is typing.Literal:
        return _exactly(wire, str)
    if origin is tuple:
        return _each(wire, _convert(wire, inner[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _exactly(wire, dict)
    if dataclasses.is_dataclass(hint):
        return lambda value: decoded(cast("type[Any]", hint), value)
    special: dict[Any, Convert] = {
        Decimal: _parsed(wire, Decimal),
        datetime: _parsed(wire, datetime.fromisoformat),
    }
    return special.get(hint) or _exactly(wire, cast("type[Any]", hint))


def _exactly(wire: str, kind: type[T]) -> Callable[[object], T]:
    def convert(value: object) -> T:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UnreadableAnswerError(f"`{wire}` of the answer is of another type.")
        return value

    return convert


def _each(wire: str, one: Convert) -> Convert:
    def convert(value: object) -> tuple[object, ...]:
        return tuple(one(each) for each in _exactly(wire, list)(value))

    return convert


def _parsed(wire: str, parse: Callable[[str], T]) -> Convert:
    def convert(value: object) -> T:
        try:
            return parse(_exactly(wire, str)(value))
        except (ValueError, InvalidOperation) as error:
            raise UnreadableAnswerError(f"`{wire}` of the answer cannot be read.") from error

    return convert
