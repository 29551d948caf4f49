"""How a simulated SMSC reacts: the one object to replace for another temper.

:class:`SteadyBehaviour` is a carrier on a good day. A scenario is another class of this shape: it
decides every bind and submit and may keep state between them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from risala.drivers.smpp.pdu import Bind, DataSm, SubmitSm
from risala.sms.receipt import ReceiptState

_ESME_RINVPASWD: Final = 0x0E
_ESME_RINVSYSID: Final = 0x0F
_ESME_RTHROTTLED: Final = 0x58


@dataclass(frozen=True, slots=True)
class PlannedReceipt:
    after_s: float
    state: ReceiptState
    error_code: str = "000"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What becomes of one submit."""

    command_status: int = 0
    """0: taken, whether or not the answer ever arrives."""
    answer_after_s: float | None = 0.0
    """None: never."""
    drop_link: bool = False
    """The connection breaks in place of the answer."""
    receipts: tuple[PlannedReceipt, ...] = ()
    """Of a submit that was taken and asked for receipts; in any number."""


class Behaviour(Protocol):
    def on_bind(self, request: Bind) -> int:
        """The ``command_status`` of the answer."""

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        """``now_s`` is a clock that only ever goes forward."""


class SteadyBehaviour:
    """Takes what it is given, up to a rate.

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
        self._accounts = accounts
        self._answer_after_s = answer_after_s
        self._receipt_after_s = receipt_after_s
        self._receipt_state = receipt_state
        self._rate_per_s = rate_per_s
        self._jitter = jitter
        self._rng = rng or random.Random(0)  # noqa: S311 - a run should repeat itself
        self._tokens = rate_per_s or 0.0
        self._filled_at_s = 0.0

    def on_bind(self, request: Bind) -> int:
        if self._accounts is None:
            return 0
        if request.system_id not in self._accounts:
            return _ESME_RINVSYSID
        return 0 if self._accounts[request.system_id] == request.password else _ESME_RINVPASWD

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        answer_after_s = self._vary(self._answer_after_s)
        if self._rate_per_s is not None and not self._take_token(self._rate_per_s, now_s):
            return Reaction(_ESME_RTHROTTLED, answer_after_s)
        after_s = answer_after_s + self._vary(self._receipt_after_s)
        delivered = self._receipt_state is ReceiptState.DELIVERED
        error_code = "000" if delivered else "001"
        receipt = PlannedReceipt(after_s, self._receipt_state, error_code)
        return Reaction(0, answer_after_s, receipts=(receipt,))

    def _vary(self, span_s: float) -> float:
        return span_s * (1.0 + self._rng.uniform(0.0, self._jitter)) if self._jitter else span_s

    def _take_token(self, rate_per_s: float, now_s: float) -> bool:
        burst = max(rate_per_s, 1.0)
        refill = (now_s - self._filled_at_s) * rate_per_s if self._filled_at_s else burst
        self._tokens = min(burst, self._tokens + refill)
        self._filled_at_s = now_s
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True
