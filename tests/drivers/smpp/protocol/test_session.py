"""Both roles driven against each other, with nothing between them but octets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import sweep
from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.destinations import Destination
from risala.drivers.smpp.protocol.pdu import (
    AlertNotification,
    BindReceiver,
    BindTransceiver,
    BindTransceiverResp,
    BindTransmitter,
    CancelSm,
    DataSm,
    DeliverSm,
    DeliverSmResp,
    EnquireLink,
    EnquireLinkResp,
    GenericNack,
    Outbind,
    QuerySm,
    QuerySmResp,
    ReplaceSm,
    SubmitMulti,
    SubmitMultiResp,
    SubmitSm,
    SubmitSmResp,
    Unbind,
    UnbindResp,
    response_to,
)
from risala.drivers.smpp.protocol.session import (
    LATE_MAX,
    SEQUENCE_MAX,
    Answered,
    AnsweredLate,
    AnsweredNothing,
    BindState,
    LocalProtocolError,
    Requested,
    SmppRole,
    SmppSession,
    Violated,
)
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.plugins.testing.wire import WirePair, same_however_cut

_BINDS = {
    BindTransmitter: BindState.BOUND_TX,
    BindReceiver: BindState.BOUND_RX,
    BindTransceiver: BindState.BOUND_TRX,
}


class Pair(WirePair):
    def __init__(self) -> None:
        self.esme = SmppSession(SmppRole.ESME)
        self.smsc = SmppSession(SmppRole.SMSC)
        super().__init__(self.esme, self.smsc)

    def ask(self, request, *, by_smsc=False, token=None, **answer):
        """A request there and its answer back; returns the answer's event."""
        asker, answerer = (self.smsc, self.esme) if by_smsc else (self.esme, self.smsc)
        there, back = (self.to_a, self.to_b) if by_smsc else (self.to_b, self.to_a)
        (requested,) = there(asker.send(request, token))
        assert isinstance(requested, Requested)
        response = response_to(request, answer.get("command_status", 0))
        (answered,) = back(answerer.respond(requested.request, response))
        return answered


def bound(kind=BindTransceiver) -> Pair:
    pair = Pair()
    pair.ask(kind("risala", "secret"))
    return pair


@pytest.mark.parametrize("kind", _BINDS)
def test_a_bind_binds_both_ends_alike(kind):
    pair = Pair()
    answered = pair.ask(kind("risala"), token="mine")
    assert isinstance(answered, Answered)
    assert answered.token == "mine"
    assert pair.esme.state is pair.smsc.state is _BINDS[kind]


@pytest.mark.parametrize("kind", _BINDS)
def test_a_refused_bind_leaves_both_open(kind):
    pair = Pair()
    pair.ask(kind("risala"), command_status=0x0E)
    assert pair.esme.state is pair.smsc.state is BindState.OPEN


def test_a_bind_answered_by_generic_nack_is_no_bind():
    esme = SmppSession(SmppRole.ESME)
    esme.send(BindTransceiver())
    esme.receive(encode(GenericNack(), 1))
    assert esme.state is BindState.OPEN


@pytest.mark.parametrize("bind", list(_BINDS))
@pytest.mark.parametrize("answered_by", list(_BINDS))
def test_a_bind_that_is_answered_by_another_binds_response_is_bound(bind, answered_by):
    esme = SmppSession(SmppRole.ESME)
    esme.send(bind(system_id="risala"), "bind")
    (event,) = esme.receive(encode(response_to(answered_by(sequence_number=1)), 1))
    assert isinstance(event, Answered)
    assert event.token == "bind"
    assert esme.state is _BINDS[bind]


def test_another_binds_response_that_refuses_is_a_refusal():
    esme = SmppSession(SmppRole.ESME)
    esme.send(BindReceiver(system_id="risala"))
    refused = response_to(BindTransmitter(sequence_number=1), 0x0E)
    (event,) = esme.receive(encode(refused, 1))
    assert isinstance(event, Answered)
    assert event.response.command_status == 0x0E
    assert esme.state is BindState.OPEN


@pytest.mark.parametrize("bind", list(_BINDS))
def test_what_comes_before_the_binds_answer_is_taken_where_it_receives(bind):
    esme = SmppSession(SmppRole.ESME)
    esme.send(bind(system_id="risala"))
    (event,) = esme.receive(encode(DeliverSm(source_addr="222", destination_addr="1"), 7))
    assert isinstance(event, Violated if bind is BindTransmitter else Requested)


