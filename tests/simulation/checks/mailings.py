"""What must have come of mailings: each person once, each row counted once, nothing left hanging.

A row's message is known by the key that it keeps for ever; a person is known by a word of their
own, which the message's text begins or ends with.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.world import World

STATES = ("ready", "bad", "left_out", "accepted", "refused")
"""By the number that a row carries."""
MAY_WAIT = ("hours", "spend_cap")
"""What a mailing may still wait for when everything else has come to its end."""
_WORD = re.compile(r"person\d+")


class Mailings:
    """What members were told of mailings, and the words of all people."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        """Mailing → organization."""
        self.deleted: set[str] = set()
        """Those that somebody wanted to delete, whether or not the wish was answered."""
        self.people: dict[str, str] = {}
        """Word → number."""
        self.repeats: dict[str, str] = {}
        """Those that repeat → the name that their runs' mailings have."""
        self.lists = 0
        self._numbers = 0

    def number(self) -> str:
        """Of a phone that nobody else writes to."""
        self._numbers += 1
        return f"+22232{self._numbers:06d}"

    def word(self, number: str) -> str:
        """The next person's."""
        word = f"person{len(self.people):05d}"
        self.people[word] = number
        return word


def faults(world: World, house: object, conn: sqlite3.Connection) -> Iterable[str]:
    """What is wrong with any of them."""
    rows = {row["id"]: row for row in conn.execute("SELECT * FROM main.mailings")}
    for mailing_id in set(world.mailings.told) - set(rows) - world.mailings.deleted:
        yield f"LOST: mailing {mailing_id} was made"
    messages = _messages(conn)
    for row in rows.values():
        yield from _mailing(world, conn, row, messages.get(row["id"], {}))
    yield from _people(world, messages)
    yield from _repeats(world, conn)
    world.tally["mailings"] += len(rows)
    world.tally["messages of mailings"] += sum(map(len, messages.values()))


def _repeats(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    """Each run has one mailing, and each such mailing one run: none took place twice."""
    runs = conn.execute(
        "SELECT repeat_id, due_at, outcome, mailing_id FROM main.repeat_runs"
    ).fetchall()
    world.tally["runs of repeats"] += len(runs)
    known = Counter(run["mailing_id"] for run in runs if run["mailing_id"] is not None)
    for mailing_id in (each for each, count in known.items() if count > 1):
        yield f"DOUBLED: mailing {mailing_id} is of several runs"
    for run in runs:
        if run["outcome"] == "made":
            yield f"the run {run['due_at']} of {run['repeat_id']} hangs"
    names = {*world.mailings.repeats.values()}
    for mailing in conn.execute(
        "SELECT id, name, source FROM main.mailings WHERE deleted_at IS NULL AND source = 'list'"
    ):
        if mailing["name"] in names and mailing["id"] not in known:
            yield f"DOUBLED: mailing {mailing['id']} is of no run of its repeat"


def _messages(conn: sqlite3.Connection) -> dict[str, dict[int, sqlite3.Row]]:
    """By mailing and row."""
    found: dict[str, dict[int, sqlite3.Row]] = defaultdict(dict)
    for message in conn.execute("SELECT * FROM main.message WHERE client_key GLOB 'mlg_*:*'"):
        mailing_id, _, row = message["client_key"].partition(":")
        found[mailing_id][int(row)] = message
    return found


def _mailing(
    world: World, conn: sqlite3.Connection, mailing: sqlite3.Row, messages: dict[int, sqlite3.Row]
) -> Iterable[str]:
    what = f"mailing {mailing['id']} ({mailing['state']}, {mailing['wait']})"
    if mailing["deleted_at"] is not None or not mailing["keeps_rows"]:
        return
    rows = conn.execute(
        "SELECT * FROM mailing_rows WHERE mailing = ? ORDER BY row", (mailing["key"],)
    ).fetchall()
    counted = Counter(STATES[row["state"]] for row in rows)
    told = {name: mailing[name] for name in STATES if mailing[name]}
    if counted != Counter(told) or mailing["rows"] != len(rows):
        yield f"{what} has {dict(counted)}, and says {told} of {mailing['rows']}"
    paid = [row for row in rows if STATES[row["state"]] in ("ready", "accepted")]
    for name in ("segments", "price"):
        if mailing[name] != sum(row[name] for row in paid):
            yield f"{what} has {sum(row[name] for row in paid)} {name}, and says {mailing[name]}"
    for row in rows:
        yield from _row(what, row, messages.get(row["row"]))
    if orphans := set(messages) - {row["row"] for row in rows}:
        yield f"DOUBLED: {what} has messages of rows that it does not have: {orphans}"
    yield from _end(what, mailing, counted)


def _row(what: str, row: sqlite3.Row, message: sqlite3.Row | None) -> Iterable[str]:
    state, place = STATES[row["state"]], f"row {row['row']} of {what}"
    if (state == "accepted") != (message is not None):
        yield f"LOST: {place} is {state}, and has {'no' if message is None else 'a'} message"
    elif message is not None:
        if row["message"] != message["key"]:
            yield f"{place} names another message than its own"
        if (row["price"], row["segments"]) != (message["price"], message["segments"]):
            yield f"MISCHARGED: {place} says {row['price']} of {message['price']}"
        if message["charge"] is None:
            yield f"MISCHARGED: the message of {place} was not charged"


def _end(what: str, mailing: sqlite3.Row, counted: Counter[str]) -> Iterable[str]:
    match mailing["state"]:
        case "checking" | "paused":
            yield f"{what} hangs"
        case "sending" if mailing["wait"] not in MAY_WAIT:
            yield f"{what} hangs with {dict(counted)}"
        case "done" if counted["ready"]:
            yield f"LOST: {what} has {counted['ready']} rows that are ready"


def _people(world: World, messages: dict[str, dict[int, sqlite3.Row]]) -> Iterable[str]:
    """Each got one message of each mailing at most, by their own phone."""
    got: dict[tuple[str, str], list[str]] = defaultdict(list)
    of = {each["id"]: mailing for mailing, rows in messages.items() for each in rows.values()}
    for carrier in world.carriers:
        for copy in carrier.taken:
            segment = copy.segment
            mailing = of.get(segment.message_id)
            for word in _WORD.findall(segment.text)[:1] if mailing is not None else ():
                if segment.message_id not in got[mailing, word]:
                    got[mailing, word].append(segment.message_id)
                if world.mailings.people.get(word, segment.recipient) != segment.recipient:
                    yield f"{segment.recipient} got the text of {word}"
    for (mailing, word), ids in got.items():
        if len(ids) > 1:
            yield f"DOUBLED: {word} of {mailing} got {ids}"
    world.tally["people of mailings"] += len(got)
