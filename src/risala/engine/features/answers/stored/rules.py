"""The rules that answer texts, as they are stored, and the text that meets one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.answers.records import AnswerKind
from risala.engine.features.answers.rules.matching import Came, Matched, local, matching
from risala.engine.features.answers.stored.queue import put_in
from risala.engine.features.lists.stored import rows_of_numbers
from risala.engine.features.tables.rules.rendering import name_in
from risala.engine.journal.accounts import accounts
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.records.answer_rules import RULES_MAX, AnswerRule
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.record import shallow
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, only_word
from risala.sms.message import Inbound

BEFORE_LOOKED: Final = 1000
"""Texts of one sender, to whichever organization, among which those before are looked for: a
number that is a name may have sent any number of them."""
_TABLE: Final = "answer_rules"
_ROWS: Final = Rows.of_record(AnswerRule)


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[AnswerRule]:
    """The rules of an organization, in their order."""
    whose = (organization_id,)
    return _ROWS.find(table(conn, _TABLE), "organization_id = ?", whose, order_by="place, id")


def find(conn: sqlite3.Connection, rule_id: str) -> AnswerRule:
    """One rule.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), rule_id, "There is no rule {}.")


def add(conn: sqlite3.Connection, new: AnswerRule, place: int | None) -> AnswerRule:
    """Store a rule.

    Args:
        place: where it stands among the others, from 1; None: behind them.

    Raises:
        NotFound: no such organization.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    others = of_organization(conn, new.organization_id)
    if len(others) >= RULES_MAX:
        text = f"An organization can have at most {RULES_MAX} rules. Delete one first."
        raise Conflict(text)
    added = replace(new, place=len(others) + 1)
    writable(conn, _TABLE).insert(columns_of(shallow(added)))
    if place is not None:
        _move(conn, added, place)
    return find(conn, new.id)


def change(
    conn: sqlite3.Connection, rule_id: str, values: Mapping[str, Any], place: int | None
) -> AnswerRule:
    """Change a rule; ``place`` as for :func:`add`, None: it stays where it is.

    Raises:
        NotFound: the id is unknown.
    """
    rule = find(conn, rule_id)
    if values:
        writable(conn, _TABLE).update(rule_id, columns_of(values))
    if place is not None:
        _move(conn, rule, place)
    return find(conn, rule_id)


def _move(conn: sqlite3.Connection, rule: AnswerRule, place: int) -> None:
    others = [e.id for e in of_organization(conn, rule.organization_id) if e.id != rule.id]
    others.insert(max(0, place - 1), rule.id)
    _number(conn, others)


def _number(conn: sqlite3.Connection, ids: list[str]) -> None:
    for place, each in enumerate(ids, 1):
        writable(conn, _TABLE).update(each, {"place": place})


def delete(conn: sqlite3.Connection, rule_id: str) -> AnswerRule:
    """Delete a rule; its answers stay as they are.

    Raises:
        NotFound: the id is unknown.
    """
    deleted = find(conn, rule_id)
    writable(conn, _TABLE).delete(rule_id)
    _number(conn, [each.id for each in of_organization(conn, deleted.organization_id)])
    return deleted


# -- texts


def received(
    conn: sqlite3.Connection, organization_id: str, text_id: str, text: Inbound, stamp: Stamp
) -> None:
    """Answer a text by the first rule that it meets, in the transaction that stores it."""
    rules = of_organization(conn, organization_id)
    if not rules or _is_of_opt_outs(conn, organization_id, text.sender, text.text):
        return
    asks = any(each.enabled and each.first_contact for each in rules)
    is_first = asks and not _wrote_before(conn, organization_id, text.sender, text_id)
    matched = match(conn, rules, text.text, text.sender, stamp.now_ms, is_first)
    if matched is not None and matched.texts:
        kind, name = AnswerKind.RULE, matched.rule.name
        put_in(conn, organization_id, text_id, kind, dict(matched.texts), stamp, name)


def match(
    conn: sqlite3.Connection,
    rules: list[AnswerRule],
    text: str,
    number: str,
    now_ms: int,
    is_first: bool,
) -> Matched | None:
    """The rule that a text meets; None: none of them."""
    if not rules:
        return None
    organization_id = rules[0].organization_id
    zone = accounts.organization(conn, organization_id).time_zone
    came = Came(
        *(text, number, local(now_ms, zone), is_first), _name(conn, organization_id, number)
    )
    return matching(rules, came)


def _is_of_opt_outs(conn: sqlite3.Connection, organization_id: str, number: str, text: str) -> bool:
    """Whether a text is a word of the opt-outs, also one of the organization's own: rules leave it
    alone where that is heeded."""
    work = duty(Duty.OPT_OUTS)
    if work is not None and work.means_something(conn, organization_id, number, text):
        return True
    word = only_word(text)
    is_word = word in STOP_WORDS or word in START_WORDS
    return is_word and organization_id in opt_outs.policies(conn)


def _wrote_before(
    conn: sqlite3.Connection, organization_id: str, number: str, text_id: str
) -> bool:
    """Whether a number wrote to the organization, as far as its newest texts say."""
    statement = (
        "SELECT 1 FROM (SELECT organization_id FROM inbound INDEXED BY inbound_by_sender"
        " WHERE sender = ? AND id < ? ORDER BY id DESC LIMIT ?) WHERE organization_id = ? LIMIT 1"
    )
    values = (number, text_id, BEFORE_LOOKED, organization_id)
    return value_of(conn, statement, values) is not None


def _name(conn: sqlite3.Connection, organization_id: str, number: str) -> str:
    """The person's name, as the list says that was changed last."""
    rows = rows_of_numbers(conn, organization_id, [number])
    names = [name_in(row.columns, row.cells) for row in rows]
    return next((name for name in reversed(names) if name), "")


def tried(
    conn: sqlite3.Connection, organization_id: str, text: str, number: str, now_ms: int
) -> Matched | None:
    """The rule that a text of a number would meet now; None: none.

    Args:
        number: empty: of somebody who has not written yet.
    """
    is_first = not _wrote_before(conn, organization_id, number, "n")
    return match(conn, of_organization(conn, organization_id), text, number, now_ms, is_first)


@dataclass(frozen=True, slots=True)
class AnswerRuleRepository:
    """Rules that answer texts. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    of_organization = read(of_organization)
    find = read(find)
    tried = read(tried)
    add = audited_command(add)
    change = audited_command(change)
    delete = audited_command(delete)
