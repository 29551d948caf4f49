"""Metrics of mailings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import Metric

from risala.engine.features.mailings.records import MailingWait
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.upkeep.carrier_metrics import gauge


def _named_elsewhere(mailing_id: str, fault: Exception) -> None:
    """The loop that sends sets a mailing aside whose row cannot be read."""


def of_mailings(repositories: Repositories, _: int) -> Iterator[Metric]:
    """Mailings that send, and their rows."""
    started = repositories.part(MailingRepository).to_send(_named_elsewhere)
    sending = [stored.mailing for stored in started]
    waits = Counter(each.wait for each in sending)
    text = "Mailings that send, by what they wait for; `nothing`: they are under way."
    rows = [({"wait": "nothing"}, waits[None])]
    rows += [({"wait": wait.value}, waits[wait]) for wait in MailingWait]
    yield gauge("mailings_sending", text, rows)
    text = "Rows of these mailings that have not become messages yet."
    yield gauge("mailing_rows_ready", text, [({}, sum(each.ready for each in sending))])
