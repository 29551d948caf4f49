"""The rules that answer texts, as they are stored, and the text that meets one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from risala.dataclass import dataclass
from risala.engine.features.answers.forwards import ForwardKind
from risala.engine.features.answers.records import AnswerKind
from risala.engine.features.answers.rule_records import RULES_MAX, AnswerRule
from risala.engine.features.answers.rules.matching import Came, Matched, local, matching
from risala.engine.features.answers.stored import forwards
from risala.engine.features.answers.stored.queue import put_in
from risala.engine.features.lists.stored import rows_of_numbers
from risala.engine.features.tables.rules.rendering import name_in
from risala.engine.journal.accounts import accounts
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.people import members, users
from risala.engine.journal.sealed.columns import SealedColumn, header_of
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid, SecretLost
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.record import shallow
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, only_word
from risala.engine.rules.sealing import SecretPurpose
from risala.sms.message import Inbound

BEFORE_LOOKED: Final = 1000
"""Texts of one sender, to whichever organization, among which those before are looked for: a
number that is a name may have sent any number of them."""
_TABLE: Final = "answer_rules"
_TOKEN: Final = "token"  # noqa: S105 -- a name
_KEY: Final = "key"
"""Names of a rule's secrets: the token of its bot, and what signs the calls of its webhook."""
SEALED: Final = (
    SealedColumn(
        _TABLE,
        "secrets",
        SecretPurpose.FORWARD_SECRET,
        "risala answer set {} --bot-token TOKEN --forward-secret SECRET",
        by_name=True,
    ),
)
_NEEDS: Final = {
    "forward_chat": (_TOKEN, "bot_token", "A chat needs `bot_token`: the token of your bot."),
    "forward_url": (
        _KEY,
        "forward_secret",
        "A webhook needs `forward_secret`, by which your program knows that a call is ours.",
    ),
}
_ROWS: Final = Rows.of_record(AnswerRule)
_OF_KIND: Final = {ForwardKind.TELEGRAM: _TOKEN, ForwardKind.WEBHOOK: _KEY}
NO_SECRETS: Final[Mapping[str, str]] = MappingProxyType({})


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


def image(conn: sqlite3.Connection, rule_id: str) -> AnswerRule:
    """What the audit trail shows of a rule: of its webhook's URL nothing that may be a secret.

    Raises:
        NotFound: the id is unknown.
    """
    rule = find(conn, rule_id)
    parts = urlsplit(rule.forward_url)
    return replace(rule, forward_url=f"{parts.scheme}://{parts.hostname}" if parts.scheme else "")


def add(
    conn: sqlite3.Connection,
    new: AnswerRule,
    place: int | None,
    secrets: Mapping[str, str] = NO_SECRETS,
) -> AnswerRule:
    """Store a rule.

    Args:
        place: where it stands among the others, from 1; None: behind them.
        secrets: sealed, by :data:`_TOKEN` and :data:`_KEY`.

    Raises:
        NotFound: no such organization.
        Conflict: it has too many.
        Invalid: it cannot forward there.
    """
    accounts.organization(conn, new.organization_id)
    others = of_organization(conn, new.organization_id)
    if len(others) >= RULES_MAX:
        text = f"An organization can have at most {RULES_MAX} rules. Delete one first."
        raise Conflict(text)
    added = replace(new, place=len(others) + 1)
    writable(conn, _TABLE).insert(columns_of(shallow(added)))
    _keep_secrets(conn, added, secrets)
    if place is not None:
        _move(conn, added, place)
    return find(conn, new.id)


def change(
    conn: sqlite3.Connection,
    rule_id: str,
    values: Mapping[str, Any],
    place: int | None,
    secrets: Mapping[str, str] = NO_SECRETS,
) -> AnswerRule:
    """Change a rule; ``place`` as for :func:`add`, None: it stays where it is. Secrets that are not
    given stay as long as they are of use.

    Raises:
        NotFound: the id is unknown.
        Invalid: it cannot forward there.
    """
    rule = find(conn, rule_id)
    if values:
        writable(conn, _TABLE).update(rule_id, columns_of(values))
    _keep_secrets(conn, replace(rule, **values), secrets)
    if place is not None:
        _move(conn, rule, place)
    return find(conn, rule_id)


