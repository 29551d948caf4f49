"""All that an operator could read of a driver."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from risala.plugins.contract import Outcome
from risala.plugins.testing.called import CallbackAnswer
from risala.plugins.testing.drivers.stage import DriverStage


def all_reports(stage: DriverStage, outcome: Outcome | None = None) -> Iterator[tuple[str, str]]:
    """What the driver has reported, with its place."""
    context = stage.context
    for health in context.healths:
        yield "a Health", f"{health.text} {dict(health.details)}"
    for trace in context.traces:
        yield "a trace", trace
    for _, line in context.wire:
        yield "a line of traffic", line
    for receipt in context.receipts:
        yield "raw of a Receipt", receipt.raw
    if outcome is not None:
        yield "the outcome", f"{outcome.raw} {getattr(outcome, 'text', '')}"


def call_reports(
    stage: DriverStage, answers: Sequence[CallbackAnswer]
) -> Iterator[tuple[str, str]]:
    """What calls have left beside, with its place."""
    yield from (("a note", f"{key} {text}") for key, text in stage.context.notes.items())
    yield from (("an exception", str(one)) for one in stage.address.watched.raised)
    for one in answers:
        yield "an answer", f"{one.body.decode('latin-1')} {dict(one.headers)}"


@contextmanager
def heard_words() -> Iterator[io.StringIO]:
    """What is printed meanwhile, and logged from the level of information on."""
    written, root = io.StringIO(), logging.getLogger()
    handler, before = logging.StreamHandler(written), root.level
    root.addHandler(handler)
    root.setLevel(min(before or logging.INFO, logging.INFO))
    try:
        with redirect_stdout(written), redirect_stderr(written):
            yield written
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
