"""Receipts through another carrier of the group, with the right recipient; what matches nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import trio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cases import examples
from risala.config.model import DeliverySection
from risala.engine.journal import carriers
from risala.engine.journal.messages import held, messages
from risala.engine.journal.messages.held import UNMATCHED_MAX
from risala.engine.journal.messages.matching import Why, is_for
from risala.engine.model.errors import RecipientOptedOut
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.engine.rules.receiptgroups import Member, ReceiptGroups
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    Inbound,
    Receipt,
    ReceiptState,
    Uncertain,
)
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import octet_reference

PHONE, OTHER = "+22236123456", "+22246999999"
OURS = "+22245000000"


@dataclass(slots=True)
class Bound(FakeDriver):
    """A driver with an account."""

    account: str = "smsc.example risala"

    @property
    def capabilities(self) -> Capabilities:
        return replace(FakeDriver.capabilities.fget(self), account=self.account)


def told(carrier_id: str, recipient: str | None = PHONE, **more) -> Receipt:
    return Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD", recipient=recipient, **more)


@pytest.fixture
def two(carrier):
    """One account, two binds: one that sends, and one that hears."""
    return (carrier("tx"), carrier("rx", priority=1)), {"tx": Bound(), "rx": Bound()}


# -- within a group ----------------------------------------------------------------------------


@pytest.mark.parametrize("early", [False, True])
async def test_a_receipt_comes_through_another_carrier_of_the_account(
    open_house, quick, two, early
):
    carriers, drivers = two
    async with open_house(*carriers, drivers=drivers) as house:
        if early:
            drivers["tx"].hold()
        message = await house.send()
        await drivers["tx"].wait_submitted(1)
        if not early:
            await house.wait_status(message, "sent")
        await drivers["rx"].context.receipt(told("1"))
        if early:
            drivers["tx"].let_go()
        assert await house.wait_status(message, "delivered") == "delivered"
        assert not drivers["rx"].submitted


@pytest.mark.parametrize("how", ["other account", "no account", "other driver"])
async def test_no_other_carrier_brings_it(open_house, quick, carrier, how):
    drivers = {
        "tx": Bound(account="" if how == "no account" else "a"),
        "rx": Bound(account={"no account": "", "other account": "b"}.get(how, "a")),
    }
    other = {"driver": "fake2"} if how == "other driver" else {}
    async with open_house(carrier("tx"), carrier("rx", priority=1, **other), drivers=drivers) as it:
        message = await it.send()
        await it.wait_status(message, "sent")
        await drivers["rx"].context.receipt(told("1"))
        assert it.status(message) == "sent"


async def test_the_setting_makes_a_group_of_carriers_that_share_nothing_else(
    open_house, quick, carrier
):
    drivers = {"one": FakeDriver(), "two": FakeDriver()}
    async with open_house(
        carrier("one", receipt_group="both"),
        carrier("two", receipt_group="both", priority=1),
        drivers=drivers,
    ) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await drivers["two"].context.receipt(told("1"))
        assert house.status(message) == "delivered"


async def test_a_receipt_that_names_the_submit_comes_through_another_carrier_too(
    open_house, quick, two
):
    carriers, drivers = two
    drivers["tx"].always = Uncertain("?")
    async with open_house(*carriers, drivers=drivers) as house:
        for early in (False, True):
            message = await house.send()
            await drivers["tx"].wait_submitted(1 + early)
            segment = drivers["tx"].submitted[-1]
            receipt = told(f"x{early}", reference=segment.submit_reference)
            if not early:
                await trio.sleep(1)
            await drivers["rx"].context.receipt(receipt)
            assert await house.wait_status(message, "delivered") == "delivered"


@pytest.mark.parametrize("cut", [False, True], ids=["whole", "one octet"])
async def test_where_all_have_one_id_recipient_and_reference_tell_which_it_is(
    open_house, quick, cut
):
    """As Osmocom's MSC: every answer has the same id, and receipts have another."""
    driver = FakeDriver()
    driver.always = lambda _: Accepted("0")
    async with open_house(drivers={"fake": driver}) as house:
        messages = [await house.send() for _ in range(3)]
        for message in messages:
            await house.wait_status(message, "sent")
        octets = [octet_reference(one.submit_reference) for one in driver.submitted]
        # References are by chance: hardly ever do all three have the same octet.
        last = driver.submitted[max(n for n in range(3) if octets.count(octets[n]) == 1)]
        reference = octet_reference(last.submit_reference) if cut else last.submit_reference
        await driver.context.receipt(told("77", OTHER, reference=reference))
        await driver.context.receipt(told("78", reference=None))
        assert [house.status(message) for message in messages] == ["sent"] * 3
        await driver.context.receipt(told("79", reference=reference))
        assert await house.wait_status(last.message_id, "delivered") == "delivered"
        assert [house.status(message) for message in messages].count("sent") == 2


