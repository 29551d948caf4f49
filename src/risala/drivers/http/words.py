"""What a carrier's words, statuses and codes mean: compact verdicts such as ``final BARRED``. Pure.

::

    yes | slow | uncertain | (final | carrier | now | recipient) [CAUSE]     of an answer
    DELIVERED | ENROUTE | UNDELIVERABLE | … [CAUSE]                          of a receipt
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from risala.dataclass import dataclass
from risala.sms.cause import Cause
from risala.sms.outcome import Scope
from risala.sms.receipt import ReceiptState

YES: Final = "yes"
SLOW: Final = "slow"
UNCERTAIN: Final = "uncertain"
_KINDS: Final = (YES, SLOW, UNCERTAIN, *Scope)
_STATUS: Final = re.compile(r"[1-5](?:[0-9]{2}|xx)")


class WordError(ValueError):
    """A verdict is none; the sentence says why."""


@dataclass(frozen=True, slots=True)
class WordVerdict:
    """What an answer means."""

    kind: str
    """``yes``, ``slow``, ``uncertain``, or how far a refusal reaches (:class:`Scope`)."""
    cause: Cause = Cause.REJECTED


@dataclass(frozen=True, slots=True)
class ReceiptVerdict:
    """What a word of a receipt means."""

    state: ReceiptState
    cause: Cause | None = None


DEFAULT_STATUSES: Final[Mapping[str, str]] = {
    "2xx": "yes",
    "301": "carrier UNSUPPORTED",
    "307": "carrier UNSUPPORTED",
    "308": "carrier UNSUPPORTED",
    "400": "carrier REJECTED",
    "401": "carrier NOT_ALLOWED",
    "402": "carrier NO_CREDIT",
    "403": "carrier NOT_ALLOWED",
    "404": "carrier UNSUPPORTED",
    "405": "carrier UNSUPPORTED",
    "408": "uncertain",
    "413": "carrier CONTENT_REFUSED",
    "425": "now CARRIER_FAULT",
    "429": "slow",
    "4xx": "carrier REJECTED",
    "503": "now CARRIER_FAULT",
}
"""What a status means where a preset says nothing else. Any other, such as 500, 502 and 504, is
uncertain: who says so may have passed the message on before."""


def verdict_of(written: str) -> WordVerdict:
    """A verdict as it is written.

    Raises:
        WordError: it is none.
    """
    kind, _, cause = written.strip().partition(" ")
    if kind not in _KINDS:
        raise WordError(f"a verdict begins with {_listed(_KINDS)}")
    if not cause:
        return WordVerdict(kind)
    if kind in (YES, SLOW, UNCERTAIN):
        raise WordError(f"`{kind}` has no cause")
    return WordVerdict(kind, cause_word(cause.strip()))


def receipt_verdict_of(written: str) -> ReceiptVerdict:
    """A verdict of a receipt as it is written.

    Raises:
        WordError: it is none.
    """
    state, _, cause = written.strip().partition(" ")
    if state not in ReceiptState.__members__:
        raise WordError(f"a state is one of {_listed(ReceiptState)}")
    return ReceiptVerdict(ReceiptState(state), cause_word(cause.strip()) if cause else None)


def cause_word(written: str) -> Cause:
    """A cause as it is written.

    Raises:
        WordError: the list of causes does not have it.
    """
    if written not in Cause.__members__:
        raise WordError("a cause is a word of docs/reference/error-codes.md, such as BARRED")
    return Cause(written)


def status_fault(written: str) -> str | None:
    """Why this stands for no statuses; None: it is ``404`` or ``4xx``."""
    return None if _STATUS.fullmatch(written) else "a status is written as `404` or `4xx`"


def by_status(table: Mapping[str, WordVerdict], status: int) -> WordVerdict | None:
    """What a status means: by itself, else by its hundred."""
    return table.get(str(status)) or table.get(f"{status // 100}xx")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in words)
