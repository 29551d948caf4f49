"""What is stored of opt-outs' words, and what a text does: in the transaction that stores the text.

The settings of an organization are one row, which is read for a text of one or two words alone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.lists import stored_opt_outs
from risala.engine.features.lists.stored import recipient_list
from risala.engine.features.opt_out_words.records import (
    DEMANDS_MAX,
    Back,
    ConfirmationRule,
    Demand,
    OptOutSettings,
    OwnAnswer,
    OwnWord,
)
from risala.engine.features.opt_out_words.words import WordRole
from risala.engine.journal.accounts import accounts
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound

_WORDS: Final = "opt_out_words"
_DEMANDS: Final = "opt_out_demands"


def settings_of(conn: sqlite3.Connection, organization_id: str) -> OptOutSettings:
    """What an organization chose; the words that always count, without an answer, if nothing.

    Words of lists that are gone name nothing, and are left out.
    """
    row = conn.execute(
        "SELECT sets, answered, back, words, texts FROM opt_out_words WHERE organization_id = ?",
        (organization_id,),
    ).fetchone()
    if row is None:
        return OptOutSettings(organization_id)
    sets, answered, back, words, texts = row
    own = (_word(each) for each in json.loads(words))
    return OptOutSettings(
        organization_id,
        tuple(json.loads(sets)),
        tuple(json.loads(answered)),
        Back(back),
        tuple(each for each in own if each.list_id is None or _is_list(conn, each.list_id)),
        tuple(OwnAnswer(WordRole(each.pop("role")), **each) for each in json.loads(texts)),
    )


def _word(written: dict[str, Any]) -> OwnWord:
    return OwnWord(**{**written, "role": WordRole(written["role"])})


def _is_list(conn: sqlite3.Connection, list_id: str) -> bool:
    try:
        recipient_list(conn, list_id)
    except NotFound:
        return False
    return True


def change(
    conn: sqlite3.Connection,
    organization_id: str,
    new_of: Callable[[OptOutSettings], OptOutSettings],
) -> OptOutSettings:
    """Store what becomes of an organization's settings: two who change them at once lose nothing.

    Raises:
        NotFound: no such organization.
        Refusal: ``new_of`` refuses the change.
    """
    accounts.organization(conn, organization_id)
    settings = new_of(settings_of(conn, organization_id))
    row = {
        "organization_id": settings.organization_id,
        "sets": json.dumps(settings.sets),
        "answered": json.dumps(settings.answered),
        "back": settings.back.value,
        "words": json.dumps([asdict(each) for each in settings.words]),
        "texts": json.dumps([asdict(each) for each in settings.texts]),
    }
    writable(conn, _WORDS).upsert(row)
    return settings


def export(conn: sqlite3.Connection, organization_id: str) -> OptOutSettings:
    """The settings for an owner's file."""
    return settings_of(conn, organization_id)


# -- what networks ask for


def demands(conn: sqlite3.Connection) -> list[Demand]:
    """What networks and countries ask for, by prefix."""
    rows = conn.execute(
        "SELECT prefix, confirmation, sets, set_at, set_by FROM opt_out_demands ORDER BY prefix"
    )
    return [
        Demand(prefix, ConfirmationRule(confirmation), tuple(json.loads(sets)), at, by)
        for prefix, confirmation, sets, at, by in rows
    ]


def put_demand(conn: sqlite3.Connection, new: Demand) -> None:
    """Store what a network asks for; nothing: what it asked for is forgotten.

    Raises:
        Conflict: there are too many.
    """
    stored = writable(conn, _DEMANDS)
    stored.delete_where("prefix = ?", (new.prefix,))
    if new.confirmation is ConfirmationRule.FREE and not new.sets:
        return
    if table(conn, _DEMANDS).count >= DEMANDS_MAX:
        raise Conflict(f"At most {DEMANDS_MAX} networks can ask for something. Remove one first.")
    values = {**asdict(new), "sets": json.dumps(new.sets), "confirmation": new.confirmation.value}
    stored.insert(values)


def routed_words(conn: sqlite3.Connection, words: Sequence[str]) -> set[str]:
    """Which of these words lead texts to an organization, by a route of the operator."""
    rows = conn.execute(
        f"SELECT keyword FROM inbound_routes WHERE keyword IN ({markers(words)})",  # noqa: S608 -- markers
        tuple(words),
    )
    return {word for (word,) in rows}


def back_of(conn: sqlite3.Connection, organization_id: str) -> Back:
    """Who takes an organization's opt-outs back."""
    where = "SELECT back FROM opt_out_words WHERE organization_id = ?"
    return Back(value_of(conn, where, (organization_id,)) or Back.PERSON)


def _list_out(conn: sqlite3.Connection, list_id: str, number: str, who: str, now_ms: int) -> bool:
    return stored_opt_outs.opt_out(conn, list_id, number, now_ms, who=who)


@dataclass(frozen=True, slots=True)
class OptOutWordRepository:
    """Settings of opt-outs, and what networks ask for: small tables, read by an index on the loop's
    thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    settings_of = read(settings_of)
    demands = read(demands)
    routed_words = read(routed_words)
    back_of = read(back_of)
    policies = read(opt_outs.policies)
    change = audited_command(change)
    put_demand = audited_command(put_demand)
    list_out = audited_command(_list_out)
    list_back = audited_command(stored_opt_outs.take_back)