async def test_the_first_of_those_with_one_id_has_its_receipt_once_the_second_is_sent(
    open_house, quick
):
    """Its id was its own when the receipt came, which had another."""
    driver = FakeDriver()
    driver.always = lambda _: Accepted("0")
    held_s = DeliverySection(receipts_held_s=60)
    async with open_house(drivers={"fake": driver}, delivery=held_s) as house:
        first = await house.send()
        await house.wait_status(first, "sent")
        reference = driver.submitted[0].submit_reference
        await driver.context.receipt(told("77", reference=reference))
        second = await house.send(to=OTHER)
        await house.wait_status(second, "sent")
        assert await house.wait_status(first, "delivered") == "delivered"
        assert house.status(second) == "sent"
        unmatched = (await house.gateway.perform("carriers.show", {"carrier": "fake"}))["unmatched"]
        assert unmatched == {"total": 0, "waiting": 0, "latest": []}


async def test_an_id_of_its_own_is_not_outdone_by_a_reference(open_house, quick):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        reference = driver.submitted[0].submit_reference
        await driver.context.receipt(told("somebody else's", reference=reference))
        assert house.status(message) == "sent"


@pytest.mark.parametrize("early", [False, True])
async def test_one_octet_of_the_reference_names_a_submit_without_an_answer(
    open_house, quick, early
):
    driver = FakeDriver()
    driver.always = lambda _: Uncertain("no answer")
    async with open_house(drivers={"fake": driver}) as house:
        if early:
            driver.hold()
        message = await house.send()
        await driver.wait_submitted(1)
        reference = octet_reference(driver.submitted[0].submit_reference)
        if not early:
            await trio.sleep(1)
        await driver.context.receipt(told("79", reference=reference))
        if early:
            driver.let_go()
        assert await house.wait_status(message, "delivered") == "delivered"
        assert len(driver.submitted) == 1


async def test_stop_comes_through_another_carrier_of_the_account(open_house, quick, carrier):
    drivers = {"tx": Bound(), "rx": Bound(), "far": FakeDriver()}
    async with open_house(
        carrier("tx"),
        carrier("rx", priority=1, receipt_group="g"),
        carrier("far", priority=2, receipt_group="g"),
        drivers=drivers,
    ) as house:
        mine = {"organization_id": house.principal.organization_id, "heeds": True}
        await house.gateway.perform("inbound.opt_outs", mine)
        await house.wait_status(await house.send(), "sent")

        async def write(name: str, text: str) -> None:
            message = Inbound(PHONE, None, text, 0, (f"{name}{text}{trio.current_time()}",))
            await drivers[name].context.inbound(message)

        # A group of receipts is no account: a SIM's answers are its own.
        await write("far", "STOP")
        await house.send()
        await write("rx", "STOP")
        with pytest.raises(RecipientOptedOut):
            await house.send()
        await write("rx", "START")
        await house.send()


# -- the recipient -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "fits"),
    [
        ((None, None), True),
        ((PHONE, None), True),
        (("36123456", None), True),
        (("+36123456", OURS), True),
        (("0022236123456", None), True),
        ((OURS, PHONE), True),  # the wrong way round
        (("+1234", PHONE), True),
        (("+1234", None), True),  # no whole number: it does not say
        (("RISALA", None), True),
        (("2223612xxxx", None), True),
        ((OTHER, None), False),
        ((OTHER, OURS), False),
        ((None, OTHER), False),
        (("+1234", OTHER), False),
    ],
)
def test_who_a_receipt_is_for(numbers, fits):
    assert is_for(PHONE, *numbers) is fits


async def test_a_receipt_for_another_number_is_no_receipt_of_the_message(open_house, quick):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        await driver.context.receipt(told("1", OTHER))
        assert house.status(message) == "sent"
        await driver.context.receipt(told("1", PHONE.removeprefix("+222")))
        assert house.status(message) == "delivered"


