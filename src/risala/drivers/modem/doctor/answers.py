"""What a modem answers to the questions of a report, with nothing of its SIM or its place in it.

Only rows of the command's own name are kept, and of each row only what that command may say: small
numbers, its words, names of memories, alphabets and networks. So a text, a number or a cell that a
modem says in between, or in another field than the standard has it, is not in it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from risala.drivers.modem.at.engine import Answer
from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.network.chips import chip_of
from risala.drivers.modem.talk.link import LinkError

HIDDEN: Final = "…"
ROWS_MAX: Final = 12
"""Rows kept of one answer."""
NAMES_MAX: Final = 400
"""Names of commands kept of the answer to +CLAC."""
_ANSWER_S: Final = 10.0


class ShownValues(Enum):
    """Which values of an answer are shown."""

    NUMBERS = re.compile(r"[0-9]{1,3}|[A-Z][A-Z ]{1,15}[0-9]?")
    """Numbers below 1000, and the words of the standards: ``READY``, ``SIM PIN2``."""
    WORDS = re.compile(r"[0-9]{1,3}|[A-Za-z][A-Za-z0-9+ ._-]{0,23}|[0-9]{4}-[0-9]")
    """Names too: memories, alphabets, the network."""
    MASKS = re.compile(r"[0-9A-Fa-f]{1,16}|[A-Za-z]{1,16}")
    """The modes and bands that a modem may use."""


QUESTIONS: Final = (
    *((f"AT+{name}", ShownValues.NUMBERS) for name in ("CPIN?", "CFUN?", "CSQ", "CESQ")),
    *((f"AT+{name}?", ShownValues.NUMBERS) for name in ("CREG", "CGREG", "CEREG", "C5GREG")),
    ("AT+COPS?", ShownValues.WORDS),
    ("AT+WS46?", ShownValues.NUMBERS),
    ("AT+WS46=?", ShownValues.NUMBERS),
    *((f"AT+{name}", ShownValues.NUMBERS) for name in ("CGSMS?", "CGSMS=?", "CIREG?")),
    ("AT+GCAP", ShownValues.WORDS),
    *((f"AT+{name}", ShownValues.NUMBERS) for name in ("CSMS?", "CSMS=?", "CMGF=?", "CMMS=?")),
    *((f"AT+{name}", ShownValues.WORDS) for name in ("CPMS?", "CPMS=?", "CSCS=?")),
    *((f"AT+{name}", ShownValues.NUMBERS) for name in ("CNMI?", "CNMI=?", "CUSD=?", "CRC=?")),
)
"""Each changes nothing (27.005, 27.007), and asks for nothing of the SIM: neither its numbers nor
its messages. No scan for networks (+COPS=?): it takes minutes."""
_LIST: Final = "AT+CLAC"
_PIECES: Final = re.compile(r'"[^"]*"|[^,()"]+|[,()]')
_RANGE: Final = re.compile(r"[0-9]{1,3}-[0-9]{1,3}")
_COMMAND: Final = re.compile(r"(?:AT)?([+^!*&$#%][A-Z][A-Z0-9]{1,11})\b")
_NAME: Final = re.compile(r"AT([+^!*&$#%][A-Z0-9]+)")
_DIGITS: Final = re.compile(r"[0-9]{5}")


async def ask_questions(bench: Bench) -> None:
    """Ask them all; the answers are in the findings. A modem that is lost ends it early."""
    chip = chip_of(bench.findings.identity)
    questions = [*QUESTIONS, *([(chip.question, ShownValues.MASKS)] if chip.question else [])]
    kept = bench.findings.answers
    try:
        for question, shown in questions:
            answer = await bench.asker.try_(question, _ANSWER_S)
            rows = [] if answer is None else [each.text for each in answer.rows]
            kept.append(
                {"asked": question, **_result(answer), "answer": own(question, rows, shown)}
            )
        answer = await bench.asker.try_(_LIST, _ANSWER_S)
        names = [] if answer is None else named([each.text for each in answer.rows])
        kept.append({"asked": _LIST, **_result(answer), "answer": names})
    except LinkError as fault:
        kept.append({"asked": "", "result": type(fault).__name__, "answer": []})


def _result(answer: Answer | None) -> dict[str, str]:
    if answer is None:
        return {"result": "no answer"}
    result = answer.result
    if result.code is not None:
        return {"result": f"+{result.kind.value.upper()} ERROR: {result.code}"}
    return {"result": result.kind.value.upper()}


def own(question: str, rows: list[str], shown: ShownValues) -> list[str]:
    """The rows of a command's answer, with what it may say.

    Args:
        rows: what came until the result.
        shown: what that is.
    """
    name = _NAME.match(question)
    head = "" if name is None else name[1]
    kept = []
    for row in rows:
        start, colon, rest = row.strip().partition(":")
        if colon and start == head:
            kept.append(f"{head}: {_values(rest.strip(), shown)}")
        elif not colon and head == "+WS46":  # 27.007 §5.9 has no name before its answer
            kept.append(_values(start, shown))
    return kept[:ROWS_MAX]


def _values(text: str, shown: ShownValues) -> str:
    return "".join(_value(piece, shown) for piece in _PIECES.findall(text))


def _value(piece: str, shown: ShownValues) -> str:
    bare = piece.strip().strip('"').strip()
    if bare in ("", ",", "(", ")") or _RANGE.fullmatch(bare):
        return piece
    is_quoted_number = piece.startswith('"') and shown is ShownValues.NUMBERS
    is_long = shown is not ShownValues.MASKS and _DIGITS.search(bare) is not None
    signed = bare.removeprefix("-")
    if is_quoted_number or is_long or shown.value.fullmatch(signed) is None:
        return HIDDEN
    return piece


def named(rows: list[str]) -> list[str]:
    """The names of commands, of an answer that lists them."""
    names = dict.fromkeys(name for row in rows for name in _COMMAND.findall(row))
    return [*names][:NAMES_MAX]
