"""Records: JSON, audit image and schema follow from their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

import pytest

from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    Digits,
    JsonName,
    Moment,
    Money,
    WrittenAs,
)
from risala.engine.model.records.record import (
    NotAsExpected,
    audit_image,
    from_json,
    to_json,
    undecided,
)

AT_MS = 1_767_225_600_123


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Wheel:
    size_mm: int


@dataclass(frozen=True, slots=True)
class Cart:
    id: Annotated[str, UNAUDITED]
    owner_name: Annotated[str | None, AUDITED]
    sender: Annotated[str, JsonName("from"), AUDITED]
    price: Annotated[Money, AUDITED]
    made_at: Annotated[Moment, UNAUDITED]
    sold_at: Annotated[Moment | None, UNAUDITED]
    colour: Annotated[Colour, AUDITED]
    wheels: Annotated[tuple[Wheel, ...], UNAUDITED]
    load: Annotated[float, UNAUDITED]
    number: Annotated[Digits, UNAUDITED]
    tags: Annotated[tuple[str, ...] | None, AUDITED] = None
    spares: Annotated[Mapping[str, Wheel], UNAUDITED] = field(default_factory=dict)
    shelf: Annotated[int, WrittenAs.NOTHING] = 0


@dataclass(frozen=True, slots=True)
class Box:
    label: str = field(init=False)
    size: int

    def __post_init__(self):
        object.__setattr__(self, "label", f"B{self.size}")


CART = Cart("c1", None, "A", -105, AT_MS, None, Colour.RED, (Wheel(700),), 2.0, 2**63 - 1)
JSON = {
    "id": "c1",
    "ownerName": None,
    "from": "A",
    "price": "-1.05",
    "madeAt": "2026-01-01T00:00:00.123Z",
    "soldAt": None,
    "colour": "red",
    "wheels": [{"sizeMm": 700}],
    "load": 2.0,
    "number": "9223372036854775807",
    "tags": None,
    "spares": {},
}


def test_a_derived_field_is_written_and_not_read():
    told = {"label": "B3", "size": 3}
    assert to_json(Box(3)) == told
    assert from_json(Box, told) == from_json(Box, {"size": 3}) == Box(3)
    assert undecided(Box) == ["label", "size"]


def test_each_field_is_a_member():
    assert to_json(CART) == JSON
    assert list(to_json(CART)) == list(JSON)


@pytest.mark.parametrize(
    "cart",
    [
        CART,
        replace(CART, owner_name="Aïcha", sold_at=AT_MS, tags=("a", "b"), price=0, wheels=()),
        replace(CART, spares={"front": Wheel(660)}),
    ],
)
def test_what_is_written_is_read_again(cart):
    assert from_json(Cart, to_json(cart)) == cart


def test_a_newer_answer_is_read_without_what_is_unknown():
    assert from_json(Cart, {**JSON, "horn": True}) == CART


@dataclass(frozen=True, slots=True)
class SpareWheel(Wheel):
    place: str = "boot"


def test_a_member_has_what_its_declared_type_has():
    assert to_json(replace(CART, wheels=(SpareWheel(700),))) == JSON


def test_what_the_engine_alone_knows_is_no_member():
    assert to_json(replace(CART, shelf=7)) == JSON
    assert from_json(Cart, {**JSON, "shelf": 7}) == CART


def test_an_older_answer_takes_defaults_where_there_are_any():
    older = {name: value for name, value in JSON.items() if name != "tags"}
    assert from_json(Cart, older) == CART
    del older["price"]
    with pytest.raises(NotAsExpected, match="Cart has no member 'price'"):
        from_json(Cart, older)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 3),
        ("id", None),
        ("price", "much"),
        ("madeAt", "yesterday"),
        ("colour", "blue"),
        ("wheels", {}),
        ("wheels", [{}]),
        ("load", True),
        ("spares", 3),
        ("spares", {"front": {}}),
    ],
)
def test_an_answer_of_another_kind_is_refused(name, value):
    with pytest.raises(NotAsExpected):
        from_json(Cart, {**JSON, name: value})


def test_no_object_is_refused():
    with pytest.raises(NotAsExpected, match="not a JSON object"):
        from_json(Cart, [])


def test_the_trail_shows_what_its_fields_choose():
    shown = {"ownerName", "from", "price", "colour", "tags"}
    assert audit_image(CART) == {name: JSON[name] for name in shown}


def test_a_field_without_a_choice_is_found():
    assert undecided(Wheel) == ["size_mm"]
    assert undecided(Cart) == []


@pytest.mark.parametrize(
    "name", [name for name, each in OPERATIONS.items() if each.record is not None]
)
def test_each_field_of_what_is_changed_says_whether_the_trail_shows_it(name):
    assert undecided(OPERATIONS[name].record) == []
