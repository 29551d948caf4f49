"""A carrier's page says whether phones can prove their numbers by it, and if not, why."""

from __future__ import annotations

import pytest

from risala.engine.features.reverse.records import CarrierOrigin, LineFault
from risala.engine.features.reverse.service import ReverseStarting

PAGE = "/operator/carriers/fake"
NUMBER = "+22241000000"


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (
            CarrierOrigin("network", NUMBER, None, calls=True),
            ["the network itself says who sends", "By texts and by missed calls."],
        ),
        (
            CarrierOrigin("trusted", NUMBER, None, calls=False),
            ["because your settings say so", "By texts."],
        ),
        (
            CarrierOrigin("untrusted", NUMBER, LineFault.UNTRUSTED, calls=False),
            ["anybody may write any number", "Set origin to trusted"],
        ),
        (
            CarrierOrigin("network", "", LineFault.NAMELESS, calls=False),
            ["set own_number"],
        ),
        (
            CarrierOrigin("network", NUMBER, LineFault.TAKEN, calls=False),
            ["read for payments"],
        ),
    ],
)
async def test_it_says_what_its_senders_are_worth(operator, monkeypatch, origin, words):
    monkeypatch.setattr(ReverseStarting, "origin", lambda *_: origin)
    page = await operator.get(PAGE)
    assert page.status == 200
    for each in ("Verification by a text or a call", *words):
        assert each in page.text


@pytest.mark.parametrize(
    "origin", [None, CarrierOrigin("untrusted", NUMBER, LineFault.DEAF, calls=False)]
)
async def test_of_one_that_brings_nothing_it_says_nothing(operator, monkeypatch, origin):
    monkeypatch.setattr(ReverseStarting, "origin", lambda *_: origin)
    assert "Verification by a text or a call" not in (await operator.get(PAGE)).text


async def test_of_the_running_one_it_says_what_is(operator):
    page = await operator.get(PAGE)
    assert "Not believed: anybody may write any number." in page.text
