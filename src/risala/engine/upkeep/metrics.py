"""The engine's numbers in Prometheus' text format, made at each scrape.

The engine counts everything anyway, for the operator; a scrape turns the numbers into text, and
costs one bounded query on the queue. No label has a customer's data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from risala import __version__
from risala.engine.follow.esmes import Esmes
from risala.engine.journal.repositories import Repositories
from risala.engine.model.errors import StorageFailed
from risala.engine.model.features import features
from risala.engine.model.records.carriers.state import Carrier
from risala.engine.services import Services
from risala.engine.upkeep import carrier_metrics, house_metrics
from risala.engine.upkeep.carrier_metrics import Rows, counter, gauge

_BOUND_AS: Final = ("transmitter", "receiver", "transceiver")
_OUTCOMES: Final = ("accepted", "throttled", "refused", "uncertain", "late")
_GATES: Final = ("open", "paused", "draining", "leaving")

# For each carrier: the metric's name, the key among the carrier's numbers, and its meaning.
_LANE_GAUGES: Final = (
    ("in_flight", "in_flight", "Segments handed to the carrier and not yet answered."),
    ("window", "window_max", "Most segments that may be in flight."),
    (
        "silent_submits",
        "silent",
        "Segments that its driver has not answered within its time limit.",
    ),
    ("rate_per_second", "rate_per_s", "The current pace, in segments per second."),
    ("rate_max_per_second", "rate_max_per_s", "The configured pace."),
    ("breaker_open", "breaker_open", "1 while it gets no messages because of failures."),
    ("queue", "queue", "Messages waiting on its routes; not counted beyond 10000."),
)
_ACTOR_GAUGES: Final = (
    ("mailbox_messages", "mailbox_used", "Messages in an actor's mailbox."),
    ("mailbox_messages_peak", "mailbox_peak", "The most messages in it since the start."),
    ("mailbox_messages_max", "mailbox_max", "The most messages that it can hold."),
)


def render(parts: Services, *, ready: bool) -> bytes:
    """The whole page of metrics."""
    registry = CollectorRegistry()
    registry.register(_Engine(parts, ready=ready))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Engine(Collector):
    def __init__(self, parts: Services, *, ready: bool) -> None:
        self._parts = parts
        self._ready = ready

    def describe(self) -> Iterable[Metric]:
        return ()  # without this, registering the collector would collect once in vain

    def collect(self) -> Iterator[Metric]:
        numbers = self._parts.delivery.statistics()
        yield gauge("info", "1, with the version.", [({"version": __version__}, 1)])
        ready = self._ready
        yield gauge("ready", "1 while messages could be delivered.", [({}, ready)])
        if numbers:  # empty in a command that opens the engine alone: nothing runs there
            yield from _messages(numbers)
            yield from _journal(numbers["journal"])
            carriers = self._parts.delivery.carriers()
            yield from _lanes(carriers)
            yield from carrier_metrics.of_answers(carriers)
            yield from carrier_metrics.of_sims(carriers)
            yield from self._on_disk([each.name for each in carriers])
            for feature in features():
                if feature.live_metrics is not None:
                    yield from feature.live_metrics()(self._parts)
            yield from _actors(numbers["actors"])
            yield from _policies(numbers["policies"])
            yield from _set_aside(numbers["set_aside"])
            if self._parts.esmes.is_open:
                yield from _esmes(self._parts.esmes)
            text = "How often the whole service was blocked for seconds; the log has the stacks."
            yield counter("loop_blockages", text, [({}, numbers["loop"]["blockages"])])

    def _on_disk(self, carriers: list[str]) -> list[Metric]:
        """The values that a scrape reads from the disk; empty if the storage refuses: the other
        numbers are in memory, and needed most then."""
        parts = self._parts
        now_ms = parts.recorder.clock.now_ms()
        try:
            return [
                *house_metrics.of_journal(parts.repositories, now_ms),
                *_of_features(parts.repositories, now_ms),
                house_metrics.held_receipts(parts.repositories.receipts, carriers),
                *house_metrics.of_machine(Path(parts.settings.storage.data_dir), now_ms),
            ]
        except StorageFailed:
            return []


def _of_features(repositories: Repositories, now_ms: int) -> Iterator[Metric]:
    for feature in features():
        if feature.metrics is not None:
            yield from feature.metrics()(repositories, now_ms)


def _messages(numbers: dict[str, Any]) -> Iterator[Metric]:
    intake, queue = numbers["gateway"], numbers["queue"]
    yield counter("accepted", "Messages accepted since the start.", [({}, intake["accepted"])])
    yield counter(
        "message_changes",
        "How often a message came into a status since the start; requeued: a further attempt.",
        [({"status": status}, count) for status, count in sorted(numbers["messages"].items())],
    )
    for name, key in (("", "intake"), ("_peak", "intake_peak"), ("_max", "intake_max")):
        text = "Messages being accepted: now, at most since the start, at most ever."
        yield gauge(f"intake_messages{name}", text, [({}, intake[key])])
    yield gauge(
        "queue_rows",
        "Queued messages in memory: read ahead, and handed to carriers.",
        [({"place": "buffered"}, queue["rows_buffered"]), ({"place": "held"}, queue["rows_held"])],
    )
    text = "Organizations that may have something due."
    yield gauge("queue_organizations", text, [({}, queue["organizations_waiting"])])


def _journal(journal: dict[str, Any]) -> Iterator[Metric]:
    text = "Transactions that reached the disk."
    yield counter("journal_commits", text, [({}, journal["commits"])])
    yield counter("journal_units", "Units of work in them.", [({}, journal["units"])])
    text = "Most units that shared one transaction."
    yield gauge("journal_batch_units_peak", text, [({}, journal["largest_batch"])])
    for name, key in (("", "queue_used"), ("_peak", "queue_peak"), ("_max", "queue_max")):
        text = "Units that wait for the disk: now, at most since the start, at most ever."
        yield gauge(f"journal_queue_units{name}", text, [({}, journal[key])])
    text = "1 once the disk has refused since the start."
    yield gauge("journal_has_failed", text, [({}, journal["last_error"] is not None)])
    text = "1 while the storage has no known fault."
    yield gauge("storage_well", text, [({}, journal["ailment"] is None)])
    text = "Failed commits of which it is unknown whether they are stored."
    yield counter("journal_doubts", text, [({}, journal["doubts"])])


def _set_aside(loops: list[dict[str, Any]]) -> Iterator[Metric]:
    labelled = [({"loop": each["loop"]}, each) for each in loops]
    text = "Items that break a task for everybody, and wait aside."
    yield gauge("items_set_aside", text, [(who, len(each["items"])) for who, each in labelled])
    text = "How often an item broke such a task since the start."
    yield counter("item_faults", text, [(who, each["total"]) for who, each in labelled])


def _policies(policies: list[dict[str, Any]]) -> Iterator[Metric]:
    if not policies:
        return
    labelled = [({"policy": each["name"]}, each) for each in policies]
    for name, text in (
        ("asked", "Messages that a policy was shown."),
        ("refused", "Messages that it refused."),
        ("rewritten", "Messages that it rewrote."),
        ("failed", "Requests that were refused because it failed."),
    ):
        yield counter(f"policy_{name}", text, [(who, each[name]) for who, each in labelled])


def _esmes(esmes: Esmes) -> Iterator[Metric]:
    """The SMPP server for customers. Statuses are numbers, of which there are few."""
    totals, bound = esmes.totals(), Counter(view.kind for view in esmes.views())
    yield gauge("smpp_connections", "Connections of customers' SMPP.", [({}, totals.connections)])
    text = "Sessions that are bound."
    yield gauge("smpp_sessions", text, [({"kind": kind}, bound[kind]) for kind in _BOUND_AS])
    for name, counts, text in (
        ("binds", totals.binds, "Binds, by the command_status that answered them."),
        ("submits", totals.submits, "Submits, by the command_status that answered them."),
    ):
        rows = [({"status": f"0x{status:02X}"}, n) for status, n in sorted(counts.items())]
        yield counter(f"smpp_{name}", text, rows)
    text = "Receipts and texts that customers' software took."
    yield counter("smpp_delivered", text, [({}, totals.delivered)])
    text = "Receipts and texts that it refused for good."
    yield counter("smpp_not_taken", text, [({}, totals.refused)])


def _lanes(carriers: list[Carrier]) -> Iterator[Metric]:
    def rows(key: str) -> Rows:
        labelled = [({"carrier": each.name}, getattr(each, key)) for each in carriers]
        return [(who, value) for who, value in labelled if value is not None]

    text = "1 while its link is up."
    up = [({"carrier": each.name}, float(each.state == "up")) for each in carriers]
    yield gauge("carrier_up", text, up)
    yield gauge(
        "carrier_gate",
        "1 for the state that the operator has set.",
        [
            ({"carrier": each.name, "gate": gate}, each.gate == gate)
            for each in carriers
            for gate in _GATES
        ],
    )
    for name, key, text in _LANE_GAUGES:
        yield gauge(f"carrier_{name}", text, rows(key))
    yield gauge(
        "carrier_detail",
        "The numbers that its driver reports about it.",
        [
            ({"carrier": each.name, "detail": name}, value)
            for each in carriers
            for name, value in each.details.items()
            if isinstance(value, int | float)
        ],
    )
    text = "Receipts that matched no message, ever."
    yield counter("carrier_unmatched_receipts", text, rows("unmatched_receipts"))
    yield counter("carrier_submits", "Segments handed to it.", rows("submitted"))
    yield counter(
        "carrier_outcomes",
        "Its answers to the segments.",
        [
            ({"carrier": each.name, "outcome": outcome}, getattr(each, outcome))
            for each in carriers
            for outcome in _OUTCOMES
        ],
    )


def _actors(actors: list[dict[str, Any]]) -> Iterator[Metric]:
    def rows(key: str) -> Rows:
        return [({"actor": each["name"]}, each[key]) for each in actors]

    for name, key, text in _ACTOR_GAUGES:
        yield gauge(f"actor_{name}", text, rows(key))
    yield counter("actor_handled", "Messages that it handled.", rows("handled"))
    yield counter("actor_restarts", "How often it crashed and was restarted.", rows("restarts"))
