"""SMPP in both roles: PDUs, streams cut anywhere, receipts' texts, what customers submit."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Final

import smpplib.exceptions
import smpplib.smpp

from proofs.fuzz.target import FuzzTarget, Script, cuts, is_unicode, refusal_of, work_within
from risala.drivers.smpp.protocol.codec import (
    HEADER,
    HEADER_OCTETS,
    PDU_OCTETS_MAX,
    decode,
    decode_any,
    encode,
)
from risala.drivers.smpp.protocol.destinations import Destination, DistributionList
from risala.drivers.smpp.protocol.fields import FieldError, PduFault
from risala.drivers.smpp.protocol.pdu import (
    BindReceiver,
    BindTransceiver,
    BindTransceiverResp,
    BindTransmitter,
    DataSm,
    DeliverSm,
    EnquireLink,
    GenericNack,
    Pdu,
    QuerySmResp,
    ShortMessage,
    SubmitMulti,
    SubmitSm,
    SubmitSmResp,
    Unbind,
    response_to,
)
from risala.drivers.smpp.protocol.receipt import (
    IdForm,
    _searched,
    _usual,
    format_receipt_text,
    is_receipt,
    parse_receipt,
)
from risala.drivers.smpp.protocol.session import (
    BindState,
    Event,
    Requested,
    SmppRole,
    SmppSession,
    Violated,
)
from risala.drivers.smpp.protocol.submit import DefaultAlphabet, decode_message, plain_text
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.http.api.bodies import explained_send
from risala.http.api.fields import BodyContext
from risala.smpp_server.session import PDU_OCTETS_MAX as SERVED_OCTETS_MAX
from risala.smpp_server.statuses import StatusRefusal
from risala.smpp_server.submits import command_of
from risala.sms.assembly import Assembler
from risala.sms.cause import Cause
from risala.sms.evident import TextForm, judge_octets
from risala.sms.message import Concatenation
from risala.sms.numbering.plan import DEFAULT
from risala.sms.receipt import ReceiptState
from risala.sms.segment import join

NOW_MS: Final = 1_767_225_600_000
judge_octets("O`你好".encode("utf-16-be"), TextForm.UCS2)  # its tables are made at the first use
_ADDRESSES: Final = {
    "source_addr_ton": 5,
    "source_addr": "RISALA",
    "dest_addr_ton": 1,
    "dest_addr_npi": 1,
    "destination_addr": "22236123456",
}
_RECEIPT: Final = (
    b"id:4b1d0c sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000"
    b" text:Salam"
)


# -- PDUs ------------------------------------------------------------------------------------------


def _pdus(octets: bytes) -> None:
    if len(octets) < HEADER_OCTETS:
        return
    octets = len(octets).to_bytes(4) + octets[4:]
    with work_within(3000 + 20 * len(octets)):
        found = refusal_of(lambda: decode(octets), PduFault)
    # The way of the frequent PDUs and that of all of them read the same.
    slow = refusal_of(lambda: decode_any(octets), PduFault)
    if isinstance(found, Exception) or isinstance(slow, Exception):
        assert isinstance(found, PduFault)
        assert isinstance(slow, PduFault)
        assert (found.reason, found.command_status) == (slow.reason, slow.command_status)
        assert found.in_sync
        return
    assert (type(found), found.__dict__) == (type(slow), slow.__dict__)
    assert "password" not in repr(found)
    written = refusal_of(lambda: encode(found), FieldError)
    if isinstance(written, Exception):
        # 255 octets of short_message, or 255 destinations: read, and never written.
        assert isinstance(found, ShortMessage | SubmitMulti)
        return
    if written != octets:
        # An answer without its body, one that refuses and cannot be read, or one whose id came
        # without its NUL.
        assert found.is_response
        lacks_nul = written[4:] == octets[4:] + b"\0"
        assert found.command_status or len(octets) == HEADER_OCTETS or lacks_nul
        if lacks_nul:
            return  # which smpplib cannot read
    _beside_smpplib(found, octets)


_COMPARED: Final = ("source_addr", "destination_addr", "short_message", "service_type")


def _beside_smpplib(found: Pdu, octets: bytes) -> None:
    if not isinstance(found, SubmitSm | DeliverSm) or found.tlvs or found.trailing:
        return
    if len(found.source_addr) > 20 or len(found.destination_addr) > 20 or found.command_status:
        return  # it takes such strings for broken
    if any(map(str.__len__, (found.schedule_delivery_time, found.validity_period))):
        return  # it wants seventeen octets or one
    theirs = smpplib.smpp.make_pdu(
        "submit_sm" if isinstance(found, SubmitSm) else "deliver_sm", sequence=1
    )
    try:
        theirs.parse(octets)
    except (smpplib.exceptions.PDUError, ValueError, IndexError):
        return
    for name in _COMPARED:
        told = getattr(found, name)
        wanted = told if isinstance(told, bytes) else told.encode("latin-1")
        assert (getattr(theirs, name) or b"") == wanted


def _vectors() -> list[Pdu]:
    return [
        BindTransceiver("risala", "secret", "", 0x34),
        BindTransceiverResp("SMSC", tlvs=(Tlv(0x0210, b"\x34"),)),
        SubmitSm("", **_ADDRESSES, registered_delivery=1, short_message=b"Bonjour"),
        SubmitSm(**_ADDRESSES, data_coding=8, short_message="سلام".encode("utf-16-be")),
        SubmitSm(
            **_ADDRESSES,
            esm_class=0x40,
            short_message=b"\x05\x00\x03\x07\x02\x01abc",
            validity_period="000002000000000R",
        ),
        SubmitSm(**_ADDRESSES, tlvs=(Tlv(0x020C, b"\0\7"), Tlv(0x020E, b"\2"), Tlv(0x020F, b"\1"))),
        SubmitSm(**_ADDRESSES, tlvs=(Tlv(0x0424, b"payload"), Tlv(0x1401, b"order-7777\0"))),
        SubmitSmResp("4b1d0c"),
        SubmitSmResp(command_status=0x58),
        DeliverSm(**_ADDRESSES, esm_class=4, short_message=_RECEIPT),
        DataSm(**_ADDRESSES, tlvs=(Tlv(0x0424, b"payload"),)),
        QuerySmResp("4b1d0c", "", 2, 0),
        SubmitMulti(
            dest_addresses=(Destination(1, 1, "22236123456"), DistributionList("all")),
            short_message=b"x",
        ),
        EnquireLink(),
        Unbind(),
        GenericNack(command_status=3),
    ]


def _pdu_seeds() -> Iterator[bytes]:
    for number, pdu in enumerate(_vectors(), 1):
        yield encode(pdu, number)


# -- streams ---------------------------------------------------------------------------------------


def _session(role: SmppRole, bind: type[Pdu] | None, octets_max: int) -> SmppSession:
    """A session that is bound, with a request on its way; or one that is not."""
    session = SmppSession(role, octets_max=octets_max)
    if bind is None:
        return session
    if role is SmppRole.ESME:
        session.send(bind())
        session.receive(encode(response_to(bind()), 1))
        if session.state is not BindState.BOUND_RX:
            session.send(SubmitSm(**_ADDRESSES, short_message=b"x"), "token")
    else:
        (event,) = session.receive(encode(bind(), 1))
        assert isinstance(event, Requested)
        session.respond(event.request, response_to(event.request))
        if session.state is not BindState.BOUND_TX:
            session.send(DeliverSm(**_ADDRESSES, short_message=b"x"), "token")
    return session


def _streams(octets: bytes) -> None:
    script = Script(octets)
    role = script.of((SmppRole.ESME, SmppRole.SMSC))
    bind = script.of((None, BindTransceiver, BindTransmitter, BindReceiver))
    octets_max = script.of((SERVED_OCTETS_MAX, PDU_OCTETS_MAX))
    stream = script.rest()
    whole = _session(role, bind, octets_max)
    with work_within(3000 + 30 * len(stream)):
        events = whole.receive(stream)
    for each in cuts(stream):
        session = _session(role, bind, octets_max)
        told = [event for part in each for event in session.receive(part)]
        assert list(map(repr, told)) == list(map(repr, events))
        assert (session.state, session.outstanding) == (whole.state, whole.outstanding)
        assert session.unread == whole.unread
        assert len(session.unread) < max(octets_max, HEADER_OCTETS)
    for event in events:
        if isinstance(event, Violated):
            _check_reply(event.reply)
    ends = [number for number, event in enumerate(events) if _is_end(event)]
    if ends:
        # Where the next PDU begins is not known: nothing after it is read for one.
        assert ends == [len(events) - 1]
        assert whole.state is BindState.CLOSED
        assert whole.receive(encode(EnquireLink(), 9)) == []
    elif not whole.unread and whole.state is not BindState.CLOSED:
        # Whatever came before, the next request is heard.
        (event,) = whole.receive(encode(EnquireLink(), 9))
        assert isinstance(event, Requested)


def _is_end(event: Event) -> bool:
    return isinstance(event, Violated) and event.fatal


def _check_reply(reply: bytes) -> None:
    """What a peer's fault is answered with is a PDU, a response, and refuses."""
    if reply:
        answer = decode(reply)
        assert answer.is_response
        assert answer.command_status


