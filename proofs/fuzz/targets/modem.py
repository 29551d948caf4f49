"""What a modem says: lines, URCs and prompts in any order, cut anywhere; rows; TPDUs; USSD."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from gsmmodem.pdu import decodeSmsPdu

from proofs.fuzz.target import FuzzTarget, Script, pieces, refusal_of, work_within
from risala.drivers.modem.at.engine import (
    LINE_MAX,
    ROWS_MAX,
    Answer,
    AtEngine,
    Command,
    Event,
    LocalProtocolError,
)
from risala.drivers.modem.at.errors import trouble_of
from risala.drivers.modem.at.fields import (
    brackets,
    number,
    offered,
    registration,
    signal_dbm,
    values,
)
from risala.drivers.modem.at.lines import call_of, final_of, name_of, pdu_header_of
from risala.drivers.modem.inbound.assembly import text_of as text_of_deliver
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    PduError,
    StatusReport,
    Submit,
    TpAddress,
    Tpdu,
    UserData,
    from_hex,
    to_hex,
)
from risala.drivers.modem.tpdu.ussd import TEXT_MAX, read_answer, requests
from risala.sms.alphabet import choose_alphabet
from risala.sms.segment import join, split, user_data_header

_COMMANDS: Final = (
    *(Command("AT"), Command("ATI"), Command("AT+CSQ"), Command("AT+CMGS=24", prompts=True)),
    *(Command("AT+CMGL=4"), Command("AT+CMGR=1"), Command("AT+CUSD=1"), Command("AT+CREG?")),
)
_STEP: Final = 0x02
"""STX begins a step of ours; whatever is between two steps the modem says."""
_BODY: Final = "0011000B912222361234560000A70441F45B0D"


def _steps(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """What we do, and what the modem says then."""
    first, *more = octets.split(bytes((_STEP,)))
    yield -1, first
    for each in more:
        yield (each[0] if each else 0), each[1:]


def _do(engine: AtEngine, step: int) -> object:
    """One step of a driver's, or the refusal of one that may not be made."""
    commands = len(_COMMANDS)
    match step:
        case -1:
            return None
        case _ if step % 12 < commands:
            return refusal_of(lambda: engine.start(_COMMANDS[step % 12]), LocalProtocolError)
        case _ if step % 12 == commands:
            return engine.give_up()
        case _ if step % 12 == commands + 1:
            return engine.forget()
        case _ if step % 12 == commands + 2:
            return refusal_of(lambda: engine.body(_BODY), LocalProtocolError)
        case _:
            return refusal_of(lambda: engine.start(engine.sync_command()), LocalProtocolError)


def _chatter(octets: bytes) -> None:
    whole, by_one, by_five = AtEngine(), AtEngine(), AtEngine()
    started = answered = 0
    for step, said in _steps(octets):
        done = [repr(_do(engine, step)) for engine in (whole, by_one, by_five)]
        assert done[0] == done[1] == done[2]
        was_busy = whole.busy
        started += was_busy
        with work_within(3000 + 120 * len(said)):
            events = whole.receive(said)
        assert _in_pieces(by_one, said, 1) == events
        assert _in_pieces(by_five, said, 5) == events
        for engine in (whole, by_one, by_five):
            assert (engine.busy, engine.in_sync) == (whole.busy, whole.in_sync)
            assert len(engine._line) <= LINE_MAX
            assert len(engine._rows) <= ROWS_MAX
        answers = [event for event in events if isinstance(event, Answer)]
        assert len(answers) <= was_busy
        answered += len(answers)
    assert answered <= started


def _in_pieces(engine: AtEngine, said: bytes, size: int) -> list[Event]:
    parts = [*pieces(said, size)] or [b""]
    return [event for part in parts for event in engine.receive(part)]


_PDU: Final = b"07912202000000F1240B912222163254F600006211210243800005E8329BFD06"


def _chatter_seeds() -> Iterator[bytes]:
    yield b"\x02\x02\r\n+CSQ: 9,99\r\n\r\nOK\r\n"
    yield b"\x02\x03AT+CMGS=24\r\r\n> \x02\x0a\r\n+CMGS: 17\r\n\r\nOK\r\n"
    yield b'\x02\x00\r\n+CMTI: "SM",3\r\n^RSSI:17\r\n+CMS ERROR: 38\r\n'
    yield b"+CMT: ,24\r\n" + _PDU + b"\r\n"
    yield b'\x02\x06+CUSD: 0,"Solde\r\nOK\r\n12",15\r\nRDY\r\n'
    yield (
        b"\x02\x04+CMGL: 0,1,,24\r\n"
        + _PDU
        + b"\r\n+CMGL: 1,1,,24\r\nRING\r\n"
        + _PDU
        + b"\r\nOK\r\n"
    )
    yield b"\x02\x02\x02\x08\x02\x0b+CSQ: 1,2\r\nOK\r\n+CREG: 0,1\r\nOK\r\n"
    yield b"\x02\x03\x02\x08> ERROR\r\n\x02\x0bOK\r\n"
    yield b"\x02\x00" + b"x" * 2050 + b"\r\nOK\r\n"
    yield b"\x02\x000\r\x02\x004\r\n\x00\x80\xffOK\r"


