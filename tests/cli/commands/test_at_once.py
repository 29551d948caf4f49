"""Each command beside a running service, every question of it asked six times at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.cli.test_both import FILES, ROWS, Row, World, _place, service

from risala.cli.reach import quick
from risala.cli.reach.client import RemoteGateway
from risala.cli.reach.quick import QuickGateway
from risala.cli.reach.refused import CommandRefused
from risala.http.common.control_path import CONTROL_NAME, unix_address

AT_ONCE = 6
ASKS = [row for row in ROWS if row.command not in FILES]
BROKEN = {500, 503}
"""No refusal of the engine's, but a fault: something happened that nobody thought of."""


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    data, config = _place(tmp_path_factory)
    with service(data, config) as process:
        yield World(data, config, running=True, service=process)


@pytest.fixture
def asked(beside: World, monkeypatch):
    """What each question was answered with; the command hears the first that was granted."""
    answers: list[tuple[str, list[Any]]] = []
    ask = QuickGateway.perform
    ready = Barrier(AT_ONCE)

    def one(name: str, arguments: dict[str, Any]) -> Any:
        with (
            unix_address(beside.data / CONTROL_NAME) as address,
            closing(quick._UnixConnection(address)) as connection,
        ):
            connection.connect()
            ready.wait()
            try:
                ask(QuickGateway(connection), name, arguments).send(None)
            except StopIteration as granted:
                return granted.value
            except CommandRefused as refused:
                return refused
        raise AssertionError("it waits for something else")

    async def many(_: object, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = list(threads.map(one, [name] * AT_ONCE, [arguments] * AT_ONCE))
        answers.append((name, found))
        granted = [each for each in found if not isinstance(each, CommandRefused)]
        if not granted:
            raise found[0]
        return granted[0]

    def begin() -> list[tuple[str, list[Any]]]:
        for gateway in (QuickGateway, RemoteGateway):
            monkeypatch.setattr(gateway, "perform", many)
        return answers

    return begin


@pytest.mark.long
@pytest.mark.parametrize("row", ASKS, ids=lambda row: row.command)
def test_each_is_granted_or_refused_and_nothing_breaks(
    beside: World, asked, row: Row, tmp_path: Path
):
    wanted = [each for _, each in row.holds if isinstance(each, str)]
    names = beside.prepare(tmp_path, *row.arguments, *wanted)
    answers = asked()
    done = beside.run(*row.command.split(), *(each.format(**names) for each in row.arguments))
    assert done.exit_code == row.beside, done.output
    for name, found in answers:
        refused = [each for each in found if isinstance(each, CommandRefused)]
        assert not [each for each in refused if each.status in BROKEN], (name, beside.faults())


@pytest.mark.long
def test_the_books_are_right_afterwards(beside: World):
    assert json.loads(beside.run("audit").stdout)["clean"]