def _stream_seeds() -> Iterator[bytes]:
    good = [encode(pdu, number) for number, pdu in enumerate(_vectors(), 2)]
    for role in (0, 1):
        for bound in range(4):
            yield bytes((role, bound, 0)) + b"".join(good)
    yield b"\1\0\0" + good[0] + good[0]
    yield b"\1\1\0" + good[2][:-3]
    yield b"\0\1\0" + HEADER.pack(16, 0x999, 0, 3) + good[13]
    yield b"\0\1\0" + HEADER.pack(15, 4, 0, 3) + good[13]
    yield b"\0\1\1" + HEADER.pack(2**31, 4, 0, 3)
    yield b"\0\1\0" + encode(SubmitSmResp("a"), 2) + encode(SubmitSmResp("a"), 2)


# -- receipts --------------------------------------------------------------------------------------

_CAUSES: Final = {"005": Cause.ABSENT}


def _receipts(octets: bytes) -> None:
    script = Script(octets)
    form = script.of(tuple(IdForm))
    esm_class, data_coding = script.of((4, 0, 0x20, 0x44)), script.of((0, 8, 3, 1))
    tlvs = tuple(
        Tlv(script.of((0x001E, 0x0427, 0x0423, 0x0204, 0x0424)), script.some())
        for _ in range(script.number() % 4)
    )
    text = script.rest()
    pdu = DeliverSm(
        **_ADDRESSES,
        esm_class=esm_class,
        data_coding=data_coding,
        tlvs=tlvs,
        short_message=text,
    )
    with work_within(4000 + 12 * len(octets)):
        is_one = is_receipt(pdu)
        found = parse_receipt(pdu, form, _CAUSES)
    if esm_class in (4, 0x44):
        assert is_one
    if found is not None:
        assert 0 < len(found.carrier_id) <= 255
        assert len(found.raw) <= 120
        assert found.raw.isprintable()
        assert is_unicode(found.carrier_id)
        assert len(found.also_known_as) <= 8
        assert found.carrier_id not in found.also_known_as
        assert all(0 < len(each) <= 300 for each in found.also_known_as)
        assert found.reference is None or 0 <= found.reference <= 0xFFFF
    read = plain_text(pdu)[:1024]
    usual = _usual(read)
    if usual is not None:
        # The layout that is looked for first reads as any other does.
        slow = _searched(read)
        assert slow["id"] == usual[1]
        assert (slow["donedate"], slow["stat"], slow["err"]) == usual.groups()[1:]
    _forged(text)