_AT_WORDS: Final = (
    b"\r\n", b"OK\r\n", b"ERROR\r\n", b"+CMS ERROR: 332\r\n", b"+CME ERROR: SIM busy\r\n", b"> ",
    b"+CMTI: \"SM\",1\r\n", b"+CMT: ,24\r\n", b"+CDS: 25\r\n", b"+CMGL: 0,1,,24\r\n",
    b"+CUSD: 0,\"", b"\",15\r\n", b"RING\r\n", b"NO CARRIER\r\n", b"RDY\r\n", b"^RSSI:9\r\n",
    b"\x02\x03", b"\x02\x08", b"\x02\x09", b"\x02\x0a", b"\x02\x0b", _PDU, b"AT+CMGS=24\r",
)  # fmt: skip


def _rows(octets: bytes) -> None:
    line = octets.decode("latin-1")
    with work_within(3000 + 60 * len(line)):
        found = values(line)
        assert sum(map(len, found)) <= len(line)
        assert sum(map(len, brackets(line))) <= len(line)
        assert len(offered(line)) <= 101 * (1 + line.count(","))
        stat = registration(found)
        assert stat is None or 0 <= stat <= 11
        dbm = signal_dbm(found)
        assert dbm is None or -113 <= dbm <= -51
        for numeric in (True, False):
            call_of(line, numeric=numeric)
            result = final_of(line, numeric=numeric)
            if result is not None and not result.ok:
                assert trouble_of(result).text
        name = name_of(line)
        if name is not None:
            header = pdu_header_of(name, line)
            assert header is None or header.tpdu_octets is None or header.tpdu_octets > 0
    for each in found:
        value = number(each)
        assert value is None or str(value) == each.strip() or each.strip().lstrip("-0") in (
            str(abs(value)), "",
        )  # fmt: skip
    ussd = read_answer(line)
    if ussd is not None:
        assert 0 <= ussd[0] <= 9
        assert len(ussd[1]) <= TEXT_MAX
        ussd[1].encode("utf-8", "strict")


def _row_seeds() -> Iterator[bytes]:
    yield b'+CREG: 2,1,"00C3","0A1B",7'
    yield b"+CSQ: 17,99"
    yield b'+CPMS: ("SM","ME"),("SM"),(0-2,4)'
    yield b"+CMS ERROR: SIM PIN required"
    yield b"+CME ERROR: 515"
    yield b'+CUSD: 0,"D9775D0E1287D961F7B80CA2BF41",15'
    yield b'+CUSD: 1,"0633062706440645",72'
    yield b'+CMGL: 1,"REC READ","+222",,"26/11/20,12:00:00+00"'
    yield b"NO CARRIER: 16"


def _pdus(octets: bytes) -> None:
    script = Script(octets)
    direction = script.of((Direction.TO_PHONE, Direction.TO_NETWORK))
    has_length = script.flag()
    text = script.rest().hex()
    length = len(text) // 2 if has_length else None
    with work_within(3000 + 60 * len(octets)):
        found = refusal_of(lambda: from_hex(text, direction, length), PduError)
    if isinstance(found, Exception):
        assert len(str(found)) < 100
        return
    smsc, tpdu = found
    _check_read(tpdu)
    again = refusal_of(lambda: type(tpdu).decode(tpdu.encode()), PduError)
    if not isinstance(again, Exception):
        # What was written once is written so for ever: nothing is lost by another turn.
        assert again.encode() == type(again).decode(again.encode()).encode()
    if smsc is not None:
        assert len(smsc.text) <= 20


def _check_read(tpdu: Tpdu) -> None:
    data = tpdu.user_data
    if data is not None:
        assert len(data.text) <= 320
        assert len(data.data) <= 140
        place = data.concatenation
        assert place is None or 1 <= place.number <= place.total <= 255
    if isinstance(tpdu, Deliver):
        join([text_of_deliver(tpdu)]).encode()
        assert len(tpdu.originator.text) <= 20
    if isinstance(tpdu, StatusReport):
        assert 0 <= tpdu.status <= 255


_NOW: Final = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
_SMSC: Final = TpAddress.of_number("+22200000001")


