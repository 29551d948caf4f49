"""Metrics of carriers' answers, receipts and SIMs. A carrier has those that its driver provides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from risala.engine.delivery.worker.parts import BUCKETS_S
from risala.engine.model.records.carriers.state import Carrier, Fact

_QUOTAS: Final = (
    ("day", "segments_today", "segments_per_day_max"),
    ("month", "recipients_this_month", "recipients_per_month_max"),
)


def of_answers(carriers: list[Carrier]) -> Iterator[Metric]:
    """The times of carriers' answers, and their receipts."""
    text = "How long it took to answer a submit."
    rows = [(each.name, each.answer_buckets, each.answer_sum_s) for each in carriers]
    yield histogram("carrier_answer_seconds", text, "carrier", BUCKETS_S, rows)
    text = "Receipts that it gave since the start, matched or not."
    yield counter("carrier_receipts", text, _rows(carriers, "receipts_taken"))
    text = "1 while it gives receipts."
    yield gauge("carrier_gives_receipts", text, _rows(carriers, "receipts"))
    text = "Receipts that named no message and were dropped, since the driver started."
    rows_of = [(each, each.details.get("receipts_dropped", 0)) for each in carriers]
    yield counter("carrier_dropped_receipts", text, _counts(rows_of))
    text = "Receipts that ended no message (under way, or a word that nobody knows), since then."
    rows_of = [(each, each.details.get("receipts_unfinal", 0)) for each in carriers]
    yield counter("carrier_unfinal_receipts", text, _counts(rows_of))


def _rows(carriers: list[Carrier], key: str) -> Rows:
    return [({"carrier": each.name}, float(getattr(each, key))) for each in carriers]


def _counts(facts: list[tuple[Carrier, Fact]]) -> Rows:
    return [
        ({"carrier": each.name}, float(count) if isinstance(count, int) else 0.0)
        for each, count in facts
    ]


def of_sims(carriers: list[Carrier]) -> Iterator[Metric]:
    """Signal, quota and balance of modems."""
    text = "Strength of its network's signal, in dBm."
    yield gauge("carrier_signal_dbm", text, _rows_of(carriers, "signal_dbm"), labels=("carrier",))
    text = "The balance of its SIM, as the network reported it."
    yield gauge("carrier_sim_balance", text, _rows_of(carriers, "sim_balance"), labels=("carrier",))
    used, most = [], []
    for each in carriers:
        for period, used_key, most_key in _QUOTAS:
            labels = {"carrier": each.name, "period": period}
            if (value := _number(each, used_key)) is not None:
                used.append((labels, value))
            if (value := _number(each, most_key)) is not None:
                most.append((labels, value))
    names = ("carrier", "period")
    text = "Of its SIM's quota: segments of the day, or recipients of the month, that are used."
    yield gauge("carrier_quota_used", text, used, labels=names)
    yield gauge("carrier_quota_max", "The quota itself.", most, labels=names)


def _rows_of(carriers: list[Carrier], key: str) -> Rows:
    return [
        ({"carrier": each.name}, value)
        for each in carriers
        if (value := _number(each, key)) is not None
    ]


def _number(carrier: Carrier, key: str) -> float | None:
    value = carrier.details.get(key)
    return value if isinstance(value, int | float) else None


# Families of metrics of the client library, under our name.

Rows = Iterable[tuple[dict[str, str], float]]
"""Labels and values; each row has the same labels."""


def gauge(name: str, text: str, rows: Rows, *, labels: Sequence[str] = ()) -> Metric:
    """
    Args:
        labels: the labels' names, needed if there is no row.
    """
    rows = list(rows)
    names = list(rows[0][0]) if rows else list(labels)
    family = GaugeMetricFamily(f"risala_{name}", text, labels=names)
    for values, number in rows:
        family.add_metric(list(values.values()), float(number))
    return family


def counter(name: str, text: str, rows: Rows) -> Metric:
    rows = list(rows)
    labels = list(rows[0][0]) if rows else []
    family = CounterMetricFamily(f"risala_{name}", text, labels=labels)
    for values, number in rows:
        family.add_metric(list(values.values()), float(number))
    return family


def histogram(
    name: str,
    text: str,
    label: str,
    ends: Sequence[float],
    rows: Iterable[tuple[str, Sequence[int], float]],
) -> Metric:
    """
    Args:
        ends: the buckets' upper ends, except the last one, which has none.
        rows: the label's value, the counts up to each end and of all, and the sum.
    """
    family = HistogramMetricFamily(f"risala_{name}", text, labels=[label])
    bounds = [*map(str, ends), "+Inf"]
    for value, counts, whole in rows:
        buckets = [(end, float(count)) for end, count in zip(bounds, counts, strict=True)]
        family.add_metric([value], buckets, whole)
    return family
