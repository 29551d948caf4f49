"""A session over a wire in memory, with a fake engine behind it: what is answered, and when."""

import trio
from trio.testing import wait_all_tasks_blocked

from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import (
    BindReceiver,
    BindTransceiverResp,
    BindTransmitter,
    CancelSm,
    DataSm,
    EnquireLink,
    Pdu,
    QuerySm,
    ReplaceSm,
    SubmitMulti,
    SubmitSmResp,
    Unbind,
)
from risala.drivers.smpp.protocol.tlv import MESSAGE_PAYLOAD, SC_INTERFACE_VERSION, Tlv
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import (
    Conflict,
    Draining,
    Forbidden,
    InsufficientBalance,
    Overloaded,
    RateLimited,
    SenderNotApproved,
    StorageFailed,
)
from smpp_peers.house import NOW_MS, Customer, submit, view


async def test_a_bind_is_answered_and_a_submit_becomes_a_message(open_premises):
    premises = open_premises()
    async with premises.customer() as customer:
        answer = await customer.bind()
        assert isinstance(answer, BindTransceiverResp)
        assert (answer.command_status, answer.system_id) == (0, "RISALA")
        assert answer.tlvs == (Tlv(SC_INTERFACE_VERSION, b"\x34"),)
        taken = await customer.ask(submit("Bonjour"))
    assert isinstance(taken, SubmitSmResp)
    assert (taken.command_status, taken.message_id) == (0, "sms_1")
    assert premises.engine.taken[0].body == "Bonjour"
    assert premises.engine.taken[0].to == "+22236123456"
    assert premises.roster.counts.submits == {0: 1}


async def test_no_submit_is_answered_before_it_is_on_the_disk(open_premises):
    premises = open_premises()
    premises.engine.open = trio.Event()
    answers: list[Pdu] = []

    async def ask(customer: Customer) -> None:
        answers.append(await customer.ask(submit()))

    async with premises.customer() as customer, trio.open_nursery() as nursery:
        await customer.bind()
        nursery.start_soon(ask, customer)
        await wait_all_tasks_blocked()
        assert answers == []
        premises.engine.open.set()
    assert [answer.command_status for answer in answers] == [0]


async def test_what_stands_in_line_is_one_unit_of_work_and_keeps_its_order(open_premises):
    premises = open_premises()
    premises.engine.open = trio.Event()
    async with premises.customer() as customer:
        await customer.bind()
        for number in range(30):
            customer.link.post(submit(f"{number}"), lambda _: None)
        await wait_all_tasks_blocked()
        premises.engine.open.set()
        await wait_all_tasks_blocked()
    assert [command.body for command in premises.engine.taken] == [str(n) for n in range(30)]
    assert len(premises.engine.batches) <= 2


async def test_single_submits_of_sessions_of_one_credential_go_by_one_door(open_premises):
    """The gateway takes what one holder sends singly in one turn as one unit."""
    premises = open_premises()
    premises.engine.refusals = {"b": InsufficientBalance()}
    answers: dict[str, Pdu] = {}

    async def ask(customer: Customer, text: str) -> None:
        answers[text] = await customer.ask(submit(text))

    async with premises.customer() as one, premises.customer() as other:
        for each in (one, other):
            await each.bind()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, one, "a")
            nursery.start_soon(ask, other, "b")
        first, second = premises.engine.singles
        assert first is second
        assert (answers["a"].command_status, answers["b"].command_status) == (0, 0x400)
        assert answers["a"].message_id == "sms_1"
        for text in ("c", "d"):
            one.link.post(submit(text), lambda _: None)
        await wait_all_tasks_blocked()
    assert len(premises.engine.singles) == 2
    assert premises.engine.batches[-1] == 2


async def test_a_submit_beyond_the_window_is_throttled_in_its_turn(open_premises):
    premises = open_premises(window_max=3)
    premises.engine.open = trio.Event()
    statuses: list[int] = []
    async with premises.customer() as customer:
        await customer.bind()
        for number in range(5):
            customer.link.post(submit(f"{number}"), lambda r: statuses.append(r.command_status))
        await wait_all_tasks_blocked()
        assert statuses == []
        premises.engine.open.set()
        await wait_all_tasks_blocked()
    assert statuses == [0, 0, 0, 0x58, 0x58]
    assert len(premises.engine.taken) == 3


