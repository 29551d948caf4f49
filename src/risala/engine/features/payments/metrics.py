"""Metrics of payments. All queries are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric

from risala.engine.features.payments.records import PaymentState
from risala.engine.features.payments.stored.repository import PaymentRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.upkeep.carrier_metrics import gauge

_OPEN: Final = (PaymentState.BEGUN, PaymentState.WAITING)
_DAY: Final = (*_OPEN, PaymentState.CONFIRMED, PaymentState.REFUSED)


def of_payments(repositories: Repositories, now_ms: int) -> Iterator[Metric]:
    """Payments by their states."""
    payments = repositories.part(PaymentRepository)
    known = payments.count_open()
    text = "Payments that are not decided yet, by their state; not counted beyond 10000."
    yield gauge(
        "payments_open", text, [({"state": state.value}, known.get(state, 0)) for state in _OPEN]
    )
    today = payments.count_of_day(now_ms)
    text = "Payments begun in the last 24 hours, by their state now; not counted beyond 10000."
    yield gauge(
        "payments_last_day", text, [({"state": state.value}, today.get(state, 0)) for state in _DAY]
    )
