"""One town, and everything that is answered and shown in it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.proofs.authorization.conftest import AT_THE_MACHINE, City, MovedClock, built_city
from tests.proofs.authorization.test_hostile_words import (
    BANK,
    ENDLESS,
    HostileReceivers,
    addresses,
    answered_by_servers,
    plant,
    said_by_carriers,
    written_by_phones,
)
from tests.proofs.authorization.test_posts import WELL_FORMED

from patience import until_true
from proofs.authorization.expected import Visitor
from proofs.same.files import write
from proofs.same.plain import plain
from proofs.same.statements import Statements, schema
from risala.engine.gateway.table import OPERATIONS
from risala.engine.kernel.operation import Operation
from risala.engine.model.callers import PROCESS, Caller
from risala.engine.model.errors import Refusal
from risala.engine.model.ids import IdSource
from risala.engine.model.people import Language
from risala.engine.wiring.foundation import DATABASE, Seams
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from web_browser import Reader

STEP_MS: Final = 1
"""For each change; within one, time stands still."""


_OF_MACHINE: Final = {
    *("answer_le", "answer_sum_s", "answers_within", "diskFreeBytes", "pid", "uptimeS", "dataDir"),
    *(
        "commits",
        "units",
        "largest_batch",
        "queue_peak",
        "handled",
        "databaseBytes",
        "walBytes",
        "diskTotalBytes",
    ),
}
"""Members of answers that no two runs share."""


class StillClock(MovedClock):
    """Shows the same time until it is moved."""

    def now_ms(self) -> int:
        return self._start_ms + self.moved_ms


class Ascending:
    """Octets for ids that are made within the same millisecond: each more than the one before."""

    def __init__(self) -> None:
        self._drawn = 0

    def __call__(self, count: int) -> bytes:
        self._drawn += 1
        return bytes(self._drawn >> 5 * each & 31 for each in range(count - 1, -1, -1))


class Answers:
    """What each operation was asked and has answered."""

    def __init__(self, city: City) -> None:
        self._city, self._perform = city, city.gateway.perform
        self._lines: dict[str, dict[str, str]] = {}
        city.gateway.perform = self.perform

    async def perform(
        self, name: str, arguments: Mapping[str, Any], caller: Caller = PROCESS
    ) -> dict[str, Any]:
        """As the gateway does it, with a line about it."""
        if OPERATIONS[name].changes:  # others are asked until something is ready
            self._city.clock.moved_ms += STEP_MS
        asked = json.dumps(arguments, default=str, ensure_ascii=False)
        try:
            answer: dict[str, Any] = await self._perform(name, dict(arguments), caller)
        except Refusal as refusal:
            self._note(name, asked, f"{type(refusal).__name__}: {refusal}")
            raise
        if name == "webhook.test":  # a try may be over by now, or not
            answer["delivery"]["attempts"] = None
        self._note(name, asked, json.dumps(_steady(answer), indent=1, ensure_ascii=False))
        return answer

    async def try_each(self, things: Mapping[str, Any]) -> None:
        """Ask each operation for nothing, for what it does not know, and for what it is about."""
        for name, operation in sorted(OPERATIONS.items(), key=_reads_first):
            fields = operation.arguments.model_fields
            known = {each: things[each] for each in fields if each in things}
            must = {each: known.get(each, "x") for each in fields if fields[each].is_required()}
            for arguments in ({}, {"unheard_of": 1}, must, known):
                try:
                    await self.perform(name, arguments, AT_THE_MACHINE)
                except Refusal:
                    continue  # the refusal is noted

    def _note(self, name: str, asked: str, answer: str) -> None:
        self._lines.setdefault(name, {})[asked] = answer  # the last one, of what was waited for

    def texts(self) -> Mapping[str, str]:
        return {
            name: "\n".join(f"{asked}\n→ {answer}\n" for asked, answer in lines.items())
            for name, lines in self._lines.items()
        }


def _steady(answer: Any) -> Any:  # noqa: ANN401 -- any JSON
    """Without what the machine is and how fast it was."""
    if isinstance(answer, dict):
        found = {name: _steady(value) for name, value in answer.items()}
        return found | dict.fromkeys(found.keys() & _OF_MACHINE)
    return [_steady(each) for each in answer] if isinstance(answer, list) else answer


async def write_town(folder: Path, place: Path, statements: Statements) -> None:
    """Build it in ``folder``, and write what it says below ``place``."""
    clock = StillClock()
    seams = Seams(clock, IdSource(clock, Ascending()))
    async with built_city(folder, HostileReceivers(), BANK, seams) as city:
        answers = Answers(city)
        await plant(city)
        messages, opened = await said_by_carriers(city), await answered_by_servers(city)
        await written_by_phones(city)
        things = {**city.things["own"], "organization_id": city.organizations["own"]}
        things["carrier"] = "fake"
        find = partial(addresses, things=things, messages=messages, opened=opened)
        await until_true(lambda: _is_forgotten(city))
        for language in Language:
            await _write_pages(city, find, language, place / "pages" / language.value)
        await answers.try_each({**WELL_FORMED, **things})
        texts = answers.texts()
        assert texts.keys() == OPERATIONS.keys(), texts.keys() ^ OPERATIONS.keys()
        for name, text in texts.items():
            write(place / f"answers/{name}.json", plain(text))
        metrics = city.gateway.metrics().decode().splitlines()
        write(place / "metrics.txt", "\n".join(sorted(map(_without_value, metrics))))
        write(place / "schema.sql", schema(folder / DATABASE))
        write(place / "plans.sql", "\n".join(statements.plans(folder / DATABASE)))


def _is_forgotten(city: City) -> bool:
    """Whether the numbers that were to be forgotten are."""
    with closing(sqlite3.connect(city.database)) as conn:
        return conn.execute("SELECT 1 FROM erasures WHERE ended_at IS NULL").fetchone() is None


def _reads_first(named: tuple[str, Operation[Any, Any]]) -> tuple[bool, bool, str]:
    name, operation = named
    return operation.changes, name.endswith(("delete", "remove", "forget")), name


def _without_value(line: str) -> str:
    """A line of metrics: which there are, and with which labels."""
    return line if line.startswith("#") else line.rpartition(" ")[0]


async def _write_pages(
    city: City, find: Callable[..., Sequence[str]], language: Language, place: Path
) -> None:
    """Each page, as an owner and an operator of this language see it."""
    for email in ("owner@own.example", "operator@risala.example"):
        await city.do("user.set", email=email, language=language.value)
    readers = (
        (Reader(city.dashboard, dict(city.cookies[Visitor.OWNER])), CUSTOMERS),
        (Reader(city.console, dict(city.cookies[Visitor.OPERATOR])), OPERATORS),
    )
    folder = str(city.database.parent)
    for reader, routes in readers:
        for route in sorted(routes, key=lambda each: each.path):  # whatever order tables have
            if route.method != "GET" or route.path.endswith(ENDLESS):
                continue
            for number, address in enumerate(list(find(route))[:-1]):
                page = await reader.get(address)
                assert page.status < 500, (address, page.status)
                name = re.sub(r"[<>]", "", route.path).strip("/").replace("/", ".") or "index"
                head = f"{page.status} {page.headers['content-type']} {page.location or ''}\n"
                text = plain(head + page.text)
                for known, word in ((folder, "FOLDER"), (str(os.getpid()), "PID")):
                    text = text.replace(f"{known}</code>", f"{word}</code>")
                write(place / f"{name}~{number}.html", text)
