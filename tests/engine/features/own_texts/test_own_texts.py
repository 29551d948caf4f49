"""The operator's own texts: what is sent, what is told, and what is left in the books."""

from dataclasses import dataclass, replace

import pytest
import trio

from risala.engine.features.own_texts.operations import NOT_FETCHED
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.plugins.contract import HealthState
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause
from risala.sms.message import Alphabet
from risala.sms.outcome import Refused, Scope, Throttled, Uncertain, Unsent

ARGUMENTS = {"carrier": "fake", "number": "1234", "text": "BALANCE 604719"}


@pytest.fixture
async def house(open_house, quick):
    async with open_house(drivers={"fake": FakeDriver()}) as house:
        yield house


async def test_it_goes_out_as_it_is_and_nobody_pays(house, quick):
    before = await house.gateway.perform("org.list", {})
    answer = await house.gateway.perform("carriers.text", ARGUMENTS)
    assert answer == {
        "carrier": "fake",
        "outcome": "accepted",
        "carrierId": "1",
        "cause": None,
        "raw": "OK",
        "text": "The carrier has taken it.",
    }
    (sent,) = house.driver.submitted
    assert (sent.recipient, sent.text, sent.sender) == ("1234", ARGUMENTS["text"], "RISALA")
    assert (sent.number, sent.total, sent.alphabet) == (1, 1, Alphabet.GSM7)
    assert sent.message_id.startswith("own_")
    assert await house.gateway.perform("org.list", {}) == before


async def test_the_trail_has_it_without_number_and_text(house, quick):
    await house.gateway.perform("carriers.text", {**ARGUMENTS, "number": "+22236123456"})
    trail = await house.gateway.perform("audit.list", {"operation": "carriers.text"})
    (entry,) = trail["lines"]
    assert entry["subject"] == "fake"
    assert "604719" not in repr(trail)
    assert "36123456" not in repr(trail)


@pytest.mark.parametrize(
    ("outcome", "word", "cause", "text"),
    [
        (
            Refused(Scope.FINAL, "E7", cause=Cause.BARRED),
            "refused",
            "BARRED",
            "This recipient is barred from receiving the message.",
        ),
        (Throttled("SLOW"), "throttled", "THROTTLED", "The carrier asks us to slow down."),
        (Unsent("DOWN", "No link."), "unsent", "LINK_DOWN", "No link."),
        (Uncertain("?"), "uncertain", "NO_ANSWER", ""),
        ("nonsense", "uncertain", "DRIVER_FAULT", ""),
        (1 / 3, "uncertain", "DRIVER_FAULT", ""),
    ],
)
async def test_each_answer_is_told(house, outcome, word, cause, text, quick):
    house.driver.always = outcome
    answer = await house.gateway.perform("carriers.text", ARGUMENTS)
    assert (answer["outcome"], answer["cause"]) == (word, cause)
    assert answer["text"].startswith(text)


async def test_an_answer_that_repeats_the_text_is_not_shown(house, quick):
    house.driver.always = Refused(Scope.FINAL, f"bad: {ARGUMENTS['text']}")
    assert "604719" not in repr(await house.gateway.perform("carriers.text", ARGUMENTS))


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"carrier": "other"}, NotFound, "no carrier 'other'"),
        ({"number": "12"}, Invalid, "short code"),
        ({"number": "+222 36"}, Invalid, "short code"),
        ({"text": ""}, Invalid, "`text`"),
        ({"text": "x" * 1601}, Invalid, "characters"),
        ({"text": "x" * 161}, Invalid, "must fit one SMS"),
    ],
)
async def test_what_is_refused_is_not_sent(house, changes, error, sentence, quick):
    with pytest.raises(error, match=sentence):
        await house.gateway.perform("carriers.text", {**ARGUMENTS, **changes})
    assert not house.driver.submitted


async def test_a_carrier_that_is_down_is_not_tried(house, quick):
    house.driver.set_health(HealthState.DOWN)
    with pytest.raises(Conflict, match="cannot send now: The fake link is down"):
        await house.gateway.perform("carriers.text", ARGUMENTS)
    assert not house.driver.submitted


@dataclass
class Fetching(FakeDriver):
    """A carrier that fetches its texts, or does not, and never says what became of one."""

    has_fetched: bool = False
    left: tuple = ()

    @property
    def capabilities(self):
        can = FakeDriver.capabilities.fget(self)
        return replace(can, fetches=True, remembers_ids_s=86_400.0, same_id_is_safe=True)

    async def submit(self, segment):
        if self.has_fetched:
            self.left = await self.context.fetched([segment])
        try:
            await trio.sleep_forever()
        finally:
            self.submitted.append(segment)


@pytest.mark.parametrize(
    ("has_fetched", "outcome", "text"), [(False, "unsent", NOT_FETCHED), (True, "uncertain", "")]
)
async def test_what_nobody_fetched_is_not_uncertain(open_house, has_fetched, outcome, text, quick):
    driver = Fetching(has_fetched=has_fetched)
    async with open_house(drivers={"fake": driver}) as house:
        answer = await house.gateway.perform("carriers.text", ARGUMENTS)
        assert answer["outcome"] == outcome
        assert answer["text"].startswith(text)
        (segment,) = driver.submitted
        assert driver.left == ((segment,) if has_fetched else ())
        assert await driver.context.fetched([segment]) == (), "it is withdrawn"
