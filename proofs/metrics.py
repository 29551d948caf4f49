"""The page of metrics and alerts: what a scrape says of each metric, and what each alert is about.

A running service writes the metrics: ``make generated`` plays the test that has one
(``tests/engine/upkeep/test_deploy.py``), which writes the page where ``RISALA_WRITE`` is set, and
else compares it. Alerts are told by the docstrings of :class:`AlertKind`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Final

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from risala.engine.features.alerts.records import AlertKind

PAGE: Final = Path(__file__).parents[1] / "docs/reference/metrics-list.md"
_OPEN: Final = {
    *("actor", "carrier", "channel", "detail", "le", "loop", "policy", "sink", "status"),
    "version",
}
"""Labels whose values are names, or too many: the others' are listed."""
_HEAD: Final = """\
# All metrics and alerts

<!-- Written by `make generated`, from what a running service answers; change the texts beside the
metrics in `src/risala/engine/`, and those of `AlertKind`. -->

[Metrics](metrics.md) tells who gets them, and [Watch it](../how-to/watch-it.md#alerts) how alerts
are told.

## Metrics

| Metric | Type | |
|---|---|---|
"""
_ALERTS: Final = """
## Alerts

The last sentence says what an alert is of. The figures are settings
([`[alerts]`](configuration.md#alerts)).

| Alert | |
|---|---|
"""


def render(exposition: str) -> str:
    """The page, from the text of a scrape that has every metric."""
    families = text_string_to_metric_families(exposition)
    rows = (_row(each) for each in families if not each.name.startswith("process_"))
    alerts = (f"| `{kind}` | {told} |\n" for kind, told in _kinds())
    return _HEAD + "".join(rows) + _ALERTS + "".join(alerts)


def _row(family: Metric) -> str:
    """A metric with its labels, and the values of those that have few."""
    values: dict[str, dict[str, None]] = {}
    for sample in family.samples:
        for label, value in sample.labels.items():
            values.setdefault(label, {})[value] = None
    values.pop("le", None)
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = f"{{{', '.join(values)}}}" if values else ""
    lists = "".join(
        f" `{label}`: {', '.join(f'`{value}`' for value in few)}."
        for label, few in values.items()
        if label not in _OPEN and len(few) > 1
    )
    return f"| `{name}{labels}` | {family.type} | {family.documentation}{lists} |\n"


def _kinds() -> Iterator[tuple[str, str]]:
    """Each alert with the docstring below it."""
    tree = ast.parse(dedent(inspect.getsource(AlertKind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for pair in pairwise(tree.body):
        match pair:
            case (
                ast.Assign(value=ast.Constant(value=str(kind))),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield kind, " ".join(text.split()).replace("``", "`")
