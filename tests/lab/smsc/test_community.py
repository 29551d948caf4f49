"""What community networks do that carriers rarely do, against engine and driver, on real sockets.

Seen at Osmocom's MSC, or known of small SMSCs.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.drivers.smpp.protocol.pdu import AlertNotification, DeliverSm
from risala.engine.journal.webhooks import outbox
from risala.engine.model.lines import Kind
from risala.engine.wiring.foundation import DATABASE
from risala.lab.smsc.simulator import Bound, InboundSent, ReceiptSent, Submitted, Trouble

pytestmark = pytest.mark.slow
# Of 1 to 255: a reference whose low octet is 0 names nothing, and ids are random.
WITH_REFERENCES = {"user_message_reference": "octet"}
QUICK_RECEIPTS = {"wait": {"mean_s": 0.01}}
SLOW_RETRIES = {"retry": {"first_wait_s": 600, "wait_max_s": 600}}


async def test_transaction_mode_an_accepted_message_is_delivered(open_exchange):
    scenario = {"receipts": {"wait": {"mean_s": 0.05}}}
    async with open_exchange(scenario, driver={"transaction_mode": True}) as it:
        ids = await it.send("short", "long " * 100)
        assert await it.settle(ids) == Counter(delivered=2)
        it.assert_honest(ids)
        assert not it.of(ReceiptSent)
        assert {one.registered_delivery for one in it.of(Submitted)} == {0}
        told = " ".join(it.timeline(ids[0]))
        assert "gave no id" not in told
        assert "Delivered" in told


async def test_transaction_mode_a_phone_that_is_off_is_tried_again(open_exchange):
    states = {"UNDELIVERABLE": 50, "DELIVERED": 50}
    scenario = {"receipts": {**QUICK_RECEIPTS, "states": states}}
    async with open_exchange(scenario, driver={"transaction_mode": True}) as it:
        ids = await it.send(*(f"message {number}" for number in range(8)))
        assert await it.settle(ids) == Counter(delivered=8)
        it.assert_honest(ids)
        told = " ".join(" ".join(it.timeline(one)) for one in ids)
        assert "ESME_RDELIVERYFAILURE" in " ".join(
            entry.raw or "" for one in ids for entry in it.gateway.show_message(one)[1]
        )
        assert "switched off or out of reach" in told


async def test_one_id_for_all_and_cut_references(open_exchange):
    smsc = {"id_form": "one_for_all", "cuts_references": True}
    async with open_exchange({"smsc": smsc}, driver=WITH_REFERENCES) as it:
        # That an id is shared shows with the second message: the first may stay as it is. They go
        # to another number, where no octet of theirs can be that of a later message.
        first = await it.send("first", "second", to="+22246999999")
        await it.settle(first, "sent", "delivered")
        ids = []
        for number in range(4):  # one after the other: two octets of one number may be the same
            ids += await it.send(f"message {number}")
            assert await it.settle(ids[-1:]) == Counter(delivered=1)
        it.assert_honest(ids)
        assert len({one.message_id for one in it.of(Submitted)}) == 1
        assert "same id" in it.driver._habits.details["attention"]


async def test_an_answer_that_was_lost_is_told_by_a_receipt_with_a_cut_reference(open_exchange):
    smsc = {"id_form": "one_for_all", "cuts_references": True}
    mishaps = [{"kind": "never", "first": 1}]
    scenario = {"smsc": smsc, "mishaps": mishaps}
    waits = {"on_uncertain_message": {"action": "resend", "after_s": 600}}
    driver = {**WITH_REFERENCES, "response_timeout_s": 0.2}
    async with open_exchange(scenario, driver=driver, carrier=waits) as it:
        ids = await it.send("only once")
        assert await it.settle(ids) == Counter(delivered=1)
        assert len(it.messages) == 1


@pytest.mark.parametrize("answer", ["transmitter", "receiver", "transceiver"])
async def test_a_bind_that_is_answered_by_another_binds_response(answer, open_exchange):
    smsc = {"bind_answered_as": answer}
    driver = {"bind": "transmitter_receiver"}
    async with open_exchange({"smsc": smsc}, driver=driver) as it:
        ids = await it.send("one", "two")
        assert await it.settle(ids) == Counter(delivered=2)


async def test_the_last_bind_alone_gets_what_comes(open_exchange):
    async with open_exchange({"smsc": {"delivers_to_last": True}}, driver={"links": 3}) as it:
        await it.wait_until(lambda: len(it.of(Bound)) == 3)
        ids = await it.send(*(f"message {number}" for number in range(6)))
        assert await it.settle(ids) == Counter(delivered=6)
        it.simulator.deliver(*inbound_pdus("Hello", "+22236123456", "1234", 1))
        await it.wait_until(lambda: it.inbound_texts() == ["Hello"])


async def test_a_deaf_bind_is_bound_again(open_exchange):
    """It answers all that it is asked, and brings nothing until it is bound again."""
    driver = {"quiet_s": 0.5, "enquire_link_s": 0.1}
    async with open_exchange({"smsc": {"deaf_binds": 1}}, driver=driver) as it:
        ids = await it.send("one", "two")
        assert await it.settle(ids) == Counter(delivered=2)
        it.assert_honest(ids)
        assert len(it.of(Bound)) >= 2
        assert "binding again" in " ".join(line.text for line in it.lane().trace)


async def test_silence_for_unknown_and_expired(open_exchange):
    smsc = {"silent_states": ["UNKNOWN", "EXPIRED"]}
    states = {"UNKNOWN": 40, "EXPIRED": 30, "DELIVERED": 30}
    scenario = {"smsc": smsc, "receipts": {**QUICK_RECEIPTS, "states": states}}
    async with open_exchange(scenario) as it:
        ids = await it.send(*(f"message {number}" for number in range(12)))
        came = await it.settle(ids, "sent", "delivered")
        it.assert_honest(ids)
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        told = it.of(ReceiptSent)
        assert {one.state for one in told} == {"DELIVERED"}
        assert came["sent"] >= 12 - len(told)


async def test_a_message_is_delivered_after_its_validity(open_exchange):
    """The receipt comes when the message would long be EXPIRED: it counts as it comes."""
    smsc = {"ignores_validity": True, "hold_s": 1.5}
    async with open_exchange({"smsc": smsc}) as it:
        ids = await it.send("late", validity_s=1)
        assert await it.settle(ids) == Counter(delivered=1)
        (submit,) = it.of(Submitted)
        assert submit.validity_period


async def test_receipts_of_no_alphabet(open_exchange):
    scenario = {"receipts": {**QUICK_RECEIPTS, "forms": ["binary"]}}
    async with open_exchange(scenario) as it:
        ids = await it.send("one", "two")
        assert await it.settle(ids) == Counter(delivered=2)
        assert not it.inbound_texts()


REACHED = "The carrier says that the phone can be reached again."


async def test_a_phone_that_is_back_is_told_of_in_what_waits_for_it(open_exchange):
    """As Osmocom's MSC says it: a local number of a type that tells nothing, again and again."""
    scenario = {"receipts": {"wait": {"mean_s": 600}}}
    async with open_exchange(scenario) as it:
        ids = await it.send("one", "long " * 100)
        await it.settle(ids, "sent")
        for number in ("22236123456", "36123456", "36999999"):
            assert it.simulator.alert(AlertNotification(3, 1, number))
        for one in ids:
            await it.wait_until(lambda one=one: REACHED in it.timeline(one))
        await it.wait_until(lambda: "36999999" in " ".join(line.text for line in it.lane().trace))
        assert [it.timeline(one)[-1] for one in ids] == [REACHED] * 2
        assert [it.timeline(one).count(REACHED) for one in ids] == [1, 1]
        assert {it.status(one) for one in ids} == {"sent"}


