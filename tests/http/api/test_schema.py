"""JSON Schema of records: from their types, notes and docstrings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from risala.engine.model.records.fields import (
    Count,
    Digits,
    JsonName,
    Minimum,
    Moment,
    Money,
    OneOf,
)
from risala.http.api.schema import enum_schema, json_schema


class Colour(StrEnum):
    """What a cart looks like."""

    RED = "red"


@dataclass(frozen=True, slots=True)
class Wheel:
    size_mm: int


@dataclass(frozen=True, slots=True)
class Vehicle:
    """What rolls."""

    id: str
    """Its plate."""


@dataclass(frozen=True, slots=True)
class Cart(Vehicle):
    """What somebody
    pushes.

    Seldom pulled.
    """

    owner_name: str | None
    """Who pushes it.

    None: nobody knows."""
    sender: Annotated[str, JsonName("from")]
    price: Annotated[Money, Minimum(0)]
    debt: Money
    sold_at: Moment | None
    colour: Colour | None
    size: Annotated[str | None, OneOf(("small", "large"))]
    shade: Annotated[str, OneOf(Colour)]
    wheels: tuple[Wheel, ...]
    rides: Count
    load: float
    number: Digits
    tags: tuple[str, ...] | None
    spares: Mapping[str, Wheel]
    data: Mapping[str, Any]


WHEEL = {"type": "object", "properties": {"sizeMm": {"type": "integer"}}, "required": ["sizeMm"]}


def test_the_schema_says_what_the_json_is():
    schema = json_schema(Cart)
    assert schema["required"] == list(schema["properties"])
    assert schema["description"] == "What somebody\npushes."
    assert schema["properties"] == {
        "id": {"type": "string", "description": "Its plate."},
        "ownerName": {"type": ["string", "null"], "description": "Who pushes it."},
        "from": {"type": "string"},
        "price": {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2}$"},
        "debt": {"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2}$"},
        "soldAt": {"type": ["string", "null"], "format": "date-time"},
        "colour": {"type": ["string", "null"], "enum": ["red", None]},
        "size": {"type": ["string", "null"], "enum": ["small", "large", None]},
        "shade": {"type": "string", "enum": ["red"]},
        "wheels": {"type": "array", "items": WHEEL},
        "rides": {"type": "integer", "minimum": 0},
        "load": {"type": "number"},
        "number": {"type": "string"},
        "tags": {"type": ["array", "null"], "items": {"type": "string"}},
        "spares": {"type": "object", "additionalProperties": WHEEL},
        "data": {"type": "object"},
    }


def test_what_has_a_place_of_its_own_is_referred_to():
    members = json_schema(Cart, {Colour: "#/colour", Wheel: "#/wheel"})["properties"]
    assert members["wheels"] == {"type": "array", "items": {"$ref": "#/wheel"}}
    assert members["colour"] == {"anyOf": [{"$ref": "#/colour"}, {"type": "null"}]}
    assert members["shade"] == {"$ref": "#/colour"}


def test_a_closed_list_says_what_it_is():
    assert enum_schema(Colour) == {
        "description": "What a cart looks like.",
        "type": "string",
        "enum": ["red"],
    }