def _forged(text: bytes) -> None:
    """What a customer wrote, quoted behind ``text:``, never changes what the receipt says."""
    quoted = text.decode("latin-1").replace("\0", "")
    honest = format_receipt_text(
        "4b1d0c",
        ReceiptState.UNDELIVERABLE,
        submit_date="2611201200",
        done_date="2611201201",
        error_code="006",
    )
    told = DeliverSm(
        **_ADDRESSES,
        esm_class=4,
        data_coding=3,
        short_message=f"{honest}{quoted}".encode("latin-1")[:250],
    )
    found = parse_receipt(told)
    assert found is not None
    assert (found.carrier_id, found.state) == ("4b1d0c", ReceiptState.UNDELIVERABLE)
    assert found.raw == "UNDELIV err:006"


def _receipt_seeds() -> Iterator[bytes]:
    plain = b"\0\0\0\0"
    yield plain + _RECEIPT
    yield plain + b"id: '4B1D0C' SUB:1 dlvrd:1 Submit_Date:26 DONE_DATE:27 stat:delivered err:0x05"
    yield plain + b"stat:UNDELIV id:0000123 err:005 done date:2611201201 text:id:9 stat:DELIVRD"
    yield plain + b'id:"77" done date:1 stat:REJECTD err:17 TEXT: stat:DELIVRD'
    yield b"\1\0\0\0id:1234567890 sub:001 dlvrd:001 done date:1 stat:EXPIRED err:0"
    yield b"\2\1\0\0id:deadbeef done date:1 stat:ACCEPTD err:a"
    yield b"\0\0\0\2\0\0074b1d0c\0\1\1\2"
    yield b"\0\0\0\3\1\1\5\2\3\3\0\6\3\2\0\7" + _RECEIPT
    yield b"\0\0\1\0" + _RECEIPT.decode().encode("utf-16-be")
    yield plain + b"id:" * 60


