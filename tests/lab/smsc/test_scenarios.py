"""Bad days of a carrier against engine and driver, on real sockets.

What must hold in each is :meth:`Exchange.assert_honest`: no message is lost, doubled without its
timeline saying so, or left in ``processing``.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.engine.model.lines import Kind
from risala.lab.scenario_file import ScenarioError
from risala.lab.smsc.receipts import IdStyle, ReceiptForm
from risala.lab.smsc.scenario import Scenario, load_scenario
from risala.lab.smsc.scenario_behaviour import scenario_simulator
from risala.lab.smsc.simulator import (
    BindRefused,
    Bound,
    InboundSent,
    ReceiptSent,
    Submitted,
    Trouble,
)

pytestmark = pytest.mark.slow
SCENARIOS = sorted((Path(__file__).parents[3] / "examples/scenarios").glob("*.toml"))


def some(values: Iterable[str], few: int) -> list[Any]:
    """All of them; `make test` has the first ``few``. That the driver reads each form of a receipt
    and of an inbound message is also shown octet by octet, in tests/drivers/smpp."""
    return [
        each if place < few else pytest.param(each, marks=pytest.mark.long)
        for place, each in enumerate(values)
    ]


def bodies(count: int) -> list[str]:
    return [f"message {number}" for number in range(count)]


async def test_a_good_day(open_exchange):
    async with open_exchange() as it:
        ids = await it.send(*bodies(20), "long " * 100)
        assert await it.settle(ids) == Counter(delivered=21)
        it.assert_honest(ids)
        assert len(it.messages) == 21


@pytest.mark.parametrize("distribution", some(["uniform", "normal", "exponential"], 1))
async def test_answers_that_take_their_time_and_come_out_of_order(distribution, open_exchange):
    answers = {"distribution": distribution, "mean_s": 0.1, "spread_s": 0.1, "max_s": 0.2}
    async with open_exchange({"answers": answers}) as it:
        ids = await it.send(*bodies(40))
        assert await it.settle(ids) == Counter(delivered=40)
        it.assert_honest(ids)
        assert len(it.messages) == 40


@pytest.mark.long
async def test_throttling_above_a_rate_slows_the_lane_and_lets_it_recover(open_exchange):
    """AIMD: the pace gives way, is to be seen in the statistics, and grows back."""
    async with open_exchange({"throttle": {"rate_per_s": 10}}, carrier={"rate_per_s": 400}) as it:
        ids = await it.send_at_once(*bodies(40))
        await it.wait_until(lambda: it.lane().rate_per_s <= it.lane().rate_max_per_s / 2)
        assert it.lane().throttled > 0
        assert await it.settle(ids) == Counter(delivered=40)
        it.assert_honest(ids)
        assert len(it.messages) == 40
        after = it.lane()
        assert after.throttled < 40, "not every message was throttled: the pace was learnt"
        assert after.refused == 0
        lowest = it.lane().rate_per_s
        await trio.sleep(0.2)
        assert it.lane().rate_per_s > lowest


async def test_a_carrier_that_says_how_busy_it_is_need_not_throttle(open_exchange):
    """Congestion_state (SMPP 5.0): the pace gives way although nothing was refused."""
    congestion = {"rate_per_s": 20}
    async with open_exchange({"congestion": congestion}, carrier={"rate_per_s": 400}) as it:
        ids = await it.send_at_once(*bodies(40))
        assert await it.settle(ids) == Counter(delivered=40)
        slow = it.lane()
        assert slow.throttled == slow.refused == 0
        assert slow.rate_per_s < slow.rate_max_per_s
        assert any("congestion_state" in line.text for line in slow.trace)


async def test_what_a_carrier_adds_to_receipts_is_in_the_trace_once(open_exchange):
    tlvs = {"0x1403": "22201", "additional_status_info_text": "no credit"}
    async with open_exchange({"receipts": {"wait": {"mean_s": 0.01}, "extra_tlvs": tlvs}}) as it:
        ids = await it.send(*bodies(5))
        assert await it.settle(ids) == Counter(delivered=5)
        (line,) = [line.text for line in it.lane().trace if "says more" in line.text]
        assert line.endswith('says more: 0x1403 "22201", additional_status_info_text (10 octets).')


@pytest.mark.long
async def test_queue_full_slows_the_lane_and_keeps_every_place(open_exchange):
    closed = {"every_s": 0.6, "for_s": 0.1, "status": "0x14"}
    async with open_exchange({"closed": closed}, carrier={"rate_per_s": 60}) as it:
        ids = await it.send(*bodies(40))
        assert await it.settle(ids) == Counter(delivered=40)
        it.assert_honest(ids)
        assert it.lane().throttled > 0
        raws = {entry.raw for one in ids for entry in it.gateway.show_message(one)[1]}
        assert "ESME_RMSGQFUL" in raws


async def test_refusals_for_now_are_tried_again(open_exchange):
    async with open_exchange({"refusals": [{"percent": 40, "status": "0x08"}]}) as it:
        ids = await it.send(*bodies(30))
        assert await it.settle(ids) == Counter(delivered=30)
        it.assert_honest(ids)
        assert it.lane().refused > 0


async def test_refusals_for_good_fail_and_are_refunded(open_exchange):
    async with open_exchange({"refusals": [{"percent": 50, "status": "0x0B"}]}) as it:
        before = float(await it.balance())
        ids = await it.send(*bodies(30))
        came = await it.settle(ids)
        it.assert_honest(ids)
        assert came["failed"] > 0
        price = float(it.gateway.show_message(ids[0])[0].price) / 100
        assert before - float(await it.balance()) == pytest.approx(price * came["delivered"])


MISHAPS = [
    "drop",
    *(
        pytest.param(kind, marks=pytest.mark.long)
        for kind in ("never", "half", "garbage", "unbind", "deaf", "wrong_sequence")
    ),
]
IMPATIENT = {"response_timeout_s": 1.0}
"""Of a driver whose carrier leaves something unanswered: nothing would come of waiting longer."""
SUSPICIOUS = {**IMPATIENT, "enquire_link_s": 0.5}
"""Of one whose carrier may hear nothing any more."""


def driver_for(kind: str) -> dict[str, float]:
    return {"window_max": 4, **(SUSPICIOUS if kind == "deaf" else IMPATIENT)}


@pytest.mark.parametrize("taken", [True, False], ids=["taken", "not_taken"])
@pytest.mark.parametrize("kind", MISHAPS)
async def test_an_answer_that_never_came(kind, taken, open_exchange):
    """``resend``: everything arrives; what had arrived already arrives twice, and says so."""
    mishap = {"kind": kind, "every": 6, "first": 3, "taken": taken}
    async with open_exchange({"mishaps": [mishap]}, driver=driver_for(kind)) as it:
        ids = await it.send(*bodies(20))
        assert await it.settle(ids) == Counter(delivered=20)
        it.assert_honest(ids)
        assert it.lane().uncertain >= 3
        if taken:
            assert len(it.messages) >= 23


@pytest.mark.parametrize("kind", MISHAPS)
async def test_an_answer_that_never_came_and_is_not_sent_again(kind, open_exchange):
    """``fail``: refunded, and the timeline says that it may have been delivered."""
    policy = {"action": "fail", "after_s": 0.3}
    mishap = {"kind": kind, "every": 6, "first": 3}
    async with open_exchange(
        {"mishaps": [mishap]},
        driver=driver_for(kind),
        carrier={"on_uncertain_message": policy},
    ) as it:
        ids = await it.send(*bodies(20))
        came = await it.settle(ids)
        it.assert_honest(ids)
        assert came["failed"] >= 3
        assert max(Counter(message.text for message in it.messages).values()) == 1
        row = next(it.gateway.show_message(one)[0] for one in ids if it.status(one) == "failed")
        assert row.error_code == "UNCERTAIN"


@pytest.mark.parametrize(
    ("early_percent", "wanted"),
    [
        pytest.param(0, True, id="after-wanted"),
        pytest.param(100, "auto", id="before-auto"),
        pytest.param(100, True, id="before-wanted", marks=pytest.mark.long),
        pytest.param(0, "auto", id="after-auto", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("kind", MISHAPS)
async def test_a_receipt_tells_what_an_answer_that_never_came_would_have(
    kind, early_percent, wanted, open_exchange
):
    """With ``user_message_reference`` nothing is sent twice, whatever the policy would do."""
    mishap = {"kind": kind, "every": 6, "first": 3}
    receipts = {"wait": {"mean_s": 0.05}, "early_percent": early_percent}
    async with open_exchange(
        {"mishaps": [mishap], "receipts": receipts},
        driver={**driver_for(kind), "user_message_reference": wanted},
        carrier={"on_uncertain_message": {"action": "resend", "after_s": 5}},
    ) as it:
        ids = await it.send(*bodies(20), "long " * 100)
        assert await it.settle(ids) == Counter(delivered=21)
        it.assert_honest(ids)
        assert it.lane().uncertain >= 3
        assert len(it.messages) == 21
        entries = (entry for one in ids for entry in it.gateway.show_message(one)[1])
        assert Counter(entry.line.kind for entry in entries)[Kind.TAKEN_BY_RECEIPT] >= 3


async def test_a_late_answer_settles_what_was_uncertain(open_exchange):
    slow = {"distribution": "uniform", "mean_s": 0.3, "spread_s": 0.1}
    policy = {"action": "fail", "after_s": 600}
    async with open_exchange(
        {"answers": slow},
        driver={"response_timeout_s": 0.3},
        carrier={"on_uncertain_message": policy},
    ) as it:
        ids = await it.send(*bodies(20))
        assert await it.settle(ids) == Counter(delivered=20)
        it.assert_honest(ids)
        assert 0 < it.lane().late <= it.lane().uncertain
        assert len(it.messages) == 20


async def test_answers_that_come_twice_change_nothing(open_exchange):
    async with open_exchange({"mishaps": [{"kind": "twice"}]}) as it:
        ids = await it.send(*bodies(20))
        assert await it.settle(ids) == Counter(delivered=20)
        it.assert_honest(ids)
        assert len(it.messages) == 20
        assert any("answers nothing" in line.text for line in it.lane().trace)


async def test_a_nack_without_a_reason_is_a_refusal(open_exchange):
    async with open_exchange({"mishaps": [{"kind": "nack", "every": 3, "taken": False}]}) as it:
        ids = await it.send(*bodies(12))
        came = await it.settle(ids)
        it.assert_honest(ids)
        assert came == Counter(delivered=8, failed=4)


async def test_octets_in_pieces(open_exchange):
    async with open_exchange({"smsc": {"piece_octets": 3}}) as it:
        ids = await it.send(*bodies(10))
        assert await it.settle(ids) == Counter(delivered=10)
        it.assert_honest(ids)


async def test_refused_and_unanswered_binds(open_exchange):
    binds = {"refuse": ["0x0D", "0x0E", "0x05", "0x08"], "never": 1}
    async with open_exchange({"binds": binds}, driver=IMPATIENT) as it:
        ids = await it.send(*bodies(5))
        assert await it.settle(ids) == Counter(delivered=5)
        it.assert_honest(ids)
        statuses = [event.command_status for event in it.of(BindRefused)]
        assert statuses == [0x0D, 0x0E, 0x05, 0x08, None]
        assert any("password" in line.text for line in it.lane().trace)


# -- receipts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", some(ReceiptForm, 2))
async def test_every_layout_of_a_receipt(form, open_exchange):
    async with open_exchange({"receipts": {"wait": {"mean_s": 0.01}, "forms": [form]}}) as it:
        ids = await it.send("one", "two " * 60)
        assert await it.settle(ids) == Counter(delivered=2)
        it.assert_honest(ids)


# Where ids tell nothing, references do: test_community.
ID_STYLES = [style for style in IdStyle if style not in (IdStyle.NONE, IdStyle.ONE_FOR_ALL)]


@pytest.mark.parametrize("style", some(ID_STYLES, 2))
@pytest.mark.parametrize("form", [ReceiptForm.STANDARD, ReceiptForm.TEXT_ONLY])
async def test_every_form_of_an_id(style, form, open_exchange):
    wanted = style if style.startswith("resp_") else "same"
    scenario = {
        "smsc": {"id_form": style},
        "receipts": {"wait": {"mean_s": 0.01}, "forms": [form]},
    }
    async with open_exchange(scenario, driver={"message_id_form": wanted}) as it:
        ids = await it.send("one", "two")
        assert await it.settle(ids) == Counter(delivered=2)
        it.assert_honest(ids)


async def test_receipts_that_match_nothing_because_of_a_setting_say_which_one(open_exchange):
    scenario = {"smsc": {"id_form": "resp_hex_receipt_dec"}}
    async with open_exchange(scenario) as it:
        ids = await it.send(*bodies(10))
        await it.settle(ids, "sent")
        await it.wait_until(lambda: "resp_hex_receipt_dec" in it.lane().text)
        assert it.lane().state == "up"
        it.assert_honest(ids)


async def test_receipts_before_the_answer_twice_late_and_out_of_order(open_exchange):
    receipts = {
        "wait": {"distribution": "exponential", "mean_s": 0.1},
        "early_percent": 40,
        "twice_percent": 40,
        "enroute_percent": 40,
    }
    async with open_exchange({"receipts": receipts}) as it:
        ids = await it.send(*bodies(30), "long " * 100)
        assert await it.settle(ids) == Counter(delivered=31)
        it.assert_honest(ids)
        assert len(it.messages) == 31


async def test_bad_news_in_receipts(open_exchange):
    receipts = {"wait": {"mean_s": 0.01}, "states": {"DELIVERED": 50, "UNDELIVERABLE": 50}}
    async with open_exchange({"receipts": receipts}) as it:
        ids = await it.send(*bodies(20))
        came = await it.settle(ids)
        assert came["delivered"] + came["undelivered"] == 20
        assert came["undelivered"] > 0
        it.assert_honest(ids)


async def test_lost_receipts_leave_messages_sent(open_exchange):
    async with open_exchange({"receipts": {"lost_percent": 100}}) as it:
        ids = await it.send(*bodies(10))
        assert await it.settle(ids, "sent") == Counter(sent=10)
        it.assert_honest(ids)


async def test_lost_receipts_are_asked_for_where_the_carrier_can_be_asked(
    open_exchange, monkeypatch
):
    monkeypatch.setattr("risala.engine.delivery.worker.awaited.ASK_AFTER_S", (0.2, 0.4, 0.6))
    receipts = {"lost_percent": 100, "wait": {"mean_s": 0.3}}
    async with open_exchange({"receipts": receipts}, driver={"query": True}) as it:
        ids = await it.send(*bodies(5), "long " * 100)
        assert await it.settle(ids) == Counter(delivered=6)
        it.assert_honest(ids)
        assert it.of(ReceiptSent) == []


async def test_receipts_wait_while_the_link_is_down(open_exchange):
    async with open_exchange({"receipts": {"wait": {"mean_s": 0.3}}}) as it:
        ids = await it.send(*bodies(10))
        await it.settle(ids, "sent", "delivered")  # a slow machine may be that far
        it.simulator.drop_links()
        assert await it.settle(ids) == Counter(delivered=10)
        await it.wait_until(lambda: len(it.of(Bound)) >= 2)
        # Our receiver writes a receipt down before it answers: the simulator hears of that later.
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        assert {event.command_status for event in it.of(ReceiptSent)} == {0}
        it.assert_honest(ids)


# -- inbound -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", some(["udh8", "sar", "udh16", "payload", "data_sm"], 2))
async def test_inbound_messages_in_every_form(form, open_exchange):
    texts = ["Bonjour à tous €", "x" * 400, "سلام عليكم " * 20, "😀" * 80]
    inbound = {
        "rate_per_s": 200,
        "messages_max": 12,
        "texts": texts,
        "forms": [form],
        "shuffle": True,
        "twice_percent": 30,
        "senders": ["+22236123456", "+22246123456"],
    }
    async with open_exchange({"inbound": inbound}) as it:
        await it.wait_until(lambda: len(it.inbound_texts()) >= 12)
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        assert sorted(it.inbound_texts()) == sorted(it.simulator.phones.texts)
        assert {event.command_status for event in it.of(InboundSent)} == {0}


async def test_inbound_messages_from_a_carrier_that_sends_one_at_a_time(open_exchange):
    inbound = {"rate_per_s": 200, "messages_max": 2, "texts": ["y" * 300]}
    scenario = {"inbound": inbound, "smsc": {"deliver_window_max": 1}}
    async with open_exchange(scenario) as it:
        await it.wait_until(lambda: len(it.inbound_texts()) == 2)
        assert it.inbound_texts() == ["y" * 300] * 2


async def test_a_part_that_was_answered_outlives_a_restart(open_exchange):
    """The other one comes days later, to another run of the service."""
    first, second = inbound_pdus("y" * 300, "+22236123456", "1234", 7)
    async with open_exchange() as it:
        await it.wait_until(lambda: it.simulator.bound == 1)
        it.simulator.deliver(second)
        await it.wait_until(lambda: len(it.of(InboundSent)) == 1)
        assert it.inbound_texts() == []
    async with open_exchange() as it:
        await it.wait_until(lambda: it.simulator.bound == 1)
        it.simulator.deliver(first)
        await it.wait_until(lambda: len(it.inbound_texts()) == 1)
        assert it.inbound_texts() == ["y" * 300]
    async with open_exchange() as it:
        await it.wait_until(lambda: it.simulator.bound == 1)
        it.simulator.deliver(first, second)  # the carrier missed our answers
        await it.wait_until(lambda: len(it.of(InboundSent)) == 2)
        assert it.inbound_texts() == ["y" * 300]


async def test_traffic_both_ways_while_links_drop(open_exchange):
    inbound = {"rate_per_s": 100, "messages_max": 30, "texts": ["in " * 100, "in"]}
    mishaps = [{"kind": "drop", "every": 15, "first": 4}]
    async with open_exchange({"inbound": inbound, "mishaps": mishaps}) as it:
        ids = await it.send(*bodies(60))
        assert await it.settle(ids) == Counter(delivered=60)
        await it.wait_until(lambda: it.simulator.receipts_waiting == 0)
        it.assert_honest(ids)
        # An answer that a broken link lost brings a message again: SMPP gives it no name.
        assert set(it.inbound_texts()) == set(it.simulator.phones.texts)
        assert len(it.inbound_texts()) >= 30


# -- the files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
@pytest.mark.long
async def test_each_example_does_what_it_says(path, open_exchange):
    scenario = load_scenario(path)
    assert scenario.title
    table = scenario.model_dump()
    wanted = table["smsc"]["id_form"]
    driver = {
        "message_id_form": wanted if wanted.startswith("resp_") else "same",
        "response_timeout_s": 1.0,
        "enquire_link_s": 0.5,
    }
    async with open_exchange(table, driver=driver, carrier={"rate_per_s": 100}) as it:
        ids = await it.send(*bodies(40))
        await it.settle(ids, "sent", *("delivered", "undelivered", "failed"))
        it.assert_honest(ids)
        assert len(it.of(Submitted)) >= 40
        told = [event for event in it.events if isinstance(event, Trouble)]
        assert not [event for event in told if "too late" in event.text]


def test_there_are_examples():
    assert len(SCENARIOS) >= 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[smsc\n", "is not TOML"),
        ("[mood]\n", "mood"),
        ('[[mishaps]]\nkind = "explode"\n', "mishaps.0.kind"),
        ("[answers]\nmean_s = -1\n", "answers.mean_s"),
    ],
)
def test_a_file_that_is_no_scenario_says_where(text, said, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=said):
        load_scenario(path)
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")


def test_two_runs_of_a_scenario_are_the_same():
    def run() -> list[object]:
        mishaps = [{"kind": "drop", "percent": 30}]
        scenario = Scenario.model_validate({"mishaps": mishaps, "answers": {"spread_s": 1}})
        behaviour = scenario_simulator(scenario).behaviour
        return [behaviour.on_submit("x", None, float(n)) for n in range(50)]

    assert run() == run()