async def test_of_one_id_at_two_binds_the_recipient_tells_which_message_it_is(
    open_house, quick, carrier
):
    """Two binds of an account, each with a counter of its own at the centre."""
    drivers = {"a": Bound(), "b": Bound()}
    async with open_house(
        carrier("a", prefixes=["+2223"]), carrier("b", prefixes=["+2224"]), drivers=drivers
    ) as house:
        one, two = await house.send(to=PHONE), await house.send(to=OTHER)
        for message in (one, two):
            await house.wait_status(message, "sent")
        await drivers["a"].context.receipt(told("1", OTHER))
        assert (house.status(one), house.status(two)) == ("sent", "delivered")


async def test_what_fits_two_messages_fits_none(open_house, quick, carrier):
    drivers = {"a": Bound(), "b": Bound()}
    drivers["a"].always = drivers["b"].always = Accepted("7")
    async with open_house(carrier("a"), carrier("b"), drivers=drivers) as house:
        messages = [await house.send() for _ in range(2)]
        for message in messages:
            await house.wait_status(message, "sent")
        assert {len(driver.submitted) for driver in drivers.values()} == {1}
        await drivers["a"].context.receipt(told("7"))
        await drivers["b"].context.receipt(told("7", None))
        assert [house.status(message) for message in messages] == ["sent"] * 2
        # Nor a third that gets the same id later.
        third = await house.send()
        await house.wait_status(third, "sent")
        await trio.sleep(1)
        assert house.status(third) == "sent"


async def test_an_early_receipt_that_fits_two_messages_fits_none(open_house, quick):
    driver = FakeDriver(always=Accepted("7"))
    async with open_house(drivers={"fake": driver}) as house:
        driver.hold()
        first = await house.send(to=OTHER)
        await driver.wait_submitted(1)
        await driver.context.receipt(told("7", None))
        driver.let_go()
        await house.wait_status(first, "delivered")  # the only one that it fitted
        driver.hold()
        late = [await house.send() for _ in range(2)]
        await driver.wait_submitted(3)
        driver.let_go()
        for message in late:
            await house.wait_status(message, "sent")
        await driver.context.receipt(told("7", PHONE))
        assert [house.status(message) for message in late] == ["sent"] * 2


# -- what matches nothing ----------------------------------------------------------------------


async def test_a_receipt_that_matches_nothing_is_told_counted_and_kept(open_house, quick):
    driver = FakeDriver()
    held_s = DeliverySection(receipts_held_s=100)
    async with open_house(drivers={"fake": driver}, delivery=held_s) as house:
        await house.wait_status(await house.send(), "sent")
        driver.always = Accepted("7")
        for _ in range(2):
            await house.wait_status(await house.send(), "sent")
        await driver.context.receipt(told("unknown", also_known_as=("0unknown", "UNKNOWN2")))
        await driver.context.receipt(told("1", OTHER))
        await driver.context.receipt(told("7"))
        show = house.gateway.perform
        unmatched = (await show("carriers.show", {"carrier": "fake"}))["unmatched"]
        assert unmatched == {"total": 0, "waiting": 3, "latest": []}
        with capture_logs() as logs:
            await trio.sleep(200)
        lines = [
            (entry["carrier"], entry["why"], entry["count"])
            for entry in logs
            if entry["event"] == "receipts.unmatched"
        ]
        assert sorted(lines) == [
            ("fake", "recipient", 1), ("fake", "several", 1), ("fake", "unknown", 1),
        ]  # fmt: skip
        unmatched = (await show("carriers.show", {"carrier": "fake"}))["unmatched"]
        assert (unmatched["total"], unmatched["waiting"]) == (3, 0)
        assert {(each["id"], each["recipient"], each["why"]) for each in unmatched["latest"]} == {
            ("unknown", PHONE, "unknown"), ("1", OTHER, "recipient"), ("7", PHONE, "several"),
        }  # fmt: skip
        page = house.gateway.metrics().decode()
        assert 'risala_carrier_unmatched_receipts_total{carrier="fake"} 3.0' in page


def test_what_is_kept_of_them_has_a_bound_in_number_and_time(book, monkeypatch):
    monkeypatch.setattr(held, "UNMATCHED_MAX", 20)

    def receive(count: int) -> None:
        for n in range(count):
            book.record(told(f"r{n}"))
        now_ms = book.now_ms
        book.unit(lambda conn: held.forget(conn, now_ms + 1, now_ms))

    receive(50)
    assert book.one("SELECT count(*) FROM unmatched_receipts") == 20
    assert held.unmatched_total(book.conn, "mattel") == 50
    assert (
        carriers.unmatched_page(book.conn, 1, carrier="mattel", before=None)[0].carrier_id == "r49"
    )
    book.now_ms += held.UNMATCHED_KEPT_MS + 1
    receive(1)
    assert book.one("SELECT count(*) FROM unmatched_receipts") == 1
    assert held.unmatched_total(book.conn, "mattel") == 51
    assert UNMATCHED_MAX > 20