_RECEIPT_WORDS: Final = (
    b"id:", b"sub:", b"dlvrd:", b"submit date:", b"done date:", b"stat:", b"err:", b"text:",
    b"Text:", b"DELIVRD", b"UNDELIV", b"REJECTD", b"EXPIRED", b"ENROUTE", b"ACCEPTD",
    b" ", b"'", b'"', b"\0", b"done_date:", b"submit_date : ",
)  # fmt: skip


# -- what customers submit -------------------------------------------------------------------------


def _submits(octets: bytes) -> None:
    script = Script(octets)
    if script.flag():
        found = refusal_of(lambda: decode(_as_submit(script.rest())), PduFault)
        if not isinstance(found, SubmitSm | DataSm):
            return
        request = found
    else:
        request = _made(script)
    alphabet = DefaultAlphabet.GSM7 if request.sequence_number % 2 else DefaultAlphabet.LATIN1
    with work_within(6000 + 60 * len(octets)):
        command = refusal_of(
            lambda: command_of(request, NOW_MS, DEFAULT, alphabet, None), StatusRefusal
        )
    if isinstance(command, StatusRefusal):
        assert command.command_status
        assert len(str(command)) < 300
        return
    assert not isinstance(command, Exception)
    # What is taken by SMPP would be taken by the API: one set of rules, however it came.
    assert is_unicode(command.body)
    assert "\0" not in command.body
    body = {
        "to": command.to,
        "body": command.body,
        "from": command.sender,
        "idempotencyKey": command.idempotency_key,
        "metadata": dict(command.metadata),
    }
    if command.validity_s is not None and command.validity_s >= 60:
        body["validitySeconds"] = command.validity_s
    again = explained_send(json.dumps(body).encode(), BodyContext(NOW_MS, DEFAULT))
    assert (again.to, again.body, again.sender) == (command.to, command.body, command.sender)
    assert command.send_at is None or command.send_at > NOW_MS
    assert command.validity_s is None or 1 <= command.validity_s <= 259_200
    if command.part is not None:
        assert command.part.takes(command.body)
        assert 1 <= command.part.place.number <= command.part.place.total <= 255


def _as_submit(octets: bytes) -> bytes:
    """Octets whose header says that they are a submit_sm."""
    return HEADER.pack(HEADER_OCTETS + len(octets), SubmitSm.command_id, 0, len(octets)) + octets


def _made(script: Script) -> SubmitSm:
    """A submit that is nearly right."""
    tags = (0x0424, 0x1401, 0x0204, 0x020C, 0x020E, 0x020F, 0x1400)
    return SubmitSm(
        sequence_number=script.number(),
        source_addr_ton=script.of((5, 1, 0)),
        source_addr=script.of(("RISALA", "", "  ", "+22236000000", "1234")),
        dest_addr_ton=script.of((1, 0)),
        dest_addr_npi=1,
        destination_addr=script.of(("22236123456", "+22236123456", "36123456", "0022241000000")),
        esm_class=script.of((0, 0x40, 3, 0x43, 1)),
        schedule_delivery_time=script.of(("", "000000000100000R", "260101000000000+")),
        validity_period=script.of(("", "000001000000000R", "991231235959948-")),
        registered_delivery=script.of((0, 1, 2, 3)),
        data_coding=script.of((0, 8, 3, 1)),
        tlvs=tuple(Tlv(script.of(tags), script.some()) for _ in range(script.number() % 4)),
        short_message=script.rest()[:254],
    )


