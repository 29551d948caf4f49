"""Records: frozen dataclasses whose JSON, audit image and form fields follow from their types.

A record is an operation's answer. Its JSON has one member for each field, in camelCase; how a field
is written, named and audited is declared beside its type
(:mod:`risala.engine.model.records.fields`). Only the standard library is imported here, so that a
command starts without the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from risala.dataclass import dataclass
from risala.engine.model.money import minor_units, money
from risala.engine.model.records.fields import JsonName, SnakeCase, Trail, WrittenAs
from risala.engine.model.times import iso

T = TypeVar("T")
M = TypeVar("M")
Json = dict[str, Any]
Convert = Callable[[Any], Any]


class NotAsExpected(Exception):
    """A JSON answer does not match the expected record."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field of a record, from its declaration."""

    name: str
    json_name: str
    kind: Any
    """Without its notes, and without None."""
    notes: tuple[object, ...]
    may_be_none: bool
    default: object
    """``MISSING`` if it has none."""

    def note(self, kind_of_note: type[M]) -> M | None:
        """The field's note of one kind."""
        return next((each for each in self.notes if isinstance(each, kind_of_note)), None)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is derived from a record, once."""

    fields: tuple[RecordField, ...]
    """The fields that are given."""
    members: tuple[RecordField, ...]
    """The fields with those that are derived (``init=False``): written, and not read."""
    writers: tuple[tuple[str, str, Convert], ...]
    """Name, name in JSON, and the writer."""
    audited: frozenset[str]
    """Names in JSON."""


_SHAPES: Final[dict[type[Any], _Shape]] = {}


def fields_of(shape: type[Any]) -> tuple[RecordField, ...]:
    """The given fields of a record, in their order."""
    return _shape(shape).fields


def members_of(shape: type[Any]) -> tuple[RecordField, ...]:
    """The fields that a record's JSON has, in their order: the derived ones too."""
    return _shape(shape).members


def _shape(shape: type[Any]) -> _Shape:
    known = _SHAPES.get(shape)
    if known is None:
        hints = get_type_hints(shape, include_extras=True)
        initialized = {each.name for each in fields(shape) if each.init}
        every = (_field(shape, hints[each.name], each) for each in fields(shape))
        own = tuple(each for each in every if each.note(WrittenAs) is not WrittenAs.NOTHING)
        known = _SHAPES[shape] = _Shape(
            tuple(each for each in own if each.name in initialized),
            own,
            tuple((each.name, each.json_name, _writer(each)) for each in own),
            frozenset(each.json_name for each in own if each.note(Trail) is Trail.SHOWN),
        )
    return known


def _field(shape: type[Any], hint: object, declared: Any) -> RecordField:  # noqa: ANN401 -- a dataclass's own
    kind, notes, may_be_none = _bare(hint)
    name: str = declared.name
    usual = name if issubclass(shape, SnakeCase) else camel(name)
    json_name = next((each.name for each in notes if isinstance(each, JsonName)), usual)
    default = declared.default
    if default is MISSING and declared.default_factory is not MISSING:
        default = declared.default_factory()
    return RecordField(name, json_name, kind, notes, may_be_none, default)


def _bare(hint: object) -> tuple[Any, tuple[object, ...], bool]:
    """A type without its notes and without None; the notes; whether it may be None."""
    notes: tuple[object, ...] = ()
    may_be_none = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            notes += tuple(more)
        elif get_origin(hint) in (Union, UnionType):
            some = [each for each in get_args(hint) if each is not NoneType]
            may_be_none = may_be_none or len(some) < len(get_args(hint))
            if len(some) != 1:
                return hint, notes, may_be_none
            hint = some[0]
        else:
            return hint, notes, may_be_none


def camel(name: str) -> str:
    """``created_at`` as ``createdAt``."""
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def shallow(record: object, shape: type[Any] | None = None) -> dict[str, Any]:
    """The fields of a record by their names, unchanged; if ``shape`` is given, those that it has
    too."""
    names = {each.name for each in fields_of(shape or type(record))}
    own = (each.name for each in fields_of(type(record)))
    return {name: getattr(record, name) for name in own if name in names}


# -- to JSON


def to_json(record: object) -> Json:
    """A record as JSON, with one member for each field."""
    return _written(type(record), record)


def _written(shape: type[Any], record: object) -> Json:
    """The members that a shape has, which may be the record's own or one that it extends."""
    return {name: write(getattr(record, attr)) for attr, name, write in _shape(shape).writers}


