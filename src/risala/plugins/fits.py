"""Checks that a driver's answers are what the contract asks for. Pure.

The engine checks every answer by it, and so does the conformance suite: an author learns beforehand
what the engine would not take.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from risala.plugins.contract import SETTLE_S_MIN, SUBMIT_S_MAX, Capabilities
from risala.plugins.page import (
    FormField,
    PageFigures,
    PageForm,
    PageHeading,
    PageTable,
    PageText,
)
from risala.sms.cause import Cause
from risala.sms.outcome import Accepted, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.receipt import Receipt, ReceiptState

_OUTCOMES: Final = (Accepted, Throttled, Refused, Uncertain, Unsent)


def fault_of(outcome: object) -> str | None:
    """The fault of a driver's answer, without its values; None: no fault."""
    kind = type(outcome)
    if kind not in _CHECKS:  # one that is derived from an outcome will do
        base = next((known for known in _OUTCOMES if isinstance(outcome, known)), None)
        if base is None:
            return f"it returned {kind.__name__}, not an outcome"
        kind = base
    for name, fits in _CHECKS[kind]:
        if not fits(getattr(outcome, name)):
            return f"{name} of its {type(outcome).__name__} has a wrong value"
    return None


def _is_text(value: object) -> bool:
    """One that the database takes."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)


def _is_wait(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and 0 <= value < math.inf)


_Fits = Callable[[Any], bool]
_FITS: Final[dict[str, _Fits]] = {
    "raw": _is_text,
    "text": _is_text,
    "carrier_id": _is_text,
    "cause": lambda value: isinstance(value, Cause),
    "scope": lambda value: isinstance(value, Scope),
    "retry_after_s": _is_wait,
    "load_percent": _is_wait,
}


def _checks_of(kind: type) -> tuple[tuple[str, _Fits], ...]:
    checks = {each.name: _FITS[each.name] for each in fields(kind) if each.name in _FITS}
    if kind is Uncertain:  # the only one that may be without an id
        checks["carrier_id"] = lambda value: value is None or _is_text(value)
    return tuple(checks.items())


_CHECKS: Final[dict[type, tuple[tuple[str, _Fits], ...]]] = {
    kind: _checks_of(kind) for kind in _OUTCOMES
}


def fault_of_receipt(receipt: object) -> str | None:
    """What is wrong about a receipt; None: nothing."""
    if not isinstance(receipt, Receipt):
        return f"a {type(receipt).__name__} is not a Receipt"
    wrong = [name for name, fits in _OF_A_RECEIPT.items() if not fits(getattr(receipt, name))]
    return f"{wrong[0]} of the Receipt has a wrong value" if wrong else None


def fault_of_capabilities(capabilities: object) -> str | None:
    """What is wrong about a driver's capabilities; None: nothing."""
    if not isinstance(capabilities, Capabilities):
        return f"capabilities is a {type(capabilities).__name__}, not Capabilities"
    for name, fits, requirement in _OF_CAPABILITIES:
        if not fits(getattr(capabilities, name)):
            return (
                f"capabilities.{name} is {getattr(capabilities, name)!r}, and must be {requirement}"
            )
    for name, needs, is_so in _NEEDS:
        if getattr(capabilities, name) and not is_so(capabilities):
            return f"capabilities.{name} is {getattr(capabilities, name)!r}, and needs {needs}"
    return None


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not _is_bool(value) and value < math.inf


def _is_text_or_none(value: object) -> bool:
    return value is None or _is_text(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


_OF_A_RECEIPT: Final[dict[str, _Fits]] = {
    "carrier_id": _is_text,
    "state": lambda value: isinstance(value, ReceiptState),
    "raw": _is_text,
    "cause": lambda value: value is None or isinstance(value, Cause),
    "also_known_as": _are_texts,
    "recipient": _is_text_or_none,
    "sender": _is_text_or_none,
    "reference": lambda value: value is None or (isinstance(value, int) and 0 <= value <= 0xFFFF),
    "recipient_tells": _is_bool,
}
_OF_CAPABILITIES: Final[tuple[tuple[str, _Fits, str], ...]] = (
    *(
        (name, _is_bool, "True or False")
        for name in (
            "alphanumeric_sender",
            "receipts",
            "inbound",
            "query",
            "validity",
            "takes_whole",
            "secret_address",
            "same_id_is_safe",
            "fetches",
            "flash",
        )
    ),
    (
        "window_max",
        lambda value: isinstance(value, int) and not _is_bool(value) and value >= 1,
        "a whole number from 1 on",
    ),
    (
        "submit_s",
        lambda value: isinstance(value, int | float) and 0 < value <= SUBMIT_S_MAX,
        f"more than 0 and at most {SUBMIT_S_MAX:g} seconds",
    ),
    ("remembers_ids_s", lambda value: _is_number(value) and value >= 0, "seconds from 0 on"),
    (
        "settle_s",
        lambda value: _is_number(value) and (value == 0 or value >= SETTLE_S_MIN),
        f"0, or at least {SETTLE_S_MIN:g} seconds",
    ),
    ("account", _is_text, "a text"),
)
_NEEDS: Final[tuple[tuple[str, str, Callable[[Capabilities], bool]], ...]] = (
    ("fetches", "takes_whole", lambda can: can.takes_whole),
    ("same_id_is_safe", "remembers_ids_s", lambda can: can.remembers_ids_s > 0),
    (
        "remembers_ids_s",
        "more than submit_s: a repeated submit must arrive in time",
        lambda can: can.remembers_ids_s > can.submit_s,
    ),
)


def is_block(block: object) -> bool:
    """Whether a block of a console page can be drawn: what a plugin gives must not break the
    drawing."""
    match block:
        case PageHeading(text) | PageText(text):
            return isinstance(text, str)
        case PageFigures(figures):
            return all(len(each) == 2 and isinstance(each[0], str) for each in figures)
        case PageTable(columns, rows):
            return bool(columns) and all(len(row) == len(columns) for row in rows)
        case PageForm(action, submit, fields):
            return bool(action and submit) and all(
                isinstance(each, FormField) and each.name.isidentifier() for each in fields
            )
    return False
