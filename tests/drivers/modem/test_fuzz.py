"""Bounded random runs: real PDUs and real chatter, mutated, from one seed. Nothing may crash.

Hypothesis (in test_at.py and test_pdu.py) draws from the whole space; this stays near to what is
real, where the deeper branches are.
"""

import random
from datetime import UTC, datetime

import pytest

from risala.drivers.modem.at.engine import LINE_MAX, Answer, AtEngine, Command
from risala.drivers.modem.at.fields import brackets, registration, values
from risala.drivers.modem.inbound.assembly import text_of
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    PduError,
    StatusReport,
    Submit,
    TpAddress,
    UserData,
    from_hex,
    to_hex,
)
from risala.drivers.modem.tpdu.ussd import read_answer
from risala.sms.alphabet import choose_alphabet
from risala.sms.segment import user_data_header

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SMSC = TpAddress.of_number("+22200000001")
RUNS = 15_000
HEADERS = (b"", user_data_header(5, 3, 2), user_data_header(500, 3, 2, reference_bits=16))


def corpus() -> list[tuple[Direction, bytes]]:
    found = []
    for text in ("hello", "€{}[]", "مرحبا", "😀"):
        for header in HEADERS:
            data = UserData.of_text(text, choose_alphabet(text), header=header)
            deliver, submit = Deliver(SMSC, data, NOW), Submit(SMSC, data, 7, 10)
            found.append((Direction.TO_PHONE, bytes.fromhex(to_hex(deliver, SMSC)[0])))
            found.append((Direction.TO_NETWORK, bytes.fromhex(to_hex(submit)[0])))
    report = StatusReport(7, SMSC, NOW, NOW, 0)
    return [*found, (Direction.TO_PHONE, bytes.fromhex(to_hex(report, SMSC)[0]))]


def mutate(octets: bytes, dice: random.Random, most: int) -> bytes:
    mutated = bytearray(octets)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(mutated) + 1)
        match dice.randrange(5):
            case 0 if mutated:
                mutated[at % len(mutated)] = dice.choice(
                    (0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256))
                )
            case 1 if mutated:
                mutated[at % len(mutated)] ^= 1 << dice.randrange(8)
            case 2:
                del mutated[at:]
            case 3:
                mutated[at:at] = dice.randbytes(dice.randint(1, 9))
            case _:
                del mutated[at : at + dice.randint(1, 9)]
    return bytes(mutated[:most])


@pytest.mark.slow
def test_mutated_pdus_are_read_or_refused():
    dice, seeds, read = random.Random(20261120), corpus(), 0
    for _ in range(RUNS):
        direction, octets = dice.choice(seeds)
        octets = mutate(octets, dice, 255)
        try:
            _, tpdu = from_hex(octets.hex(), direction, dice.choice((None, len(octets))))
        except PduError:
            continue
        read += 1
        if isinstance(tpdu, Deliver):
            text_of(tpdu)
            if tpdu.user_data.concatenation is not None:
                assert (
                    1 <= tpdu.user_data.concatenation.number <= tpdu.user_data.concatenation.total
                )
        try:
            again = type(tpdu).decode(tpdu.encode())
        except PduError:
            continue
        assert again.encode() == type(again).decode(again.encode()).encode()
    assert RUNS / 10 < read < RUNS  # both happen


CHATTER = (
    b"\r\n+CSQ: 9,99\r\n\r\nOK\r\n",
    b"AT+CMGS=24\r\r\n> \r\n+CMGS: 17\r\n\r\nOK\r\n",
    b'\r\n+CMTI: "SM",3\r\n^RSSI:17\r\n+CMS ERROR: 38\r\n',
    b"+CMT: ,24\r\n07912202000000F1240B912222163254F600006211210243800005E8329BFD06\r\n",
    b'+CUSD: 0,"Solde\r\nOK\r\n12",15\r\nRDY\r\n',
    b"+CMGL: 0,1,,24\r\n07912202000000F1240B912222163254F600006211210243800005E8329BFD06\r\nOK\r\n",
)
COMMANDS = ("AT", "ATI", "AT+CSQ", "AT+CMGS=24", "AT+CMGL=4", "AT+CMGR=1", "AT+CUSD=1")


@pytest.mark.slow
def test_mutated_chatter_is_survived():
    dice, answered = random.Random(20261121), 0
    for _ in range(RUNS // 3):
        octets = b"".join(dice.choice(CHATTER) for _ in range(dice.randint(1, 3)))
        octets = mutate(octets, dice, 1000)
        command = dice.choice(COMMANDS)
        engine = AtEngine()
        engine.start(Command(command, prompts="CMGS" in command))
        if dice.random() < 0.3:
            engine.give_up()
            engine.start(engine.sync_command())
        size = dice.choice((1, 7, 4096))
        events = [
            event
            for at in range(0, len(octets), size)
            for event in engine.receive(octets[at : at + size])
        ]
        answers = [event for event in events if isinstance(event, Answer)]
        assert len(answers) <= 1
        assert len(engine._line) <= LINE_MAX
        answered += len(answers)
        line = octets.decode("latin-1")
        read_answer(line)
        registration(values(line))
        brackets(line)
    assert answered > RUNS / 30