@pytest.mark.parametrize("by_smsc", [False, True])
def test_an_unbind_closes_both_whoever_says_it(by_smsc):
    pair = bound()
    pair.ask(Unbind(), by_smsc=by_smsc)
    assert pair.esme.state is pair.smsc.state is BindState.CLOSED
    with pytest.raises(LocalProtocolError):
        pair.esme.send(SubmitSm())
    with pytest.raises(LocalProtocolError):
        pair.smsc.respond(SubmitSm(), SubmitSmResp())
    assert pair.esme.receive(encode(EnquireLink(), 1)) == []


def test_what_crosses_an_unbind_is_still_answered():
    pair = bound()
    pair.esme.send(Unbind())
    (requested,) = pair.to_a(pair.smsc.send(DeliverSm()))
    assert isinstance(requested, Requested)
    assert pair.esme.respond(requested.request, DeliverSmResp())


# What each side may ask in each state, written out from table 2-1 of the standard.
_SUBMITS = {SubmitSm, SubmitMulti, DataSm, QuerySm, CancelSm, ReplaceSm}
_ESME_MAY = {
    BindState.OPEN: {BindTransmitter, BindReceiver, BindTransceiver, EnquireLink},
    BindState.BOUND_TX: _SUBMITS | {Unbind, EnquireLink},
    BindState.BOUND_RX: {Unbind, EnquireLink},
    BindState.BOUND_TRX: _SUBMITS | {Unbind, EnquireLink},
}
_SMSC_MAY = {
    BindState.OPEN: {Outbind, EnquireLink},
    BindState.BOUND_TX: {Unbind, EnquireLink},
    BindState.BOUND_RX: {DeliverSm, DataSm, AlertNotification, Unbind, EnquireLink},
    BindState.BOUND_TRX: {DeliverSm, DataSm, AlertNotification, Unbind, EnquireLink},
}
_REQUESTS = set().union(*_ESME_MAY.values(), *_SMSC_MAY.values())


def _in_state(state: BindState) -> Pair:
    kinds = {bound: kind for kind, bound in _BINDS.items()}
    return Pair() if state is BindState.OPEN else bound(kinds[state])


@sweep("state", _ESME_MAY)
@sweep("kind", sorted(_REQUESTS, key=lambda kind: kind.__name__))
@sweep("role", SmppRole)
def test_who_may_say_what_in_which_state(role, kind, state):
    pair = _in_state(state)
    speaker, listener = (pair.esme, pair.smsc) if role is SmppRole.ESME else (pair.smsc, pair.esme)
    may = kind in (_ESME_MAY if role is SmppRole.ESME else _SMSC_MAY)[state]
    (event,) = listener.receive(encode(kind(), 9))
    if may:
        assert isinstance(event, Requested)
        assert speaker.send(kind())
    else:
        assert isinstance(event, Violated)
        assert not event.fatal
        with pytest.raises(LocalProtocolError):
            speaker.send(kind())


def test_a_wrong_state_is_answered_by_the_requests_own_response():
    (violated,) = SmppSession(SmppRole.SMSC).receive(encode(SubmitSm(), 5))
    assert violated.reply == encode(SubmitSmResp(command_status=0x04), 5)
    (violated,) = bound().smsc.receive(encode(BindTransceiver(), 5))
    assert violated.reply[8:12] == b"\0\0\0\x05"


def test_responses_out_of_order_find_their_requests():
    pair = bound()
    requests = b"".join(pair.esme.send(SubmitSm(), token) for token in "abc")
    answers = [
        pair.smsc.respond(event.request, SubmitSmResp(f"id{n}"))
        for n, event in enumerate(pair.to_b(requests))
    ]
    events = pair.to_a(b"".join(reversed(answers)))
    assert [(e.token, e.response.message_id) for e in events] == [
        ("c", "id2"),
        ("b", "id1"),
        ("a", "id0"),
    ]
    assert pair.esme.outstanding == 0


def test_a_response_twice_or_to_nobody_or_of_another_kind_answers_nothing():
    pair = bound()
    pair.esme.send(SubmitSm(), "t")  # sequence_number 2, after the bind
    twice = encode(SubmitSmResp("id"), 2) * 2
    events = pair.esme.receive(encode(SubmitSmResp("x"), 999) + encode(QuerySmResp(), 2) + twice)
    assert [type(event) for event in events] == [
        AnsweredNothing,
        AnsweredNothing,
        Answered,
        AnsweredNothing,
    ]