async def test_a_phone_that_is_back_moves_no_message_that_waits_for_its_next_attempt(open_exchange):
    states = {"UNDELIVERABLE": 1}
    scenario = {"receipts": {**QUICK_RECEIPTS, "states": states}}
    driver = {"transaction_mode": True}
    async with open_exchange(scenario, driver=driver, delivery=SLOW_RETRIES) as it:
        ids = await it.send("when you are back")
        await it.wait_until(lambda: "switched off" in " ".join(it.timeline(ids[0])))
        assert it.simulator.alert(AlertNotification(1, 1, "22236123456"))
        await it.wait_until(lambda: REACHED in it.timeline(ids[0]))
        assert it.status(ids[0]) == "pending"
        assert len(it.of(Submitted)) == 1


IMPATIENT = {"response_timeout_s": 0.2, "receipt_retry_s": 0.05}
"""As Osmocom's MSC, which waits 5 s for the answer to a ``deliver_sm``."""


async def test_a_deliver_sm_is_answered_within_the_carriers_patience(open_exchange):
    patience_s = 5.0
    async with open_exchange({"smsc": {"response_timeout_s": patience_s}}) as it:
        ids = await it.send(*(f"message {number}" for number in range(20)))
        it.simulator.deliver(*inbound_pdus("Hello", "+22236123456", "1234", 1))
        assert await it.settle(ids) == Counter(delivered=20)
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        assert len(it.of(ReceiptSent)) == 20
        assert not it.of(Trouble)


