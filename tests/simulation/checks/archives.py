"""Files with everything of an organization: each that was asked for is whole, and ends."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

if TYPE_CHECKING:
    from tests.simulation.world import World

FOLDER = "exports"


def faults(world: World, conn: sqlite3.Connection) -> Iterable[str]:
    """A file that can be fetched is there, and has every message from before it was asked for."""
    rows = conn.execute("SELECT * FROM exports ORDER BY created_at, id").fetchall()
    for export_id in world.exports - {row["id"] for row in rows}:
        yield f"LOST: {export_id} was asked for"
    wanted: set[str] = set()
    for row in rows:
        what, name = f"{row['id']} ({row['state']})", f"{row['id']}.zip"
        if row["state"] == "writing":
            yield f"{what} is still being written"
        if row["state"] == "failed" and row["reason"] != "no room":
            world.tally["files that a disk refused"] += 1
        if row["state"] != "ready":
            continue
        wanted.add(name)
        world.tally["files of an organization"] += 1
        try:
            there = _messages(world, name)
        except (OSError, BadZipFile) as error:
            yield f"LOST: {what}: {error!r}"
            continue
        # Before, by the wall's clock: where somebody sets it, that says nothing.
        known = set() if world.clock_was_set else _before(conn, row)
        if missing := known - there:
            yield f"LOST: {what} has no {missing}"
    for left in {each.name for each in (world.folder / FOLDER).glob("*")} - wanted:
        yield f"{left} is left, which nobody wants"


def _messages(world: World, name: str) -> set[str]:
    with ZipFile(world.folder / FOLDER / name) as archive:
        if (broken := archive.testzip()) is not None:
            raise BadZipFile(broken)
        lines = archive.read("messages.jsonl").splitlines()
    return {json.loads(line)["id"] for line in lines}


def _before(conn: sqlite3.Connection, row: sqlite3.Row) -> set[str]:
    found = conn.execute(
        "SELECT id FROM messages WHERE organization_id = ? AND created_at < ?",
        (row["organization_id"], row["created_at"]),
    )
    return {each["id"] for each in found}
