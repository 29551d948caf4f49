"""The reactions of a simulated SMSC: the object to replace for other reactions.

:class:`SteadyBehaviour` is a carrier on a good day. Bad days are written as scenarios
(:mod:`risala.lab.smsc.scenario`), or as another class of this shape: it decides every bind and
submit and may keep state between them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from risala.drivers.smpp.protocol.pdu import Bind, DataSm, SubmitSm
from risala.lab.smsc.receipts import ReceiptForm
from risala.sms.receipt import ReceiptState

_ESME_RINVPASWD: Final = 0x0E
_ESME_RINVSYSID: Final = 0x0F
_ESME_RTHROTTLED: Final = 0x58


class Mishap(StrEnum):
    """Happens instead of the answer to a submit, when the answer would be due."""

    NEVER = "never"
    """Nothing."""
    TWICE = "twice"
    """The answer, and the answer again."""
    WRONG_SEQUENCE = "wrong_sequence"
    """The answer, under an unknown sequence number."""
    NACK = "nack"
    """A ``generic_nack`` without a reason."""
    GARBAGE = "garbage"
    """Octets that are no PDU."""
    HALF = "half"
    """The first half of the answer; then the connection breaks."""
    DROP = "drop"
    """The connection breaks."""
    UNBIND = "unbind"
    """The SMSC unbinds; pending requests get no answer."""
    DEAF = "deaf"
    """From now on the connection is open and silent."""


@dataclass(frozen=True, slots=True)
class PlannedReceipt:
    """A receipt that a submit will have."""

    after_s: float
    """Seconds from the submit to the receipt, which comes before the answer if this is less than
    ``Reaction.answer_after_s``."""
    state: ReceiptState
    error_code: str = "000"
    form: ReceiptForm = ReceiptForm.STANDARD
    is_sent: bool = True
    """False: the receipt gets lost; ``query_sm`` still shows the message's state."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """The reaction to one submit."""

    command_status: int = 0
    """The answer's ``command_status``; 0: accepted."""
    answer_after_s: float = 0.0
    mishap: Mishap | None = None
    is_taken: bool = True
    """An accepted submit reaches its phone. False if a mishap comes before the SMSC kept it."""
    receipts: tuple[PlannedReceipt, ...] = ()
    """The receipts that follow, any number of them, if the submit was accepted and requested
    receipts."""
    congestion_state: int | None = None
    """The load of the SMSC in the answer, 0 to 100; None: left out, as before SMPP 5.0."""


class Behaviour(Protocol):
    """Decides how the SMSC answers each bind and submit."""

    def on_bind(self, request: Bind) -> int | None:
        """The ``command_status`` of the answer to a bind; None: no answer."""

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        """The reaction to a submit.

        Args:
            system_id: the account that submits.
            now_s: seconds of a clock that only goes forward.
        """


class SmscAccounts:
    """The accounts that may bind: passwords by ``system_id``; None accepts anybody."""

    def __init__(self, accounts: Mapping[str, str] | None) -> None:
        self._accounts = accounts

    def status(self, request: Bind) -> int:
        if self._accounts is None:
            return 0
        if request.system_id not in self._accounts:
            return _ESME_RINVSYSID
        return 0 if self._accounts[request.system_id] == request.password else _ESME_RINVPASWD


class Pace:
    """Accepts submits up to a rate; as many as a second allows may come at once."""

    def __init__(self, rate_per_s: float | None) -> None:
        self._rate_per_s = rate_per_s
        self._tokens = max(rate_per_s or 0.0, 1.0)
        self._filled_at_s = 0.0

    def allows(self, now_s: float) -> bool:
        rate_per_s = self._rate_per_s
        if rate_per_s is None:
            return True
        refill = (now_s - self._filled_at_s) * rate_per_s
        self._tokens = min(max(rate_per_s, 1.0), self._tokens + refill)
        self._filled_at_s = now_s
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


class SteadyBehaviour:
    """Accepts submits, up to a rate.

    Args:
        accounts: ``system_id`` → password; None accepts anybody.
        answer_after_s, receipt_after_s: waits, each lengthened by up to ``jitter`` of itself.
        rate_per_s: submits above it are throttled; a second's worth may come at once.
    """

    def __init__(
        self,
        *,
        accounts: Mapping[str, str] | None = None,
        answer_after_s: float = 0.0,
        receipt_after_s: float = 0.5,
        receipt_state: ReceiptState = ReceiptState.DELIVERED,
        rate_per_s: float | None = None,
        jitter: float = 0.0,
        rng: random.Random | None = None,
    ) -> None:
        self._accounts = SmscAccounts(accounts)
        self._answer_after_s = answer_after_s
        self._receipt_after_s = receipt_after_s
        self._receipt_state = receipt_state
        self._pace = Pace(rate_per_s)
        self._jitter = jitter
        self._rng = rng or random.Random(0)  # noqa: S311 - a run should repeat itself
        # Made in advance only if nothing varies: otherwise the first submit must draw the first
        # random number, so that a run repeats itself.
        self._always = Reaction() if jitter else self._react()
        """The reaction to every submit, if nothing varies."""

    def on_bind(self, request: Bind) -> int | None:
        return self._accounts.status(request)

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        if not self._pace.allows(now_s):
            return Reaction(_ESME_RTHROTTLED, self._vary(self._answer_after_s))
        return self._react() if self._jitter else self._always

    def _react(self) -> Reaction:
        answer_after_s = self._vary(self._answer_after_s)
        after_s = answer_after_s + self._vary(self._receipt_after_s)
        delivered = self._receipt_state is ReceiptState.DELIVERED
        error_code = "000" if delivered else "001"
        receipt = PlannedReceipt(after_s, self._receipt_state, error_code)
        return Reaction(0, answer_after_s, receipts=(receipt,))

    def _vary(self, span_s: float) -> float:
        return span_s * (1.0 + self._rng.uniform(0.0, self._jitter)) if self._jitter else span_s
