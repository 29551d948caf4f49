"""The driver against the simulator, over real TCP."""

import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.receipt import IdForm
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Mishap, PlannedReceipt, Reaction, SteadyBehaviour
from risala.lab.smsc.receipts import IdStyle
from risala.lab.smsc.simulator import (
    ReceiptSent,
    ReceivedMessage,
    SimulatorConfig,
    SimulatorEvent,
    SmscSimulator,
)
from risala.plugins.contract import (
    Accepted,
    HealthState,
    Outcome,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.alphabet import choose_alphabet
from risala.sms.segment import split

_QUICK = SimulatorConfig(receipt_after_s=0.01, receipt_retry_s=0.01, accounts={"risala": "secret"})


class Scripted(SteadyBehaviour):
    """Reacts to submits by a list, then steadily."""

    def __init__(self, *reactions: Reaction) -> None:
        super().__init__(receipt_after_s=0.01)
        self.reactions = list(reactions)

    def on_submit(self, system_id, request, now_s):
        if self.reactions:
            return self.reactions.pop(0)
        return super().on_submit(system_id, request, now_s)


class Line:
    """A simulator, a driver at it, and what came of both."""

    driver: SmppDriver

    def __init__(self, config: SimulatorConfig, behaviour: SteadyBehaviour | None) -> None:
        self.context = RecordingContext()
        self.messages: list[ReceivedMessage] = []
        self.receipt_taken = trio.Event()
        self.simulator = SmscSimulator(
            config, behaviour=behaviour, on_message=self.messages.append, on_event=self.hear
        )

    def hear(self, event: SimulatorEvent) -> None:
        if isinstance(event, ReceiptSent) and not event.command_status:
            self.receipt_taken.set()


def settings(port: int, **changes) -> SmppSettings:
    values = {
        "host": "127.0.0.1",
        "port": port,
        "system_id": "risala",
        "password": "secret",
        "reconnect_first_s": 0.01,
        "reconnect_max_s": 0.05,
    }
    return SmppSettings(**{**values, **changes})


@asynccontextmanager
async def line(
    config: SimulatorConfig = _QUICK, behaviour: SteadyBehaviour | None = None, **changes
) -> AsyncIterator[Line]:
    it = Line(config, behaviour)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(it.simulator.run)
            it.driver = SmppDriver("smsc", settings(port, **changes), rng=random.Random(1))
            await nursery.start(it.driver.run, it.context)
            await it.context.wait_until(lambda context: len(context.healths) > 1)
            yield it
            nursery.cancel_scope.cancel()


async def test_a_message_is_accepted_received_and_delivered():
    async with line() as it:
        outcome = await it.driver.submit(segment("Bonjour à tous €"))
        assert isinstance(outcome, Accepted)
        (receipt,) = await it.context.wait_receipts(1)
        assert receipt.carrier_id == outcome.carrier_id
        assert receipt.state is ReceiptState.DELIVERED
        assert receipt.recipient == "+22236123456"
        (message,) = it.messages
        assert (message.text, message.segments) == ("Bonjour à tous €", 1)
        assert (message.sender, message.recipient) == ("RISALA", "+22236123456")
        assert message.carrier == "simulator"


@pytest.mark.parametrize("text", ["سلام عليكم " * 19, "x" * 400, "😀" * 120])
async def test_a_long_message_arrives_whole(text):
    text = text[:200] if text.startswith("س") else text
    parts = split(text)
    assert len(parts) >= 3
    async with line() as it:
        for number, part in enumerate(parts, 1):
            one = segment(part, alphabet=choose_alphabet(text), number=number, total=len(parts))
            assert isinstance(await it.driver.submit(one), Accepted)
        await it.context.wait_receipts(len(parts))
        (message,) = it.messages
        assert (message.text, message.segments) == (text, len(parts))


@pytest.mark.parametrize(
    ("command_status", "outcome"),
    [
        (0x58, Throttled),
        (0x14, Throttled),
        (0x08, Scope.NOW),
        (0x0B, Scope.FINAL),
        (0x0A, Scope.CARRIER),
        (0x405, Scope.CARRIER),
        (0x45, Scope.FINAL),
    ],
)
async def test_refusals(command_status, outcome):
    behaviour = Scripted(Reaction(command_status))
    async with line(behaviour=behaviour, status_verdicts={"0x45": "final"}) as it:
        got = await it.driver.submit(segment())
        if isinstance(outcome, Scope):
            assert isinstance(got, Refused)
            assert got.scope is outcome
        else:
            assert isinstance(got, outcome)
        assert isinstance(await it.driver.submit(segment()), Accepted)
        assert len(it.messages) == 1


async def test_above_its_rate_the_simulator_throttles():
    async with line(replace(_QUICK, rate_per_s=2.0), window_max=100) as it:
        outcomes: list[Outcome] = []

        async def submit() -> None:
            outcomes.append(await it.driver.submit(segment()))

        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(submit)
        kinds = Counter(type(outcome) for outcome in outcomes)
        assert kinds[Accepted] >= 2
        assert kinds[Throttled] == 100 - kinds[Accepted] > 0


async def test_a_text_that_cannot_be_carried_is_refused_and_never_raised():
    async with line(default_alphabet="latin1") as it:
        outcome = await it.driver.submit(segment("€" + "x" * 100))
        assert isinstance(outcome, Refused)
        assert outcome.scope is Scope.CARRIER
        outcome = await it.driver.submit(segment("سلام"))  # not in the alphabet it says
        assert isinstance(outcome, Accepted)


@pytest.mark.parametrize(
    ("changes", "word"), [({"password": "wrong"}, "password"), ({"system_id": "who"}, "system_id")]
)
async def test_a_refused_login_is_sick_and_says_what_to_do(changes, word):
    async with line(**changes) as it:
        health = await it.context.wait_health(HealthState.SICK)
        assert word in health.text
        assert "Correct it" in health.text
        assert "wrong" not in repr(it.context.traces).replace("is wrong", "")
        assert isinstance(await it.driver.submit(segment()), Unsent)
        again_s = float(it.context.traces[-1].split()[-2])
        assert 300 <= again_s <= 375


async def test_nobody_listens():
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    context = RecordingContext()
    driver = SmppDriver("smsc", settings(port))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(driver.run, context)
            await context.wait_until(lambda it: len(it.traces) >= 3)
            assert {health.state for health in context.healths} == {HealthState.DOWN}
            assert isinstance(await driver.submit(segment()), Unsent)
            nursery.cancel_scope.cancel()


async def test_a_link_dropped_mid_submit_is_uncertain_and_comes_back():
    receipts = (PlannedReceipt(0.01, ReceiptState.DELIVERED),)
    behaviour = Scripted(Reaction(mishap=Mishap.DROP, receipts=receipts))
    async with line(behaviour=behaviour) as it:
        assert isinstance(await it.driver.submit(segment()), Uncertain)
        await it.context.wait_health(HealthState.DOWN)
        await it.context.wait_health(HealthState.UP)
        assert isinstance(await it.driver.submit(segment()), Accepted)
        await it.context.wait_receipts(2)  # also the one that waited for us


@pytest.mark.slow
async def test_a_submit_without_an_answer_is_uncertain_and_its_late_answer_is_told():
    behaviour = Scripted(Reaction(answer_after_s=1.5))
    async with line(behaviour=behaviour, response_timeout_s=0.5) as it:
        await it.context.wait_health(HealthState.UP)
        asked = segment(message_id="late one")
        assert isinstance(await it.driver.submit(asked), Uncertain)
        await it.context.wait_until(lambda context: bool(context.late))
        ((late_segment, outcome),) = it.context.late
        assert late_segment == asked
        assert isinstance(outcome, Accepted)
        assert it.context.healths[-1].state is HealthState.UP


async def test_receipts_wait_for_an_esme_that_is_away():
    behaviour = Scripted()
    async with line(behaviour=behaviour) as it:
        it.context.gate = trio.Event()  # the disk is slow: the receipt stays unanswered
        await it.driver.submit(segment())
        await it.context.wait_until(lambda context: context.held == 1)
        it.simulator.drop_links()
        await it.context.wait_health(HealthState.DOWN)
        it.context.gate.set()
        it.context.gate = None
        await it.context.wait_health(HealthState.UP)
        await it.context.wait_receipts(1)
        await it.receipt_taken.wait()
        assert it.simulator.receipts_waiting == 0


async def test_a_receipt_that_was_not_stored_is_sent_again():
    async with line() as it:
        it.context.refusals = 2
        await it.driver.submit(segment())
        await it.context.wait_receipts(1)
        assert it.context.refused == 2


@pytest.mark.parametrize("form", IdForm)
async def test_ids_in_every_form_find_each_other(form):
    async with line(replace(_QUICK, id_form=IdStyle(form)), message_id_form=form) as it:
        outcome = await it.driver.submit(segment())
        assert isinstance(outcome, Accepted)
        (receipt,) = await it.context.wait_receipts(1)
        assert outcome.carrier_id in (receipt.carrier_id, *receipt.also_known_as)
        assert (receipt.carrier_id == outcome.carrier_id) == (form is IdForm.SAME)


async def test_a_simulator_that_starts_again_is_found_again_and_repeats_no_id():
    context = RecordingContext()
    first, second = SmscSimulator(_QUICK), None
    ids = []
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as outer:
            async with trio.open_nursery() as nursery:
                port = await nursery.start(first.run)
                driver = SmppDriver("smsc", settings(port), rng=random.Random(1))
                await outer.start(driver.run, context)
                await context.wait_health(HealthState.UP)
                ids.append((await driver.submit(segment())).carrier_id)
                nursery.cancel_scope.cancel()
            await context.wait_health(HealthState.DOWN)
            assert isinstance(await driver.submit(segment()), Unsent)
            second = SmscSimulator(replace(_QUICK, port=port))
            await outer.start(second.run)
            await context.wait_health(HealthState.UP)
            ids.append((await driver.submit(segment())).carrier_id)
            outer.cancel_scope.cancel()
    assert len(set(ids)) == 2


async def test_query_tells_the_state():
    async with line(replace(_QUICK, receipt_after_s=60.0), query=True) as it:
        assert it.driver.capabilities.query
        outcome = await it.driver.submit(segment())
        receipt = await it.driver.query(outcome.carrier_id, sender="RISALA")
        assert receipt.state is ReceiptState.ENROUTE
        assert await it.driver.query("nobody's", sender="RISALA") is None
        assert await it.driver.query(outcome.carrier_id, sender="OTHER") is None
    async with line() as it:
        assert await it.driver.query(outcome.carrier_id, sender="RISALA") is None


async def test_window_of_many_at_once():
    async with line(window_max=50) as it:
        outcomes = []

        async def submit(number: int) -> None:
            outcomes.append(await it.driver.submit(segment(message_id=str(number))))

        async with trio.open_nursery() as nursery:
            for number in range(200):
                nursery.start_soon(submit, number)
        assert len({outcome.carrier_id for outcome in outcomes}) == 200
        await it.context.wait_receipts(200)


async def test_no_secret_and_no_text_in_what_is_told():
    async with line() as it:
        await it.driver.submit(segment("code 9876"))
        await it.context.wait_receipts(1)
        told = (
            f"{it.context.traces} {it.context.healths} {it.context.receipts} {it.driver.settings}"
        )
        assert "secret" not in told
        assert "9876" not in told


def test_settings_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="sytem_type"):
        settings(2775, sytem_type="x")
    with pytest.raises(ValueError, match="status_verdicts"):
        settings(2775, status_verdicts={"throttled": "final"})
