"""Answers that follow from records: what is sent is what the reference says."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from risala.engine.model.records.fields import OneOf
from risala.engine.model.records.record import RecordField, fields_of, is_list, is_map, is_word
from risala.http.api import answers
from risala.http.api.openapi.document import document

COMPONENTS = document()["components"]
WRITTEN = [
    (answers.VERIFICATION, {}),
    (answers.INBOUND, {"status": "received"}),
    (answers.LEDGER_ENTRY, {}),
    (answers.SENDER, {"volume": 3}),
    (answers.ENDPOINT, {}),
    (answers.ENDPOINT_SECRET, {"secret": "whsec_x"}),
    (answers.ENDPOINT_DELETED, {"deleted": True}),
    (answers.DELIVERY, {}),
    (answers.REPLAYED, {"until": "2026-11-21T08:30:00.123Z"}),
    (answers.CHECK, {}),
    (answers.CODE_SENT, {}),
    (answers.ESTIMATE, {}),
]


def sample(field: RecordField) -> Any:
    kind, words = field.kind, field.note(OneOf)
    if words is not None and isinstance(words.known, tuple):
        return words.known[0]
    if words is not None:
        kind = words.known
    if is_word(kind):
        return next(iter(kind))
    return () if is_list(kind) else {} if is_map(kind) else kind(1)


@pytest.mark.parametrize(("answer", "more"), WRITTEN, ids=[each.name for each, _ in WRITTEN])
@pytest.mark.parametrize("is_full", [True, False], ids=["full", "null"])
def test_what_is_sent_is_what_the_reference_says(answer, more, is_full):
    values = {
        each.name: sample(each) if is_full or not each.may_be_none else None
        for each in fields_of(answer.record)
    }
    sent = answer.wire(answer.record(**values), **more)
    schema = answer.schema()
    always = [name for name in schema["properties"] if name not in answer.sometimes]
    assert list(sent) == always == schema["required"]
    whole = {**schema, "components": COMPONENTS}
    jsonschema.Draft202012Validator(whole).validate(sent)


def test_a_member_that_no_record_has_is_refused():
    wrong = answers.ApiAnswer("Wrong", record=answers.Sender, members="id colour")
    with pytest.raises(KeyError):
        wrong.schema()