@pytest.mark.parametrize("asked", [BindTransceiver, SubmitSm])
def test_no_bind_is_answered_as_a_message_nor_a_message_as_a_bind(asked):
    pair = Pair() if asked is BindTransceiver else bound()
    sequence, _ = pair.esme.send_numbered(asked(), "t")
    others = {BindTransceiver: SubmitSmResp, SubmitSm: BindTransceiverResp}
    state, waiting = pair.esme.state, pair.esme.outstanding
    (event,) = pair.esme.receive(encode(others[asked](), sequence))
    assert isinstance(event, AnsweredNothing)
    assert (pair.esme.state, pair.esme.outstanding) == (state, waiting)


def test_a_generic_nack_answers_its_request():
    pair = bound()
    sequence, _ = pair.esme.send_numbered(SubmitSm(), "t")
    (answered,) = pair.esme.receive(encode(GenericNack(command_status=3), sequence))
    assert isinstance(answered, Answered)
    assert answered.response.command_status == 3


def test_a_late_answer_is_recognised_once():
    pair = bound()
    sequence, _ = pair.esme.send_numbered(SubmitSm(), "t")
    pair.esme.give_up(sequence)
    answer = encode(SubmitSmResp("id"), sequence)
    late, nothing = pair.esme.receive(answer * 2)
    assert isinstance(late, AnsweredLate)
    assert late.token == "t"
    assert isinstance(nothing, AnsweredNothing)


def test_late_answers_are_awaited_up_to_a_limit():
    pair = bound()
    first = 0
    for n in range(LATE_MAX + 1):
        sequence, _ = pair.esme.send_numbered(SubmitSm(), n)
        first = first or sequence
        pair.esme.give_up(sequence)
    (event,) = pair.esme.receive(encode(SubmitSmResp(), first))
    assert isinstance(event, AnsweredNothing)


def test_sequence_numbers_wrap_and_pass_over_what_waits():
    esme = SmppSession(SmppRole.ESME, sequence=SEQUENCE_MAX - 1)
    esme.send(BindTransceiver())
    esme.receive(encode(response_to(BindTransceiver()), SEQUENCE_MAX))
    numbers = [esme.send_numbered(SubmitSm())[0] for _ in range(2)]
    assert numbers == [1, 2]
    esme._sequence = 0
    assert esme.send_numbered(SubmitSm())[0] == 3


def test_sync_lost_is_nacked_and_fatal():
    pair = bound()
    (violated,) = pair.smsc.receive(b"\x10\0\0\0" + encode(SubmitSm(), 5)[4:])
    assert violated.fatal
    assert violated.reply == encode(GenericNack(command_status=0x02), 5)
    assert pair.smsc.state is BindState.CLOSED


def test_an_unknown_command_is_nacked():
    (violated,) = bound().smsc.receive(b"\0\0\0\x10\0\0\xab\xcd\0\0\0\0\0\0\0\x05")
    assert not violated.fatal
    assert violated.reply == encode(GenericNack(command_status=0x03), 5)


def test_a_faulty_response_is_never_answered():
    pair = bound()
    bad = b"\0\0\0\x13\x80\0\0\x03\0\0\0\0\0\0\0\x02abc"  # query_sm_resp
    (violated,) = pair.esme.receive(bad)
    assert violated.reply == b""


def _smsc_conversation() -> bytes:
    return b"".join(
        encode(pdu, n)
        for n, pdu in enumerate(
            [
                EnquireLink(),
                BindTransceiver("risala", "secret"),
                SubmitSm(short_message=b"early: the bind is not answered yet"),
                Unbind(),
                EnquireLinkResp(),
            ],
            1,
        )
    )


def test_events_do_not_depend_on_how_the_smscs_octets_are_cut():
    events = same_however_cut(lambda: SmppSession(SmppRole.SMSC), _smsc_conversation())
    assert [type(event) for event in events] == [
        Requested,
        Requested,
        Violated,
        Violated,
        AnsweredNothing,
    ]


def test_events_do_not_depend_on_how_the_esmes_octets_are_cut():
    def esme() -> SmppSession:
        session = SmppSession(SmppRole.ESME)
        session.send(BindTransceiver())
        return session

    octets = b"".join(
        [
            encode(response_to(BindTransceiver()), 1),
            encode(DeliverSm(esm_class=4, short_message=b"id:1 stat:DELIVRD"), 1),
            b"\0\0\0\x10\0\0\xab\xcd\0\0\0\0\0\0\0\x05",
            encode(Unbind(), 2),
        ]
    )
    events = same_however_cut(esme, octets)
    assert [type(event) for event in events] == [Answered, Requested, Violated, Requested]