async def test_software_far_beyond_its_window_is_not_read_until_its_answers_leave(open_premises):
    premises = open_premises(window_max=2)
    premises.engine.open = trio.Event()
    answered: list[str] = []
    async with premises.customer() as customer:
        await customer.bind()

        def ask(request: Pdu) -> None:
            customer.link.post(request, lambda response: answered.append(response.name))

        for _ in range(3):
            ask(submit())
        await wait_all_tasks_blocked()
        ask(EnquireLink())
        await wait_all_tasks_blocked()
        assert answered == ["enquire_link_resp"]  # one decided answer waits: still read
        ask(submit())
        await wait_all_tasks_blocked()
        ask(EnquireLink())
        await wait_all_tasks_blocked()
        assert answered == ["enquire_link_resp"]
        premises.engine.open.set()
        await wait_all_tasks_blocked()
        assert answered[1:5] == ["submit_sm_resp"] * 4
        assert answered[5:] == ["enquire_link_resp"]


async def test_what_is_never_done_is_refused_behind_what_was_asked_before(open_premises):
    premises = open_premises()
    premises.engine.open = trio.Event()
    answered: list[str] = []
    async with premises.customer() as customer:
        await customer.bind()
        for request in (submit(), SubmitMulti(), submit(), ReplaceSm()):
            customer.link.post(request, lambda response: answered.append(response.name))
        await wait_all_tasks_blocked()
        premises.engine.open.set()
        await wait_all_tasks_blocked()
    assert answered == ["submit_sm_resp", "submit_multi_resp", "submit_sm_resp", "replace_sm_resp"]


async def test_each_refusal_of_the_engine_has_its_status(open_premises):
    premises = open_premises()
    expected = {
        "balance": (InsufficientBalance(), 0x400),
        "sender": (SenderNotApproved("X"), 0x0A),
        "rate": (RateLimited("sms", 1, "Too many."), 0x58),
        "day": (RateLimited("day", 3600, "The parts of today are used up."), 0x58),
        "forbidden": (Forbidden("Not active."), 0x45),
    }
    premises.engine.refusals = {text: refusal for text, (refusal, _) in expected.items()}
    async with premises.customer() as customer:
        await customer.bind()
        for text, (_, status) in expected.items():
            assert (await customer.ask(submit(text))).command_status == status
        failing = ((Overloaded(), 0x14), (Draining(), 0x08), (StorageFailed(), 0x08))
        for error, status in failing:
            premises.engine.fails = error
            assert (await customer.ask(submit())).command_status == status
    assert premises.engine.taken == []


async def test_a_refusal_is_told_in_words_to_who_knows_optional_parameters(open_premises):
    premises = open_premises()
    premises.engine.refusals = {"x": InsufficientBalance()}
    async with premises.customer() as customer:
        await customer.bind()
        (tlv,) = (await customer.ask(submit("x"))).tlvs
        assert tlv.tag == 0x1D
        assert "balance" in tlv.text
    async with premises.customer() as old:
        await old.bind(interface_version=0x33)
        assert (await old.ask(submit("x"))).tlvs == ()


async def test_a_receiver_may_not_submit(open_premises):
    async with open_premises().customer() as customer:
        await customer.bind(kind=BindReceiver)
        await customer.stream.send_all(encode(submit(), 7))
        await wait_all_tasks_blocked()
        assert customer.link.session.state.is_bound
    async with open_premises().customer() as customer:
        await customer.bind(kind=BindTransmitter)
        assert (await customer.ask(submit())).command_status == 0


