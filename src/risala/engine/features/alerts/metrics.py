"""Metrics of alerts."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.upkeep.carrier_metrics import gauge


def of_alerts(repositories: Repositories, _: int) -> Iterator[Metric]:
    """Alerts that are open."""
    raised = repositories.part(AlertRepository).open_counts()
    text = "Alerts that are open, by their kind."
    yield gauge("alerts_open", text, [({"kind": kind.value}, raised[kind]) for kind in AlertKind])
