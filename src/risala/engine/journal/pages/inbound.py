"""Pages of what came in, and of who has opted out, the latest first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.pages.stretch import Steps, Stretch, Walk, stretch
from risala.engine.journal.store.named import Rows


@dataclass(frozen=True, slots=True)
class Received:
    """A message that came in."""

    id: str
    organization_id: str | None
    carrier: str
    sender: str
    recipient: str | None
    body: str | None
    """None: it is not shown to whoever asks."""
    received_at: int


@dataclass(frozen=True, slots=True)
class OptOut:
    """A number that wants no messages of an organization."""

    recipient: str
    carrier: str
    """Through which it said so; empty: somebody noted it by hand."""
    at: int
    who: str | None
    """Who noted it; None: the number itself, by the keyword, or a user who was deleted since."""
    keyword: str | None


_ID: Final = ("id",)
_RECEIVED: Final = Rows(Received)
_OPT_OUTS: Final = Rows(OptOut)


def received(
    conn: sqlite3.Connection, organization_id: str | None, sender: str | None, steps: Steps
) -> Stretch[Received]:
    """Messages that came in, of one organization or of all, from one number or from any."""
    each: tuple[str, tuple[object, ...]] = ("1", ())
    mine = each if organization_id is None else ("organization_id = ?", (organization_id,))
    if sender is not None:
        walk = Walk("inbound INDEXED BY inbound_by_sender", "sender = ?", (sender,), *mine, _ID)
    elif organization_id is not None:
        walk = Walk("inbound INDEXED BY inbound_by_organization", *mine, *each, _ID)
    else:
        walk = Walk("inbound", "id > ?", ("",), *each, _ID)
    return stretch(conn, _RECEIVED, walk, steps, lambda one: (one.id,))


def opted_out(
    conn: sqlite3.Connection, organization_id: str, recipient: str | None, steps: Steps
) -> Stretch[OptOut]:
    """Numbers that want no messages of an organization; or whether one of them is one number."""
    where, mine, order = "organization_id = ?", (organization_id,), ("at", "recipient")
    if recipient is None:
        walk = Walk("opt_outs INDEXED BY opt_outs_by_organization", where, mine, "1", (), order)
    else:
        one = (*mine, recipient)
        walk = Walk("opt_outs", f"{where} AND recipient = ?", one, "1", (), order)
    return stretch(conn, _OPT_OUTS, walk, steps, lambda one: (one.at, one.recipient))