async def test_what_comes_again_because_the_storage_was_slow_counts_once(
    open_exchange, tmp_path, monkeypatch
):
    """The carrier takes it as not delivered, brings it again and again, and hears of it late.

    How soon the same is a copy is told with a clock that stands still, at the driver's inbox: here,
    where a busy machine reads late what was sent in time, each is one.
    """
    monkeypatch.setattr("risala.drivers.smpp.copies.AGAIN_S", 0.0)
    monkeypatch.setattr("risala.drivers.smpp.copies.CROSSING_S", 600.0)
    scenario = {"smsc": IMPATIENT, "receipts": {**QUICK_RECEIPTS, "lost_percent": 100}}
    async with open_exchange(scenario) as it:
        came = deliveries_of(it.driver, monkeypatch)
        ids = await it.send("one", "two")
        await it.settle(ids, "sent")
        receipts = [f"id:{one.message_id} stat:DELIVRD".encode() for one in it.of(Submitted)]
        with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            it.simulator.deliver(*inbound_pdus("Hello", "+22236123456", "1234", 1))
            for text in receipts:
                it.simulator.deliver(DeliverSm(esm_class=4, short_message=text))
            await it.wait_until(lambda: came["Hello"] >= 3 and came["stat"] >= 4)
            other.execute("ROLLBACK")
        assert await it.settle(ids) == Counter(delivered=2)
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        assert it.inbound_texts() == ["Hello"]
        assert {one.command_status for one in it.of(InboundSent)[-1:]} == {0}
        assert any("too late" in one.text for one in it.of(Trouble))
        for one in ids:
            kinds = Counter(entry.line.kind for entry in it.gateway.show_message(one)[1])
            assert kinds[Kind.DELIVERED] == 1
            assert not {Kind.RECEIPT_CONTRADICTS, Kind.RECEIPT_LATE} & set(kinds)
        reader = it.gateway.services.repositories._store.reader
        told = Counter(json.loads(one.body)["type"] for one in outbox.after(reader, 0, 100))
        assert told["sms.delivered"] == 2


def deliveries_of(driver, monkeypatch) -> Counter[str]:
    """How often each came to the driver, by a word of its text."""
    came: Counter[str] = Counter()
    take = driver.on_request

    def on_request(link, request):
        text = getattr(request, "short_message", b"")
        came.update(word for word in ("Hello", "stat") if word.encode() in text)
        take(link, request)

    monkeypatch.setattr(driver, "on_request", on_request)
    return came
