"""Names that people give: one rule for all of them, at every door."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from risala.engine.gateway.table import OPERATIONS
from risala.engine.kernel.arguments import Arguments, refuse_unstorable
from risala.engine.model.errors import Invalid
from risala.engine.rules.people.names import UnfitName, as_name, name_in_file
from risala.sms.address import sender_fault

NAMED = {"name", "label", "contact", "sheet", "cells"}
"""Arguments that are called so are names; the keys of ``cells`` are names of columns."""
SENDERS = {f"sender.{each}" for each in ("request", "check", "find")}
"""A sender ID has at most eleven letters of ASCII: it has a narrower rule."""
TEXTS = {"verify.templates"}
"""Requests choose a text of codes by its name: small letters of English, digits, _ and -."""
EXCEPT = {
    "org.delete": "An organization's name is typed again to confirm: it is compared, never kept.",
    "mailing.mend": "`cells` has the values of a row, by their places.",
}

KEPT = [
    ("\u202eBank", "Bank"),
    ("Ba\u2066nk\u2069", "Bank"),
    ("Ba\u200bnk", "Bank"),
    ("Bank\u3164", "Bank"),
    ("Ba\nnk", "Ba nk"),
    ("Ba\u2028nk", "Ba nk"),
    ("فروشگاه می\u200cخواهم", "فروشگاه می\u200cخواهم"),
    ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    ("مكتبة النور\u200f", "مكتبة النور"),
]
REFUSED = [
    ("Ba\x00nk", {"invalid_characters"}),
    ("Ba\ud800nk", {"invalid_characters"}),
    ("Ba\x07nk", {"unsafe_name"}),
    ("Ba\x9bnk", {"unsafe_name"}),
    ("Ba\ue000nk", {"unsafe_name"}),
    ("a" * 10_000, {"invalid_length", "invalid_name"}),
    ("\u202e" * 10_000, {"invalid_length", "invalid_name"}),
]
NOTHING_SEEN = "\u3164\u200b"


def doors() -> Iterator[tuple[str, str, type[Arguments]]]:
    """Every argument that is a name: its operation, what it is called, its model."""
    for operation in OPERATIONS.values():
        for name in NAMED & operation.arguments.model_fields.keys():
            if operation.name not in EXCEPT.keys() | SENDERS | TEXTS:
                yield operation.name, name, operation.arguments


DOORS = sorted(doors(), key=lambda each: each[:2])


def read(model: type[Arguments], name: str, value: str) -> Any:
    """What an argument makes of a value.

    Raises:
        Invalid: what no argument takes.
        ValidationError: what this one does not take.
    """
    refuse_unstorable({name: value})
    model.model_rebuild()
    field = model.model_fields[name]
    adapter = TypeAdapter(Annotated[(field.annotation, *field.metadata)])
    if name == "cells":
        return next(iter(adapter.validate_python({value: ""})))
    return adapter.validate_python(value)


def code_of(model: type[Arguments], name: str, value: str) -> str:
    """Why a value is refused; empty: it is read as no name, where a name may be empty."""
    try:
        assert read(model, name, value) == ""
    except Invalid as refused:
        return refused.code
    except ValidationError as refused:
        return refused.errors()[0]["type"]
    return ""


@pytest.mark.parametrize(("operation", "name", "model"), DOORS)
def test_every_name_that_is_given_is_read_by_one_rule(operation, name, model):
    for given, kept in KEPT:
        assert read(model, name, given) == kept
    for given, codes in REFUSED:
        assert code_of(model, name, given) in codes, ascii(given[:9])
    assert code_of(model, name, NOTHING_SEEN) in ("", "invalid_length", "invalid_name")


def test_the_sweep_knows_the_doors_and_has_no_idle_exception():
    found = {(operation, name) for operation, name, _ in DOORS}
    assert found >= {
        *(("org.create", "name"), ("org.set", "name"), ("org.found", "name")),
        *(("key.create", "name"), ("key.create", "contact"), ("credential.create", "name")),
        *(("hook.create", "name"), ("provider.set", "label"), ("user.create", "name")),
        *(("account.set", "name"), ("list.create", "name"), ("list.create", "sheet")),
        *(("list.add", "cells"), ("text.create", "name"), ("mailing.create", "name")),
    }
    for operation in EXCEPT.keys() | SENDERS | TEXTS:
        assert NAMED & OPERATIONS[operation].arguments.model_fields.keys(), operation


def test_a_sender_id_takes_none_of_it():
    for given in (*(given for given, _ in KEPT), *(given for given, _ in REFUSED)):
        assert sender_fault(given) is not None


@pytest.mark.parametrize("operation", sorted(TEXTS))
def test_the_name_of_a_text_takes_none_of_it(operation):
    model = OPERATIONS[operation].arguments
    for given in (*(given for given, _ in KEPT), *(given for given, _ in REFUSED), NOTHING_SEEN):
        with pytest.raises((Invalid, ValidationError)):
            read(model, "name", given)


@pytest.mark.parametrize(("given", "kept"), KEPT)
def test_a_name_in_a_file_is_read_as_a_typed_one(given, kept):
    assert name_in_file(given, 100) == as_name(given, 100) == kept


@pytest.mark.parametrize("given", [given for given, _ in REFUSED])
def test_what_a_typed_name_is_refused_for_is_left_out_of_a_file(given):
    with pytest.raises(UnfitName):
        as_name(given, 100)
    found = name_in_file(given, 100)
    assert found in ("Bank", "a" * 100, "")
    assert as_name(found, 100) == found