def _pdu_seeds() -> Iterator[bytes]:
    headers = (b"", user_data_header(5, 3, 2), user_data_header(500, 3, 2, reference_bits=16))
    for text in ("hello", "€{}[]", "مرحبا", "😀"):
        for header in headers:
            data = UserData.of_text(text, choose_alphabet(text), header=header)
            yield b"\0\0" + bytes.fromhex(to_hex(Deliver(_SMSC, data, _NOW), _SMSC)[0])
            yield b"\1\0" + bytes.fromhex(to_hex(Submit(_SMSC, data, 7, 10))[0])
    yield b"\0\0" + bytes.fromhex(to_hex(StatusReport(7, _SMSC, _NOW, _NOW, 0), _SMSC)[0])
    turkish = bytes((0x03, 0x24, 1, 1))
    data = UserData("Ğış", dcs=0, header=turkish)
    yield b"\0\0" + bytes.fromhex(to_hex(Deliver(TpAddress("Bank", 5, 0), data, _NOW))[0])


def _written(octets: bytes) -> None:
    """A TPDU of ours, by our reader and by another's."""
    script = Script(octets)
    is_deliver, has_header, zone = script.flag(), script.flag(), script.number() % 97 - 48
    address = script.of(
        (_SMSC, TpAddress.of_number("1234"), TpAddress("Bank Ñ", 5, 0), TpAddress("2*#", 0, 1))
    )
    seconds, reference = script.number() * 65_537, script.number()
    text = script.rest().decode("utf-8", "ignore").replace("\x1b", "")
    alphabet = choose_alphabet(text)
    part = split(text, alphabet)[0] if text else ""
    header = user_data_header(reference, 2, 1) if has_header else b""
    data = UserData.of_text(part, alphabet, header=header)
    sent_at = (_NOW + timedelta(seconds=seconds)).astimezone(timezone(timedelta(minutes=15 * zone)))
    tpdu: Deliver | Submit = (
        Deliver(address, data, sent_at)
        if is_deliver
        else Submit(address, data, reference, 10, status_report=script.flag())
    )
    written = refusal_of(lambda: to_hex(tpdu, _SMSC), PduError)
    if isinstance(written, Exception):
        # A whole text has room for itself alone.
        assert has_header
        return
    direction = Direction.TO_PHONE if is_deliver else Direction.TO_NETWORK
    smsc, again = from_hex(written[0], direction)
    assert (smsc, again) == (_SMSC, tpdu)
    _beside_gsmmodem(tpdu, written[0])


def _beside_gsmmodem(tpdu: Deliver | Submit, text: str) -> None:
    data = tpdu.user_data
    if "\0" in data.text or (data.header and data.coding.characters == "gsm7"):
        return  # it takes @ at the end for padding, and loses the last septet behind a header
    if not data.text.isprintable() or not data.text or data.text.endswith("@"):
        return
    if isinstance(tpdu, Deliver) and tpdu.originator.ton == 5:
        return  # it reads names as digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = decodeSmsPdu(text)
    with contextlib.suppress(UnicodeEncodeError):
        data.text.encode("utf-16-be").decode("utf-16-be")
        if all(ord(each) < 0x10000 for each in data.text):
            assert theirs["text"] == data.text


def _written_seeds() -> Iterable[bytes]:
    for text in ("hello", "€{}[]@", "مرحبا", "é" * 160, "x" * 160, "😀" * 35):
        for head in (b"\1\0\x30\0\5\7", b"\0\1\x10\1\6\x08", b"\1\1\0\2\1\1"):
            yield head + text.encode()


def _ussd_codes(octets: bytes) -> None:
    """A code goes out so that it reads back; whatever it is, no command line is ended by it."""
    code = octets.decode("latin-1")
    if not all(each in "0123456789*#+" for each in code) or len(code) > 160:
        return
    as_text, packed = requests(code)
    assert as_text.count('"') == packed.count('"') == 2
    inner = packed.split('"')[1]
    if code:
        told = read_answer(f'+CUSD: 0,"{inner}",15')
        assert told is not None
        assert told[1] == code or inner.isdigit() or len(inner) < 4


TARGETS: Final = (
    FuzzTarget(
        "modem-lines",
        "the same events however the octets are cut; at most one answer a command; lines and rows"
        " within their limits",
        _chatter,
        _chatter_seeds,
        octets_max=2200,
        words=_AT_WORDS,
    ),
    FuzzTarget(
        "modem-rows",
        "rows, results and USSD answers are read or are none; numbers within what the standard has",
        _rows,
        _row_seeds,
        octets_max=300,
        words=_AT_WORDS,
    ),
    FuzzTarget(
        "modem-pdus",
        "read, or refused by PduError; written again it stays the same; texts can be stored",
        _pdus,
        _pdu_seeds,
        octets_max=260,
    ),
    FuzzTarget(
        "modem-written-pdus",
        "what we write we read again in whole, and python-gsmmodem reads the same text",
        _written,
        _written_seeds,
        octets_max=400,
    ),
    FuzzTarget(
        "modem-ussd",
        "a code ends no command line, and reads back from its packed form",
        _ussd_codes,
        lambda: (b"*100#", b"*555*1*2#", b"+222", b"1"),
        octets_max=160,
        words=(b"*", b"#", b"*100#"),
    ),
)