def test_what_overflows_is_counted_too(book, monkeypatch):
    monkeypatch.setattr(held, "HELD_MAX", 10)
    for n in range(30):
        book.now_ms += 1
        book.record(told(f"r{n}", also_known_as=(f"0x{n}",)))
    left = book.one("SELECT count(DISTINCT carrier_id) FROM held_receipts")
    assert held.unmatched_total(book.conn, "mattel") == 30 - left


# -- any history -------------------------------------------------------------------------------

NAMES = ("a", "b", "c")
GROUPS = ReceiptGroups(
    [Member("a", "smpp", "x"), Member("b", "smpp", "x"), Member("c", "smpp", "y")]
)
ANSWERS = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(["1", "01", "2"]), st.sampled_from([PHONE, OTHER])
)
TOLD = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(["1", "2", "3"]), st.sampled_from([PHONE, OTHER, None])
)


@pytest.mark.slow
@settings(
    max_examples=examples(60),
    deadline=None,
    # Each example opens a journal of its own.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.one_of(ANSWERS.map(lambda it: ("answer", *it)), TOLD.map(lambda it: ("told", *it))),
        max_size=10,
    )
)
@example([("told", "a", "1", OTHER), ("answer", "a", "1", PHONE)])  # early, and another number's
def test_whatever_comes_only_the_one_message_that_fits_is_delivered(open_book, history):
    book = open_book()
    organization_id = book.organization()
    sent: dict[str, tuple[str, str, str]] = {}
    delivered: set[str] = set()
    waiting: list[tuple[str, str, str | None]] = []

    def fits(message_id: str, carrier: str, carrier_id: str, recipient: str | None) -> bool:
        through, name, to = sent[message_id]
        return (
            through in GROUPS.of(carrier)
            and name.lstrip("0") == carrier_id
            and recipient in (None, to)
        )

    def answer(carrier: str, carrier_id: str, to: str) -> None:
        message_id = book.accept(organization_id, recipient=to)
        yes = Decision(
            Step.ADVANCE, SegmentState.ACCEPTED, Line(Kind.PART_ACCEPTED), "OK",
            carrier_id=carrier_id,
        )  # fmt: skip
        book.begin(message_id, 1, carrier)
        book.finish(Attempt(message_id, 1, 1, carrier), yes, groups=GROUPS.of)
        sent[message_id] = (carrier, carrier_id, to)
        for each in [each for each in waiting if fits(message_id, *each)]:
            others = {m for m in sent if m not in delivered | {message_id} and fits(m, *each)}
            if not others:
                waiting.remove(each)
                delivered.add(message_id)

    def tell(carrier: str, carrier_id: str, recipient: str | None) -> None:
        candidates = {m for m in sent if fits(m, carrier, carrier_id, recipient)}
        exact = {m for m in candidates if sent[m][1] == carrier_id} or candidates
        still = exact - delivered
        if len(still) == 1:
            delivered.update(still)
        elif not exact:
            waiting.append((carrier, carrier_id, recipient))
        book.record(told(carrier_id, recipient), carrier, GROUPS.of)

    for kind, *what in history:
        book.now_ms += 1
        (answer if kind == "answer" else tell)(*what)
    for message_id in sent:
        expected = "delivered" if message_id in delivered else "sent"
        assert book.status(message_id) == expected, (history, sent[message_id])
    assert {row[0] for row in book.conn.execute("SELECT DISTINCT why FROM held_receipts")} <= {*Why}
    book.close()


def test_a_receipt_for_a_number_that_was_erased_since_is_known_by_its_id(book):
    message_id, another = (book.accept(book.organization()) for _ in range(2))
    for each, carrier_id in ((message_id, "1"), (another, "2")):
        sent = Line(Kind.SENT)
        yes = Decision(Step.ADVANCE, SegmentState.ACCEPTED, sent, "OK", carrier_id=carrier_id)
        book.begin(each)
        book.finish(Attempt(each, 1, 1, "mattel"), yes)
    key = book.one("SELECT key FROM message WHERE id = ?", message_id)
    book.unit(lambda conn: messages.empty(conn, [key]))
    book.record(told("1"))
    book.record(told("2", OTHER))
    assert [book.status(each) for each in (message_id, another)] == ["delivered", "sent"]