def _keep_secrets(conn: sqlite3.Connection, rule: AnswerRule, secrets: Mapping[str, str]) -> None:
    """Store the secrets that a rule needs, and no others.

    Raises:
        Invalid: one is missing, or the address is no member's.
    """
    if rule.forward_email and not _is_members(conn, rule):
        sentence = "`forward_email` must be the address of a member of the organization."
        raise Invalid("forward_email", "no_member", sentence)
    had = _secrets(conn, rule.id)
    kept = dict[str, str]()
    for field, (name, argument, sentence) in _NEEDS.items():
        if getattr(rule, field):
            if name not in secrets and name not in had:
                raise Invalid(argument, "missing", sentence)
            kept[name] = secrets[name] if name in secrets else had[name]
    if kept != had:
        writable(conn, _TABLE).update(rule.id, {"secrets": json.dumps(kept) if kept else None})


def _is_members(conn: sqlite3.Connection, rule: AnswerRule) -> bool:
    user = users.by_email(conn, rule.forward_email)
    return user is not None and members.find(conn, rule.organization_id, user.id) is not None


def _secrets(conn: sqlite3.Connection, rule_id: str) -> dict[str, str]:
    """A rule's secrets, sealed, by their names."""
    stored = value_of(conn, "SELECT secrets FROM answer_rules WHERE id = ?", (rule_id,))
    return dict(json.loads(stored)) if stored else {}


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
    """Answer and forward a text by the first rule that it meets, in the transaction that stores
    it."""
    rules = of_organization(conn, organization_id)
    if not rules or _is_of_opt_outs(conn, organization_id, text.sender, text.text):
        return
    alarms = duty(Duty.ALARMS)
    if alarms is not None and alarms.is_meant(conn, text.sender, text.text):
        return  # it ends an alarm, and asks nothing
    asks = any(each.enabled and each.first_contact for each in rules)
    is_first = asks and not _wrote_before(conn, organization_id, text.sender, text_id)
    matched = match(conn, rules, text.text, text.sender, stamp.now_ms, is_first)
    if matched is None:
        return
    forwards.put_in(conn, matched.rule, text_id, text.sender, stamp)
    if matched.texts:
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
    delete = audited_command(delete)
    would_loop = read(forwards.would_loop)

    async def add(
        self,
        by: AuditEntry | None,
        new: AnswerRule,
        place: int | None,
        secrets: Mapping[str, str] = NO_SECRETS,
    ) -> AnswerRule:
        """:func:`add` with secrets that are sealed."""
        sealed = self._sealed(new.id, secrets)
        return await self._store.commit(lambda conn: add(conn, new, place, sealed), by)

    async def change(
        self,
        by: AuditEntry | None,
        rule_id: str,
        values: Mapping[str, Any],
        place: int | None,
        secrets: Mapping[str, str] = NO_SECRETS,
    ) -> AnswerRule:
        """:func:`change` with secrets that are sealed."""
        sealed = self._sealed(rule_id, secrets)
        return await self._store.commit(
            lambda conn: change(conn, rule_id, values, place, sealed), by
        )

    def secret(self, rule_id: str, kind: ForwardKind) -> str:
        """By what a rule calls a chat or a webhook, in the clear.

        Raises:
            SecretLost: it cannot be opened, or there is none.
        """
        name, purpose = _OF_KIND[kind], SecretPurpose.FORWARD_SECRET
        sealed = _secrets(self._store.reader, rule_id).get(name)
        if sealed is None:
            raise SecretLost(purpose, rule_id)
        return self._store.sealing.unseal(purpose, header_of(rule_id, name), sealed).decode()

    def _sealed(self, rule_id: str, secrets: Mapping[str, str]) -> dict[str, str]:
        seal = self._store.sealing.seal
        return {
            name: seal(SecretPurpose.FORWARD_SECRET, header_of(rule_id, name), secret.encode())
            for name, secret in secrets.items()
        }