async def test_a_question_about_a_message(open_premises):
    premises = open_premises()
    premises.engine.views = {
        "sms_1": view("delivered", delivered_at=NOW_MS),
        "sms_2": view("failed", error_code="VALIDITY_OVER"),
        "sms_3": view("sent"),
    }
    async with premises.customer() as customer:
        await customer.bind()
        delivered = await customer.ask(QuerySm("sms_1"))
        expired = await customer.ask(QuerySm("sms_2"))
        sent = await customer.ask(QuerySm("sms_3"))
        unknown = await customer.ask(QuerySm("sms_9"))
    assert (delivered.message_id, delivered.message_state) == ("sms_1", 2)
    assert delivered.final_date == "260101000000000+"
    assert (expired.message_state, sent.message_state, sent.final_date) == (3, 1, "")
    assert unknown.command_status == 0x0C


async def test_a_message_is_withdrawn_by_its_sender_alone(open_premises):
    premises = open_premises()
    premises.engine.views = {"sms_1": view("pending")}
    async with premises.customer() as customer:
        await customer.bind()
        assert (await customer.ask(CancelSm(message_id="sms_1"))).command_status == 0
        assert (await customer.ask(CancelSm(message_id="sms_9"))).command_status == 0x0C
        assert (await customer.ask(CancelSm())).command_status == 0x11
        premises.engine.cannot = Conflict("It has left.")
        assert (await customer.ask(CancelSm(message_id="sms_1"))).command_status == 0x11
    ((name, arguments, caller),) = premises.engine.performed
    assert (name, arguments) == ("message.cancel", {"message_id": "sms_1"})
    assert (caller.who, caller.face, caller.organization_id) == (
        "shop (crd_shop)",
        CallerKind.SMPP,
        "org_1",
    )


async def test_what_is_not_done_is_refused(open_premises):
    async with open_premises().customer() as customer:
        await customer.bind()
        assert (await customer.ask(SubmitMulti())).command_status == 0x33
        assert (await customer.ask(ReplaceSm())).command_status == 0x13


async def test_data_sm_is_a_submit(open_premises):
    premises = open_premises()
    async with premises.customer() as customer:
        await customer.bind()
        tlvs = (Tlv(MESSAGE_PAYLOAD, b"Bonjour"),)
        fields = {"dest_addr_ton": 1, "destination_addr": "22236123456", "tlvs": tlvs}
        answer = await customer.ask(DataSm(**fields))
    assert answer.message_id == "sms_1"
    assert premises.engine.taken[0].body == "Bonjour"


async def test_who_does_not_bind_is_disconnected(autojump_clock, open_premises):
    async with open_premises(bind_timeout_s=5).customer() as customer:
        await customer.link.wait_ended()
        assert trio.current_time() <= 6


async def test_a_silent_session_is_unbound_where_the_settings_say_so(autojump_clock, open_premises):
    async with open_premises(inactivity_s=100).customer() as customer:
        await customer.bind()
        await trio.sleep(90)
        await customer.ask(submit())
        await trio.sleep(90)
        assert customer.link.reason is None
        await customer.link.wait_ended()
        assert 190 <= trio.current_time() <= 200


async def test_a_session_that_is_to_leave_answers_what_is_in_line_then_unbinds(open_premises):
    premises = open_premises()
    premises.engine.open = trio.Event()
    statuses: list[int] = []
    async with premises.customer() as customer:
        await customer.bind()
        customer.link.post(submit("before"), lambda r: statuses.append(r.command_status))
        await wait_all_tasks_blocked()
        assert customer.session is not None
        customer.session.leave("the service stops")
        customer.link.post(submit("after"), lambda r: statuses.append(r.command_status))
        await wait_all_tasks_blocked()
        assert statuses == []
        premises.engine.open.set()
        await customer.link.wait_ended()
    assert statuses == [0, 0x08]
    assert [command.body for command in premises.engine.taken] == ["before"]


async def test_an_unbind_is_answered_after_the_submits_before_it(open_premises):
    premises = open_premises()
    premises.engine.open = trio.Event()
    order: list[str] = []
    async with premises.customer() as customer:
        await customer.bind()
        customer.link.post(submit(), lambda answer: order.append(type(answer).__name__))
        customer.link.post(Unbind(), lambda answer: order.append(type(answer).__name__))
        await wait_all_tasks_blocked()
        assert order == []
        premises.engine.open.set()
        await customer.link.wait_ended()
    assert order == ["SubmitSmResp", "UnbindResp"]
