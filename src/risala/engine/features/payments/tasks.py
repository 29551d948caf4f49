"""What follows payments: their ends, providers that are asked, and banks' texts."""

from __future__ import annotations

from collections.abc import Sequence

from risala.engine.model.features import Task
from risala.engine.services import Services


def tasks(services: Services) -> Sequence[Task]:
    payments = services.payments
    return (
        ("payments", payments.run, True),
        ("payments' polls", payments.polls.run, True),
        ("payments' texts", payments.ear.run, True),
    )
