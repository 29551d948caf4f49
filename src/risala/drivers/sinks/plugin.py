"""Event sinks that are built in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from risala.drivers.sinks.jsonl import JsonlSettings, JsonlSink
from risala.drivers.sinks.page import TITLE, SinksPage
from risala.plugins.command import CommandFactory
from risala.plugins.hookspecs import hookimpl
from risala.plugins.page import ConsolePageFactory
from risala.plugins.sink import EventSinkFactory

if TYPE_CHECKING:
    import click

JSONL = EventSinkFactory(
    name="jsonl",
    settings=JsonlSettings,
    build=JsonlSink,
    summary="Into files, a line of JSON each, a new file from a size on",
)


PAGE = ConsolePageFactory(
    name="sinks",
    title=TITLE,
    build=SinksPage,
    summary="State of the event sinks",
)


def _sinks() -> click.Command:
    from risala.drivers.sinks.command import sinks

    return sinks


SINKS = CommandFactory(
    name="sinks",
    build=_sinks,
    summary="State of the event sinks",
)


@hookimpl
def risala_register_event_sinks(register: Callable[[EventSinkFactory], None]) -> None:
    register(JSONL)


@hookimpl
def risala_register_commands(register: Callable[[CommandFactory], None]) -> None:
    register(SINKS)


@hookimpl
def risala_register_console_pages(register: Callable[[ConsolePageFactory], None]) -> None:
    register(PAGE)