def _submit_seeds() -> Iterator[bytes]:
    for pdu in _vectors():
        if isinstance(pdu, SubmitSm):
            yield b"\1" + encode(pdu)[HEADER_OCTETS:]
    yield b"\0\1\0\0\0\0\0\0\0\0\0Salam"
    yield b"\0\1\0\0\0\0\0\0\1\1\0\x06\x33\x06\x44"
    yield b"\0\1\0\0\0\1\0\0\1\0\0\5\0\3\7\2\1abc"
    yield b"\0\1\0\0\0\1\1\1\1\0\0\6\x08\4\7\7\2\1abc"
    yield b"\0\2\0\0\0\0\0\0\0\0\3\3\2\0\7\4\1\2\5\1\1hello"
    yield b"\0\2\0\0\0\0\0\0\0\0\2\1\x0aorder-7777\2\2\0\7hello"


# -- what phones send, in parts --------------------------------------------------------------------


def _parts(octets: bytes) -> None:
    """Parts give the same text in whatever order they come, and nothing of them is lost."""
    script = Script(octets)
    total = script.number() % 6 + 1
    coding = script.of((8, 0, 3, 5, 0x0A, 0x18, 0xF4))
    use_udh, reference = script.flag(), script.number()
    order, texts = [script.number() for _ in range(total)], []
    for number in range(1, total + 1):
        text = script.some()[:100]
        header = bytes((5, 0, 3, reference, total, number))
        tlvs = (Tlv(0x020C, bytes((0, reference))), Tlv(0x020E, bytes((total,))))
        pdu = DeliverSm(
            **_ADDRESSES,
            data_coding=coding,
            esm_class=0x40 if use_udh else 0,
            short_message=header + text if use_udh else text,
            tlvs=() if use_udh else (*tlvs, Tlv(0x020F, bytes((number,)))),
        )
        with work_within(3000 + 30 * len(text)), warnings.catch_warnings():
            texts.append(decode_message(pdu))
    assembler = Assembler()
    shuffled = sorted(range(total), key=lambda at: (order[at], at))
    whole = None
    for at in shuffled:
        assert whole is None
        place = texts[at].concatenation
        assert place == Concatenation(reference, total, at + 1, 8 if use_udh else 16)
        whole = assembler.add(texts[at].text, place, "them", "us", token=at)
    assert whole is not None
    assert whole.is_complete
    assert whole.text == join(each.text for each in texts)
    assert is_unicode(whole.text)
    assert len(assembler) == 0
    # They come again, since our answer was lost: it is seen that nothing new is in them.
    again = [
        assembler.add(texts[at].text, texts[at].concatenation, "them", "us") for at in shuffled
    ]
    assert total == 1 or (again[-1] is not None and again[-1].repeats)


def _part_seeds() -> Iterator[bytes]:
    yield b"\1\0\1\7\2\1\4\x06\x33\xd8\x3d\4\xde\x00\x06\x44"
    yield b"\2\1\1\7\3\1\2\3abc\3de\x1b\3e12"
    yield b"\2\2\0\7\1\2\3\3abc\3def\3ghi"
    yield b"\0\4\0\7\1\5\x83\x65\x83\x58\x83"


TARGETS: Final = (
    FuzzTarget(
        "smpp-pdus",
        "read alike by the quick way, the general one and smpplib; written again octet by octet; or"
        " refused by PduFault",
        _pdus,
        _pdu_seeds,
        octets_max=600,
    ),
    FuzzTarget(
        "smpp-streams",
        "in both roles: the same events however the octets are cut; faults are answered by"
        " refusals; after them it goes on, or is at its end",
        _streams,
        _stream_seeds,
        octets_max=1200,
    ),
    FuzzTarget(
        "smpp-receipts",
        "read within limits; the usual layout reads as any other; what a customer wrote changes"
        " nothing of what the receipt says",
        _receipts,
        _receipt_seeds,
        octets_max=300,
        words=_RECEIPT_WORDS,
    ),
    FuzzTarget(
        "smpp-submits",
        "refused with a status, or a message that the API takes too",
        _submits,
        _submit_seeds,
        octets_max=400,
    ),
    FuzzTarget(
        "smpp-parts",
        "the same text in whatever order the parts come; a repetition is known for one",
        _parts,
        _part_seeds,
        octets_max=400,
    ),
)
