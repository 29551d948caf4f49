"""Families of metrics of the client library, under our name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

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