def test_a_whole_conversation_over_a_wire_that_cuts_everywhere():
    """Each side's octets as the other really made them, cut at every position."""
    esme, smsc = SmppSession(SmppRole.ESME), SmppSession(SmppRole.SMSC)
    receipt = DeliverSm(
        esm_class=4,
        short_message=b"id:7 stat:DELIVRD",
        tlvs=(Tlv(0x001E, b"7\0"), Tlv(0x0427, b"\2"), Tlv(0x1400, b"vendor")),
    )
    there, back = b"", b""
    for request, answer in (
        (BindTransceiver("risala", "secret"), BindTransceiverResp("SMSC")),
        (SubmitSm(short_message=b"Bonjour", tlvs=(Tlv(0x0204, b"\0\1"),)), SubmitSmResp("7")),
        (SubmitMulti(dest_addresses=(Destination(1, 1, "1"),)), SubmitMultiResp("8")),
        (QuerySm("7"), QuerySmResp("7", message_state=2)),
    ):
        octets = esme.send(request)
        (requested,) = smsc.receive(octets)
        reply = smsc.respond(requested.request, answer)
        esme.receive(reply)
        there, back = there + octets, back + reply
    octets = smsc.send(receipt)
    (requested,) = esme.receive(octets)
    back += octets
    there += esme.respond(requested.request, DeliverSmResp())

    def asking() -> SmppSession:
        again = SmppSession(SmppRole.ESME)
        again.send(BindTransceiver("risala", "secret"))
        again.state = BindState.BOUND_TRX
        for request in (SubmitSm(), SubmitMulti(), QuerySm()):
            again.send(request)
        again.state = BindState.BINDING
        return again

    def answering() -> SmppSession:
        again = SmppSession(SmppRole.SMSC)
        again.state = BindState.BOUND_TRX
        again.send(receipt)
        again.state = BindState.OPEN
        return again

    heard = same_however_cut(asking, back)
    assert [type(event) for event in heard] == [Answered] * 4 + [Requested]
    heard = same_however_cut(answering, there)
    assert [type(event) for event in heard] == [Requested, *[Violated] * 3, Answered]


@given(st.sampled_from(list(SmppRole)), st.lists(st.binary(max_size=80), max_size=6))
def test_no_octets_raise(role, pieces):
    session = SmppSession(role)
    for piece in pieces:
        session.receive(piece)


def test_a_state_lasts_until_the_answer_comes():
    esme = SmppSession(SmppRole.ESME)
    esme.send(BindTransceiver())
    assert esme.state is BindState.BINDING
    esme = bound().esme
    esme.send(Unbind())
    assert esme.state is BindState.UNBINDING
    (violated,) = esme.receive(encode(SubmitSm(), 9))
    assert violated.reason == "submit_sm in unbinding"


def test_what_is_wrong_with_our_own_use():
    esme = SmppSession(SmppRole.ESME)
    with pytest.raises(LocalProtocolError, match="submit_sm by the esme in open"):
        esme.send(SubmitSm())
    pair = bound()
    with pytest.raises(LocalProtocolError, match="bind_transceiver_resp in bound_trx"):
        pair.smsc.respond(BindTransceiver(), BindTransceiverResp())
    pair.ask(Unbind())
    with pytest.raises(LocalProtocolError, match="submit_sm_resp after the session's end"):
        pair.smsc.respond(SubmitSm(), SubmitSmResp())


def test_a_request_that_has_no_answer_gets_none_where_it_is_wrong_either():
    (violated,) = SmppSession(SmppRole.SMSC).receive(encode(Outbind(), 5))
    assert (violated.reply, violated.fatal) == (b"", False)


def test_as_many_late_answers_as_are_awaited_are():
    pair = bound()
    pair.esme.give_up(999)  # of nothing
    numbers = [pair.esme.send_numbered(SubmitSm())[0] for _ in range(LATE_MAX)]
    for number in numbers:
        pair.esme.give_up(number)
    (event,) = pair.esme.receive(encode(SubmitSmResp(), numbers[0]))
    assert isinstance(event, AnsweredLate)


def test_unbind_resp_ends_the_session():
    pair = bound()
    (requested,) = pair.to_b(pair.esme.send(Unbind()))
    pair.to_a(pair.smsc.respond(requested.request, UnbindResp()))
    assert pair.smsc.state is BindState.CLOSED
