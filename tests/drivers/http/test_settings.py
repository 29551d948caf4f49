"""Faults of a preset and of overrides are sentences; every preset is whole."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from risala.drivers.http.presets import names, preset, table_of
from risala.drivers.http.settings import HttpSettings
from risala.lab.aggregators.table import AGGREGATORS

RIGHT = {"preset": "africastalking", "user": "us", "password": "key-of-the-account"}
OWN = {
    "url": "https://api.example.com/sms",
    "send": {"path": "/send", "fields": {"to": "{to}", "text": "{text}"}},
    "answer": {"id": "/id"},
}


def fault_of(settings: dict) -> str:
    with pytest.raises(ValidationError) as caught:
        HttpSettings.model_validate(settings)
    return "; ".join(each["msg"].removeprefix("Value error, ") for each in caught.value.errors())


@pytest.mark.parametrize("name", names())
def test_every_preset_is_whole_and_is_played(name: str) -> None:
    shape = preset(name)
    assert shape.title
    assert shape.source
    assert shape.read.startswith("20")
    assert shape.needs
    assert name in AGGREGATORS


def test_a_carrier_of_its_own_needs_no_preset() -> None:
    assert HttpSettings.model_validate(OWN).shape.send.path == "/send"


def test_any_field_can_be_overridden_and_the_rest_stays() -> None:
    settings = HttpSettings.model_validate(
        {
            **RIGHT,
            "url": "https://api.sandbox.africastalking.com/",
            "send": {"fields": {"enqueue": "0", "bulkSMSMode": ""}},
            "answer": {"words": {"407": "recipient ABSENT"}, "statuses": {"503": "slow"}},
        }
    )
    shape, file = settings.shape, table_of("africastalking")
    assert shape.url == "https://api.sandbox.africastalking.com"
    fields = {**file["send"]["fields"], "enqueue": "0", "bulkSMSMode": ""}
    assert shape.send.fields == fields
    assert shape.answer.words["407"].cause == "ABSENT"
    assert shape.answer.words["405"].cause == "NO_CREDIT"
    assert shape.answer.statuses["503"].kind == "slow"
    assert shape.answer.statuses["429"].kind == "slow"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"preset": "africa"}, "there is no preset 'africa'; there are africastalking"),
        ({"user": ""}, "the preset needs `user`; add it"),
        ({"url": "ftp://x"}, "must be an address such as https://api.example.com"),
        ({"url": "https://a:b@x"}, "without user, password and #"),
        ({"url": "https://x:99999"}, "must be an address"),
        ({"send": {"pth": "/x"}}, "there is no field `send.pth`; take it away"),
        ({"send": {"path": "x"}}, "`send.path`: begins with one `/`"),
        ({"send": {"fields": {"x": "{toto}"}}}, "`send.fields` has a hole `{toto}` that nothing"),
        ({"send": {"fields": {"x": "{values.x}"}}}, "needs the setting `values.x`"),
        ({"send": {"fields": {"x": "a{"}}}, "has a `{` or `}` that belongs to no hole"),
        ({"send": {"fields": {"to": ""}}}, "`send` does not say where the number and the text go"),
        ({"answer": {"id": ""}}, "`answer.id` is missing"),
        ({"answer": {"id": "a b"}}, "`answer.id`: a source is a pointer such as `/id`"),
        ({"answer": {"id": "match:(("}}, "`answer.id`: the pattern after `match:` is none"),
        ({"answer": {"words": {"1": "maybe"}}}, "a verdict begins with `yes`"),
        ({"answer": {"words": {"1": "final DEAD"}}}, "a cause is a word of"),
        ({"answer": {"words": {"1": "yes BARRED"}}}, "`yes` has no cause"),
        ({"answer": {"statuses": {"40": "slow"}}}, "a status is written as `404` or `4xx`"),
        ({"answer": {"own_id": True}}, "`send` must hold `{id}`"),
        ({"send": {"once": "key"}}, "`send.once` and `send.once_s` belong together"),
        ({"send": {"once": "key", "once_s": 20}}, "`send.once_s` must be more than 45"),
        ({"receipt": {"words": {"x": "GONE"}}}, "a state is one of `ENROUTE`"),
        ({"receipt": {"id": ""}}, "`receipt` needs `id` and `word`"),
        ({"inbound": {"path": "/receipt"}}, "`receipt.path` and `inbound.path` are the same"),
        ({"proof": {"kind": "hmac"}}, "`signing_secret` is missing"),
        ({"proof": {"parts": ["moon"]}}, "`proof.parts` has no `moon`"),
        ({"answer": {"no_id": True}}, "`answer.no_id` is for a carrier without ids"),
        ({"auth": {"kind": "oauth2"}}, "`auth.path` is missing"),
        ({"auth": {"kind": "login", "path": "/x"}}, "`auth` of the kind `login` needs `fields`"),
        ({"auth": {"fields": {"x": "{toto}"}}}, "`auth.fields` has a hole `{toto}`"),
        ({"auth": {"kind": "header", "name": ""}}, "needs `name` and `value`"),
    ],
)
def test_faults_are_sentences(changes: dict, sentence: str) -> None:
    fault = fault_of({**RIGHT, **changes})
    assert sentence in fault
    assert "key-of-the-account" not in fault
