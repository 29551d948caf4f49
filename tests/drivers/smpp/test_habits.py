"""What a carrier's habits turn out to be, and what the driver makes of them."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.habits import Habits
from risala.drivers.smpp.protocol.pdu import DataSm, SubmitSm, SubmitSmResp
from risala.drivers.smpp.protocol.references import (
    CUT_MIN,
    RECEIPTS_MIN,
    ReferenceWatch,
    Repeating,
    Wanted,
)
from risala.drivers.smpp.protocol.tlv import USER_MESSAGE_REFERENCE, find
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Mishap, Reaction, SteadyBehaviour
from risala.lab.smsc.receipts import IdStyle
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import Accepted, HealthState, Refused, Uncertain
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.message import octet_reference
from risala.sms.receipt import Receipt, ReceiptState

# -- the watch ------------------------------------------------------------------------------------


def receipt(carrier_id: str, reference: int | None) -> Receipt:
    return Receipt(carrier_id, ReceiptState.DELIVERED, "stat:DELIVRD", reference=reference)


def watch(wanted: Wanted | bool = Wanted.AUTO) -> ReferenceWatch:
    it = ReferenceWatch(wanted)
    for number in range(RECEIPTS_MIN):
        it.answered(f"0{number:X}", 1000 + number)
    return it


def test_one_receipt_with_the_reference_is_proof():
    it = watch()
    assert it.is_given
    it.receipt(receipt("3", None))
    assert it.state is Repeating.UNKNOWN
    it.receipt(receipt("a", 1010))
    assert it.state is Repeating.REPEATED
    for number in range(RECEIPTS_MIN):
        it.receipt(receipt(f"{number:x}", None))
    assert it.is_given, "one network's habit is not another's"


@pytest.mark.parametrize("reference", [None, 77], ids=["none", "always the same"])
def test_many_receipts_without_it_end_the_attempt(reference):
    it = watch()
    for number in range(RECEIPTS_MIN):
        assert it.is_given
        it.receipt(receipt(f"{number:x}", reference))
    assert it.state is Repeating.NOT_REPEATED
    assert not it.is_given


def test_a_receipt_that_comes_before_its_answer_counts_too():
    it = ReferenceWatch(Wanted.AUTO)
    it.receipt(receipt("00AB", 7))
    it.answered("ab", 7)
    assert it.state is Repeating.REPEATED


def test_receipts_of_others_say_nothing():
    it = watch()
    for number in range(2 * RECEIPTS_MIN):
        it.receipt(receipt(f"f{number:04x}", None))
    assert it.state is Repeating.UNKNOWN


def test_what_the_operator_says_stays():
    given, off = watch(True), watch(False)
    for number in range(RECEIPTS_MIN):
        given.receipt(receipt(f"{number:x}", None))
        off.receipt(receipt(f"{number:x}", 1000 + number))
    assert given.state is Repeating.NOT_REPEATED
    assert given.is_given
    assert off.state is Repeating.OFF
    assert not off.is_given
    assert not given.may_be_why(0xC1)


@pytest.mark.parametrize("version", [0x33, 0x00])
def test_an_smsc_of_3_3_is_given_none_until_it_speaks_more(version):
    it = watch()
    it.bound(version)
    assert not it.is_given
    it.bound(None)
    assert not it.is_given
    it.bound(0x34)
    assert it.is_given


def test_without_receipts_there_is_nothing_to_find_out():
    assert not ReferenceWatch(Wanted.AUTO, has_receipts=False).is_given


# -- the driver -----------------------------------------------------------------------------------


class Seen(SteadyBehaviour):
    """Writes down which submits had a reference, and may have another opinion of them."""

    def __init__(self, react: Callable[[bool, int], Reaction | None] | None = None) -> None:
        super().__init__(receipt_after_s=0.0)
        self.given: list[bool] = []
        self.react = react

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        has_reference = find(request.tlvs, USER_MESSAGE_REFERENCE) is not None
        self.given.append(has_reference)
        other = self.react and self.react(has_reference, len(self.given))
        return other or super().on_submit(system_id, request, now_s)


class Line:
    def __init__(self, driver: SmppDriver, behaviour: Seen) -> None:
        self.context = RecordingContext()
        self.driver = driver
        self.behaviour = behaviour

    @property
    def known(self) -> str:
        return self.context.healths[-1].details["user_message_reference"]

    async def send(self, count: int) -> None:
        for number in range(count):
            one = segment(message_id=f"m{len(self.behaviour.given)}-{number}")
            assert isinstance(await self.driver.submit(one), Accepted)
            await self.context.wait_receipts(len(self.behaviour.given))


@asynccontextmanager
async def line(
    behaviour: Seen | None = None, *, smsc: dict[str, object] | None = None, **changes
) -> AsyncIterator[Line]:
    behaviour = behaviour or Seen()
    config = SimulatorConfig(receipt_retry_s=0.01, **(smsc or {}))
    simulator = SmscSimulator(config, behaviour=behaviour)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(simulator.run)
            values = {"host": "127.0.0.1", "port": port, "system_id": "risala", **changes}
            driver = SmppDriver("smsc", SmppSettings(**values), rng=random.Random(1))
            it = Line(driver, behaviour)
            await nursery.start(driver.run, it.context)
            await it.context.wait_health(HealthState.UP)
            yield it
            nursery.cancel_scope.cancel()


def lost_after(count: int) -> Seen:
    """The answers after the first so many never come: the connection breaks."""
    drop = Reaction(mishap=Mishap.DROP, is_taken=False)
    return Seen(lambda _, number: drop if number > count else None)


async def test_a_carrier_that_repeats_the_reference_is_found_out_and_that_is_said():
    async with line(lost_after(1)) as it:
        assert it.known == "not known yet"
        await it.send(1)
        assert it.known == "repeated in receipts"
        assert any("they tell what became of submits" in text for text in it.context.traces)
        outcome = await it.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        assert "A receipt will tell what became of it" in outcome.text
        assert it.context.receipts[0].reference is not None
        assert it.behaviour.given == [True, True]


async def test_a_carrier_that_does_not_is_given_no_more_of_them():
    """And an answer that is missing says that nothing else will tell."""
    async with line(lost_after(RECEIPTS_MIN), smsc={"repeats_references": False}) as it:
        await it.send(RECEIPTS_MIN)
        assert it.known == "not repeated in receipts"
        outcome = await it.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        assert "No receipt can tell what became of it" in outcome.text
        assert it.behaviour.given == [True] * RECEIPTS_MIN + [False]


@pytest.mark.parametrize("command_status", [0xC1, 0xC0, 0x02])
async def test_a_carrier_that_refuses_it_gets_the_message_without_it(command_status):
    picky = Seen(lambda has, _: Reaction(command_status) if has else None)
    async with line(picky) as it:
        assert isinstance(await it.driver.submit(segment()), Accepted)
        assert it.known == "not taken by the carrier"
        assert isinstance(await it.driver.submit(segment()), Accepted)
        assert picky.given == [True, False, False]


async def test_what_is_refused_for_another_reason_is_not_sent_twice_for_ever():
    async with line(Seen(lambda has, _: Reaction(0xC1))) as it:
        for _ in range(3):
            assert isinstance(await it.driver.submit(segment()), Refused)
        assert it.behaviour.given == [True, False, True, True]
        assert it.known == "not known yet"


async def test_an_smsc_of_3_3_says_at_the_bind_that_it_takes_none():
    async with line(smsc={"interface_version": 0x33}) as it:
        assert it.known == "not taken: the carrier speaks SMPP 3.3"
        await it.send(1)
        assert it.behaviour.given == [False]


async def test_what_an_answer_says_of_congestion_reaches_the_lane_and_the_trace():
    states = [50, 93, 97, 85, 70, 255]
    busy = Seen(lambda _, number: Reaction(congestion_state=states[number - 1]))
    async with line(busy) as it:
        told = [await it.driver.submit(segment(message_id=str(n))) for n in range(len(states))]
        assert [one.load_percent for one in told] == [50, 93, 97, 85, 70, 100]
        news = [text for text in it.context.traces if "congestion_state" in text]
        assert len(news) == 3
        assert "is congested (congestion_state 93)" in news[0]
        assert "is no longer congested (congestion_state 70)" in news[1]


async def test_a_carrier_that_gives_no_ids_is_told_of():
    """Its receipts can be matched to nothing; an empty id tells the engine so."""
    async with line(Seen(), smsc={"id_form": IdStyle.NONE}) as it:
        for _ in range(2):
            assert await it.driver.submit(segment()) == Accepted("", "ESME_ROK")
        attention = it.context.healths[-1].details["attention"]
        assert attention.startswith("The carrier accepts messages without giving an id")
        assert it.context.traces.count(attention) == 1


def test_a_carrier_that_gives_all_the_same_id_is_told_of_and_still_gets_references():
    news: list[str] = []
    habits = Habits(SmppSettings(host="smsc.example", system_id="risala"), news.append)
    for number in range(2 * RECEIPTS_MIN):
        one = segment(message_id=f"m{number}")
        habits.accepted(SubmitSmResp(message_id="0"), one, has_reference=True)
        habits.receipt(receipt("0", one.submit_reference + 1))
    assert habits.details["attention"].startswith("The carrier gives every message the same id")
    assert news == [habits.details["attention"]]
    assert habits.references.is_given
    habits.accepted(SubmitSmResp(message_id="1"), segment(message_id="n"), has_reference=True)
    assert "attention" not in habits.details


def test_parts_of_one_message_may_share_an_id():
    habits = Habits(SmppSettings(host="smsc.example", system_id="risala"), [].append)
    for _ in range(5):
        habits.accepted(SubmitSmResp(message_id="7"), segment(message_id="m"), has_reference=True)
    assert "attention" not in habits.details


def test_references_that_come_back_cut_to_one_octet_are_noticed():
    it = watch()
    for number in range(CUT_MIN):
        it.receipt(receipt(f"{number:x}", octet_reference(1000 + number)))
    assert it.state is Repeating.CUT
    assert it.is_given


async def test_references_of_one_octet_are_given_where_the_setting_says_so():
    async with line(user_message_reference="octet") as it:
        await it.send(5)
        assert it.known == "repeated in receipts"
        references = [one.reference for one in it.context.receipts]
    assert len(references) == 5
    assert all(0 < reference < 256 for reference in references)


async def test_off_is_off():
    async with line(user_message_reference=False) as it:
        await it.send(1)
        assert it.known == "off"
        assert it.behaviour.given == [False]


async def test_a_line_that_asks_for_no_receipts_says_that_it_gives_none():
    driver = SmppDriver("smsc", SmppSettings(host="x", system_id="x", registered_delivery=0))
    assert not driver.capabilities.receipts
    intermediate = SmppSettings(host="x", system_id="x", registered_delivery=0x11)
    assert SmppDriver("smsc", intermediate).capabilities.receipts