def _writer(field: RecordField) -> Convert:
    written = field.note(WrittenAs)
    write = _plain_writer(field.kind) if written is None else _WRITE[written]
    return lambda value: None if value is None else write(value)


_WRITE: Final[Mapping[WrittenAs, Convert]] = {
    WrittenAs.MOMENT: iso,
    WrittenAs.MONEY: money,
    WrittenAs.DIGITS: str,
}


def _plain_writer(kind: Any) -> Convert:  # noqa: ANN401 -- any type
    """Writes a value that is not None."""
    if is_list(kind):
        write = _writer(of_item(kind))
        return lambda value: [write(each) for each in value]
    if is_map(kind):
        write = _writer(of_item(kind, -1))
        return lambda value: {name: write(each) for name, each in value.items()}
    if is_record(kind):
        return lambda value: _written(kind, value)
    if is_word(kind):
        return lambda value: value.value
    return lambda value: value


def is_list(kind: object) -> bool:
    """Whether a field's type is a tuple of any length."""
    return get_origin(kind) is tuple and get_args(kind)[1:] == (...,)


def is_map(kind: object) -> bool:
    return get_origin(kind) in (dict, Mapping)


def is_record(kind: object) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def is_word(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def of_item(kind: object, place: int = 0) -> RecordField:
    """The item of a list, or with place -1 of a map, as a field without a name."""
    bare, notes, may_be_none = _bare(get_args(kind)[place])
    return RecordField("", "", bare, notes, may_be_none, MISSING)


# -- from JSON


def from_json(shape: type[T], members: object) -> T:
    """The record of a JSON answer.

    An unknown member is ignored, and a missing one takes the field's default: an answer may come
    from an older or newer service.

    Raises:
        NotAsExpected: a member without a default is missing, or one has another type.
    """
    if not isinstance(members, Mapping):
        raise NotAsExpected(f"{shape.__name__} is not a JSON object.")
    values = {}
    for field in fields_of(shape):
        if field.json_name in members:
            values[field.name] = _read(shape, field, members[field.json_name])
        elif field.default is MISSING:
            raise NotAsExpected(f"{shape.__name__} has no member {field.json_name!r}.")
    return shape(**values)


def _read(shape: type[Any], field: RecordField, value: object) -> object:
    if value is None:
        if field.may_be_none or field.kind is Any:
            return None
        raise NotAsExpected(f"{field.json_name!r} of {shape.__name__} is null.")
    try:
        return _reader(field)(value)
    except (TypeError, ValueError, KeyError) as error:
        raise NotAsExpected(
            f"{field.json_name!r} of {shape.__name__} has a wrong value."
        ) from error


def _reader(field: RecordField) -> Convert:
    """Reads the output of :func:`_writer`, if it is not null."""
    written, kind = field.note(WrittenAs), field.kind
    if written is not None:
        return _READ[written]
    if is_list(kind):
        item = of_item(kind)
        return lambda value: tuple(_read(tuple, item, each) for each in _list(value))
    if is_map(kind):
        each = of_item(kind, -1)
        return lambda value: {name: _read(dict, each, of) for name, of in dict(value).items()}
    if is_record(kind):
        return lambda value: from_json(kind, value)
    if is_word(kind):
        return lambda value: kind(value)
    return lambda value: _checked(kind, value)


def _moment(value: str) -> int:
    return round(datetime.fromisoformat(value).timestamp() * 1000)


def _amount(value: str) -> int:
    return -minor_units(value[1:]) if value.startswith("-") else minor_units(value)


_READ: Final[Mapping[WrittenAs, Convert]] = {
    WrittenAs.MOMENT: _moment,
    WrittenAs.MONEY: _amount,
    WrittenAs.DIGITS: int,
}


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("this is not a list")
    return value


def _checked(kind: Any, value: object) -> object:  # noqa: ANN401 -- any type
    """A value of JSON's own types, unchanged."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _PLAIN and type(value) is not kind:
        raise TypeError(f"this is not a {kind}")
    return value


_PLAIN: Final = (str, int, float, bool)


# -- the audit trail


def audit_image(record: object) -> Json:
    """A record for the audit trail: the members whose fields declare it."""
    shown = _shape(type(record)).audited
    return {name: value for name, value in to_json(record).items() if name in shown}


def undecided(shape: type[Any]) -> list[str]:
    """Fields that do not declare whether the audit trail shows them."""
    return [each.name for each in _shape(shape).members if each.note(Trail) is None]
