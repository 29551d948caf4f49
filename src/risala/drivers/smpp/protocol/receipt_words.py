"""What the words of receipts mean (``stat:`` of SMPP 3.4 appendix B). Pure.

The standard has eight; carriers have many more, and write the eight in their own way.
"""

from __future__ import annotations

import re
from typing import Final

from risala.sms.cause import Cause
from risala.sms.receipt import ReceiptState

WORD_MAX: Final = 20
"""Characters of a word or an error code that are read."""
clean: Final = re.compile(r"[^A-Za-z0-9_.+-]").sub
_not_letters: Final = re.compile(r"[^A-Z]").sub

_BY_WORD: Final = {
    "DLVRD": ReceiptState.DELIVERED,
    "SUCCE": ReceiptState.DELIVERED,
    "READ": ReceiptState.DELIVERED,
    "EXPIR": ReceiptState.EXPIRED,
    "TIMEO": ReceiptState.EXPIRED,
    "DELET": ReceiptState.DELETED,
    "CANCE": ReceiptState.DELETED,
    "UNDEL": ReceiptState.UNDELIVERABLE,
    "UNDLV": ReceiptState.UNDELIVERABLE,
    "NOTDE": ReceiptState.UNDELIVERABLE,
    "UNSUC": ReceiptState.UNDELIVERABLE,
    "FAIL": ReceiptState.UNDELIVERABLE,
    "FAILE": ReceiptState.UNDELIVERABLE,
    "FAILU": ReceiptState.UNDELIVERABLE,
    "ERROR": ReceiptState.UNDELIVERABLE,
    "NACK": ReceiptState.UNDELIVERABLE,
    "ABSEN": ReceiptState.UNDELIVERABLE,
    "UNREA": ReceiptState.UNDELIVERABLE,
    "INVAL": ReceiptState.UNDELIVERABLE,
    "REJEC": ReceiptState.REJECTED,
    "BLOCK": ReceiptState.REJECTED,
    "BARRE": ReceiptState.REJECTED,
    "BLACK": ReceiptState.REJECTED,
    "DND": ReceiptState.REJECTED,
    "NDNC": ReceiptState.REJECTED,
    "SPAM": ReceiptState.REJECTED,
    "UNKNO": ReceiptState.UNKNOWN,
    "UNCER": ReceiptState.UNKNOWN,
    "ACCEP": ReceiptState.ACCEPTED,
    "ACKED": ReceiptState.ACCEPTED,
    "SENT": ReceiptState.ACCEPTED,
    "SUBMI": ReceiptState.ACCEPTED,
    "ENROU": ReceiptState.ENROUTE,
    "BUFFE": ReceiptState.ENROUTE,
    "BUFFR": ReceiptState.ENROUTE,
    "QUEUE": ReceiptState.ENROUTE,
    "PENDI": ReceiptState.ENROUTE,
    "RETRY": ReceiptState.ENROUTE,
    "SCHED": ReceiptState.ENROUTE,  # 5.0: SCHEDULED
    "SKIPP": ReceiptState.UNDELIVERABLE,  # 5.0: SKIPPED
}
"""States by the first five letters of a receipt's word: DELIVRD and DELIVERED, REJECTD and REJECTED
are both in use, and carriers have words of their own beside the standard's eight."""
_BY_PHRASE: Final = {"UNKNOWNSUBSCRIBER": ReceiptState.UNDELIVERABLE}
"""States of words whose first letters would mislead."""
_CAUSES_OF_WORDS: Final = {
    "ABSEN": Cause.ABSENT,
    "UNREA": Cause.ABSENT,
    "SUBSCRIBERABSENT": Cause.ABSENT,
    "UNKNOWNSUBSCRIBER": Cause.UNKNOWN_NUMBER,
    "DND": Cause.BARRED,
    "NDNC": Cause.BARRED,
    "BARRE": Cause.BARRED,
    "SPAM": Cause.CONTENT_REFUSED,
}
_FAULT_WORDS: Final = (
    *("FAIL", "UNDELIV", "NOTDELIV", "ERROR", "REJECT", "IMPOSS"),
    *("ABSENT", "UNREACH", "INVALID", "NOTFOUND"),
)
"""Wherever they stand in a word such as DELIVERY_FAILED, it was not delivered."""
_delivery: Final = re.compile(r"DELIV[ER]*(?P<done>D?)Y?(?P<more>.*)").fullmatch
"""DELIVRD and DELIVERED say that it is done; of DELIVERY_PENDING the other word counts."""
_is_halfway: Final = re.compile("TO(?:NET|SMSC|CARR|OPER|GATE)").match
"""What follows DELIVERED where it means no phone: DeliveredToNetwork."""


def clean_word(stat: str) -> str:
    """A receipt's word in the form in which it is looked up."""
    return clean("", stat)[:WORD_MAX].upper()


def state_of_word(word: str) -> ReceiptState | None:
    """The state that a cleaned word means; None: nobody knows."""
    letters = _not_letters("", word)
    state = _BY_PHRASE.get(letters) or _of_delivery(letters) or _BY_WORD.get(letters[:5])
    is_fault = any(each in letters for each in _FAULT_WORDS)
    if is_fault and (state is None or state is ReceiptState.DELIVERED or not state.is_final):
        return ReceiptState.UNDELIVERABLE
    return state


def _of_delivery(letters: str) -> ReceiptState | None:
    """The state of a word that begins as DELIVERED or DELIVERY does."""
    delivery = _delivery(letters)
    if delivery is None:
        return None
    more = delivery["more"]
    if delivery["done"]:
        return ReceiptState.ACCEPTED if _is_halfway(more) else ReceiptState.DELIVERED
    return ReceiptState.DELIVERED if more in ("", "OK") else _BY_WORD.get(more[:5])


def cause_of_word(word: str) -> Cause | None:
    """Why it was not delivered, if a cleaned word tells more than the state."""
    letters = _not_letters("", word)
    return _CAUSES_OF_WORDS.get(letters) or _CAUSES_OF_WORDS.get(letters[:5])
