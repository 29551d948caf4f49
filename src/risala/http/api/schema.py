"""JSON Schema (2020-12) of records. Types and notes say what a member may be, docstrings what it
is.

Of a docstring its first paragraph is the description; the others are for who reads the source.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from enum import Enum
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from typing import Any, Final

from risala.engine.model.records.fields import Minimum, OneOf, WrittenAs
from risala.engine.model.records.record import (
    Json,
    RecordField,
    is_list,
    is_map,
    is_record,
    is_word,
    members_of,
    of_item,
)
from risala.sms.currencies import USUAL

Places = Mapping[type[Any], str]
"""Types that have a place of their own in a document: what refers to it."""


def json_schema(shape: type[Any], places: Places | None = None) -> Json:
    """The schema of a record's JSON. Of a type that has a place it refers to that."""
    docs = docs_of(shape)
    members = {
        each.json_name: _schema(each, places or {}) | _description(docs.get(each.name))
        for each in members_of(shape)
    }
    return {
        **description_of(shape),
        "type": "object",
        "properties": members,
        "required": list(members),
    }


def amount_pattern(places: int) -> str:
    """The regular expression of an amount with so many decimals, without its sign."""
    return f"[0-9]+\\.[0-9]{{{places}}}" if places else "[0-9]+"


def enum_schema(shape: type[Enum]) -> Json:
    """The schema of a closed list of words."""
    return {**description_of(shape), "type": "string", "enum": [each.value for each in shape]}


def description_of(shape: type[Any]) -> Json:
    """What a type is: its ``description``, or nothing."""
    doc = shape.__doc__
    # A dataclass without a docstring gets its own call as one.
    return _description(None if doc is None or doc.startswith(f"{shape.__name__}(") else doc)


def _description(doc: str | None) -> Json:
    return {} if doc is None else {"description": cleandoc(doc).partition("\n\n")[0]}


def docs_of(shape: type[Any]) -> dict[str, str]:
    """The docstrings of the fields of a record or of arguments, from their source."""
    docs = {}
    for each in reversed(shape.__mro__):
        is_declared = is_record(each) or hasattr(each, "model_fields")
        body = _classes_of(each.__module__).get(each.__name__, ()) if is_declared else ()
        for field, after in pairwise(body):
            match field, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(doc))),
                ):
                    docs[name] = doc
    return docs


@cache
def _classes_of(module: str) -> dict[str, list[ast.stmt]]:
    """The bodies of a module's classes."""
    tree = ast.parse(getsource(sys.modules[module]))
    return {each.name: each.body for each in tree.body if isinstance(each, ast.ClassDef)}


def _schema(field: RecordField, places: Places) -> Json:
    schema = _schema_of(field, places)
    if not field.may_be_none:
        return schema
    match schema:
        case {"type": str(kind), "enum": [*words]}:
            return {**schema, "type": [kind, "null"], "enum": [*words, None]}
        case {"type": str(kind)}:
            return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _schema_of(field: RecordField, places: Places) -> Json:
    kind, least, words = field.kind, field.note(Minimum), field.note(OneOf)
    if words is not None and not isinstance(words.known, tuple):
        kind = words.known
    if kind in places:
        return {"$ref": places[kind]}
    if field.note(WrittenAs) is WrittenAs.MONEY:
        return {"type": "string", "pattern": f"^{'' if least else '-?'}{amount_pattern(USUAL)}$"}
    schema = _plain_schema(field.note(WrittenAs), kind, places)
    if words is not None and isinstance(words.known, tuple):
        schema["enum"] = list(words.known)
    return schema if least is None else {**schema, "minimum": least.value}


def _plain_schema(written: WrittenAs | None, kind: Any, places: Places) -> Json:  # noqa: ANN401 -- any type
    if written is not None:
        return dict(_WRITTEN[written])
    if is_list(kind):
        return {"type": "array", "items": _schema(of_item(kind), places)}
    if is_map(kind):
        each = _schema(of_item(kind, -1), places)
        return {"type": "object", **({"additionalProperties": each} if each else {})}
    if is_record(kind):
        return json_schema(kind, places)
    if is_word(kind):
        return {"type": "string", "enum": [each.value for each in kind]}
    return dict(_SCHEMAS.get(kind, {}))


_WRITTEN: Final[Mapping[WrittenAs, Json]] = {
    WrittenAs.MOMENT: {"type": "string", "format": "date-time"},
    WrittenAs.DIGITS: {"type": "string"},
}
_SCHEMAS: Final[Mapping[Any, Json]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}
