"""Bodies that follow from what they ask for: the arguments of operations, and their record.

A member has its argument's name in camelCase and its type; the record's field says how long it may
be, or which words it takes. Only what differs stands beside a body.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, get_args, get_origin

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from risala.engine.kernel.arguments import MOMENT, NUMBER, TEXT, ArgumentKind, Arguments
from risala.engine.model.records.fields import Maximum, OneOf
from risala.engine.model.records.record import camel, fields_of
from risala.engine.model.records.webhooks import OWNERS_SETTINGS
from risala.http.api import fields
from risala.http.api.schema import docs_of
from risala.http.common.validation import RequestBody

N = TypeVar("N")
BY_KEY: Final = frozenset({"organization_id", "mode", "only_mode"})
"""Arguments that follow from the key."""
NOT_FOR_PROGRAMS: Final = frozenset({"version", *OWNERS_SETTINGS})
"""A program changes single fields, and reads none before; it is no owner."""
_BY_KIND: Final[Mapping[ArgumentKind, Any]] = {MOMENT: fields.Instant, NUMBER: fields.Number}


class DerivedBody(RequestBody):
    """Base of the bodies that follow from arguments."""

    sources: ClassVar[tuple[type[Arguments], ...]] = ()

    @classmethod
    def arguments_in(cls, members: Mapping[str, object]) -> dict[str, object]:
        """The members of an unchecked body, as arguments."""
        names = {field.alias or name: name for name, field in cls.model_fields.items()}
        return {names[each]: value for each, value in members.items() if each in names}

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """What the arguments' own texts say, by member."""
        texts = {name: text for each in cls.sources for name, text in docs_of(each).items()}
        return {
            field.alias or name: " ".join(texts[name].partition("\n\n")[0].split())
            for name, field in cls.model_fields.items()
            if name in texts
        }


def body_of(
    name: str,
    about: str,
    *sources: type[Arguments],
    record: type[Any] | None = None,
    required: Collection[str] = (),
    optional: Collection[str] = (),
    last: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
    **others: Any,  # noqa: ANN401 -- types, as annotations have them
) -> type[DerivedBody]:
    """The body that asks for operations with these arguments.

    Args:
        about: what it is, for the reference.
        record: what the operations change: its fields' notes are those of the arguments.
        required: arguments that the operation itself misses, with all other faults.
        optional: arguments of one operation of several.
        last: members that come after all others, in this order: in that of its members the answer
            to a bad body tells the faults, as it did in 1.0.
        more: keywords of the body's JSON Schema.
        others: the types of the members that differ, or that are no arguments.
    """
    notes = {} if record is None else {each.name: each.notes for each in fields_of(record)}
    members: dict[str, Any] = {}
    for source in sources:
        for each, field in source.model_fields.items():
            if each not in {*members, *others, *BY_KEY, *NOT_FOR_PROGRAMS}:
                is_required = each in required or (field.is_required() and each not in optional)
                members[each] = _member(each, field, notes.get(each, ()), is_required=is_required)
    members |= {each: (Annotated[kind | None, _alias(each)], None) for each, kind in others.items()}
    members |= {each: members.pop(each) for each in last}
    made = create_model(name, __base__=DerivedBody, __doc__=about, **members)
    made.sources = sources
    made.model_config["json_schema_extra"] = dict(more or {})
    return made


def _alias(name: str) -> FieldInfo:
    alias = camel(name)
    alias_field: FieldInfo = Field(alias=None if alias == name else alias)
    return alias_field


def _member(
    name: str, field: FieldInfo, notes: tuple[object, ...], *, is_required: bool
) -> tuple[Any, Any]:
    """The type of an argument's member, and its default."""
    noted = (*field.metadata, *notes)
    kind, extra = _type(field.annotation, noted)
    own = field.json_schema_extra
    alias = camel(field.alias or name)
    note = Field(
        alias=None if alias == name else alias,
        repr=field.repr,
        examples=field.examples,
        json_schema_extra={**extra, **(own if isinstance(own, dict) else {})},
    )
    return (Annotated[kind, note], ...) if is_required else (Annotated[kind | None, note], None)


def _type(annotation: Any, notes: tuple[object, ...]) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 -- any type
    """The type of a member, and what is only said of it: the operation judges that."""
    kind = next((each for each in get_args(annotation) if each is not NoneType), annotation)
    if get_origin(annotation) in (tuple, dict):
        kind = annotation
    words, most = _note(notes, OneOf), _note(notes, Maximum)
    known = () if words is None else tuple(words.known)
    if get_origin(kind) is tuple:
        items = {"type": "string", "enum": [*known], "examples": [known[0]]}
        return list[str], {"minItems": 1, "items": items}
    argument = _note(notes, ArgumentKind)
    if argument is not None and argument in _BY_KIND:
        return _BY_KIND[argument], {}
    if kind is not str:
        return kind, {}
    if known:
        return Literal[known], {}
    least = 1 if argument == TEXT else None
    length = Field(min_length=least, max_length=None if most is None else most.characters)
    return Annotated[str, length], {"pattern": fields.FIT_PATTERN}


def _note(notes: tuple[object, ...], kind: type[N]) -> N | None:
    return next((each for each in notes if isinstance(each, kind)), None)
