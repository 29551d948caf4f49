"""The schema, as migrations that are applied in order, each in a transaction of its own.

Times are UTC epoch milliseconds, money is integer minor units. The queue is no table: it is the
partial index ``message_queue`` over the messages that are pending.

A migration is named after the release that brings it and what it is about: ``v1.1_key_colours``. A
release may bring several. The first one makes the tables of 1.0 as a whole; what came later is in
migrations of its own, beside the tables that it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlite_utils import Database, Migrations

from risala.engine.journal.store.schema.accounts import (
    ACCOUNTS,
    FIXED_NUMBERS,
    KEY_AGES,
    KEY_CHALLENGES,
    KEY_EXPIRY,
    KEY_REMINDERS,
)
from risala.engine.journal.store.schema.audit import ADD_HASH, AUDIT, GUARD_AGAIN, chain_lines
from risala.engine.journal.store.schema.carriers import ADDRESSES, CARRIERS, OWN_TEXTS, SECRETS
from risala.engine.journal.store.schema.compat import COMPAT
from risala.engine.journal.store.schema.hooks import ALARM_CHAINS, HOOKS
from risala.engine.journal.store.schema.inbound import (
    ANSWER_RULES,
    ANSWERS,
    CONVERSATIONS,
    FORWARDS,
    INBOUND,
    LABELS,
    OPT_OUT_WORDS,
    SENT_TIMES,
    begin_conversations,
)
from risala.engine.journal.store.schema.mailings import HIDDEN, MAILINGS, REPEATS, STORED
from risala.engine.journal.store.schema.messages import (
    CODE_COUNTS,
    CODE_LANGUAGES,
    CODE_TEMPLATES,
    COUNTS,
    HOPS,
    MESSAGES,
    PUMPING,
    SESSION_DETAILS,
)
from risala.engine.journal.store.schema.money import (
    DAY_PARTS,
    INVOICE_CUSTOMERS,
    INVOICES,
    MONEY,
    PAYMENTS,
)
from risala.engine.journal.store.schema.people import (
    APPROVALS,
    FACTORS,
    IDENTITIES,
    OPERATOR_ROLES,
    PEOPLE,
    PROVIDERS,
)
from risala.engine.journal.store.schema.sessions import CHANNELS as CHANNEL_TABLES
from risala.engine.journal.store.schema.sessions import REVERSE
from risala.engine.journal.store.schema.upkeep import ALERTS, ENDS, UPKEEP
from risala.engine.journal.store.schema.views import make_views
from risala.engine.journal.store.schema.webhooks import REPLIES, WEBHOOKS

migrations = Migrations("risala")

FIRST: Final = "v1.0_tables"
"""The migration that makes the tables of 1.0."""
CHAIN: Final = "v1.1_audit_chain"
"""The migration that chains the lines of the audit trail."""
OWN_PARTS: Final = "v1.1_day_parts"
"""The migration that brings the parts for which nobody pays."""
_EARLY: Final = "m0"
"""How the migrations of development versions began: ``m001_accounts`` to ``m047_…``."""


class WrongSchema(Exception):
    """The file was written by a version whose files this one cannot use; the sentence says why."""


class NewerSchema(WrongSchema):
    """A newer Risala wrote the file."""


class EarlySchema(WrongSchema):
    """A development version from before 1.0.0 wrote the file."""


def migrate(db: Database, *, before: str | None = None) -> None:
    """Bring the file up to this version's schema, or to where it was ``before`` a migration.

    Raises:
        WrongSchema: this version cannot use the file.
    """
    refuse_wrong(db)
    done = applied(db)
    names = known()
    later = names[names.index(before) :] if before is not None else []
    migrations.apply(db, stop_before=[name for name in later if name not in done])
    _renew_views(db)


def _renew_views(db: Database) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        make_views(db)
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def refuse_wrong(db: Database) -> None:
    """
    Raises:
        NewerSchema: the file holds a migration that this version does not know.
        EarlySchema: a development version from before 1.0.0 wrote it.
    """
    refuse_early(db)
    newer = sorted(applied(db).difference(known()))
    if newer:
        raise NewerSchema(
            f"the database was written by a newer Risala (it has {newer[-1]!r}). Install that "
            f"version, or restore an older backup"
        )


def refuse_early(db: Database) -> None:
    """
    Raises:
        EarlySchema: a development version from before 1.0.0 wrote it.
    """
    if any(name.startswith(_EARLY) for name in applied(db)):
        raise EarlySchema(
            "the database was written by a development version from before 1.0.0. "
            "Start with a new data directory, or install the version that wrote it and export "
            "what you need"
        )


def known() -> list[str]:
    """The names of all migrations, in order."""
    with Database(memory=True) as empty:  # closes it, too
        return [migration.name for migration in migrations.pending(empty)]


def applied(db: Database) -> set[str]:
    """The names of those that a file has.

    ``migrations.applied`` lists all tables and views first; a start asks six times.
    """
    table = migrations.migrations_table
    known_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    if db.execute(known_table, (table,)).fetchone() is None:
        return set()
    rows = db.execute(f"SELECT name FROM {table} WHERE migration_set = ?", (migrations.name,))  # noqa: S608 -- a name of ours
    return {name for (name,) in rows}


def following(name: str) -> str | None:
    """The migration after one; None: it is the last."""
    names = known()
    return next(iter(names[names.index(name) + 1 :]), None)


def statements(script: str) -> list[str]:
    """A script's statements; ``executescript`` would commit the migration's own transaction."""
    return [each for each in script.split(";\n") if each.strip()]


MIGRATIONS: Final[Mapping[str, Sequence[str | Callable[[Database], None]]]] = {
    FIRST: (
        *(UPKEEP, ACCOUNTS, PEOPLE, MESSAGES, COUNTS, MONEY, PAYMENTS, WEBHOOKS, INBOUND),
        *(COMPAT, HOOKS, MAILINGS, CARRIERS, ALERTS, AUDIT, make_views),
    ),
    CHAIN: (ADD_HASH, chain_lines, GUARD_AGAIN),
    "v1.1_key_expiry": (KEY_EXPIRY,),
    "v1.1_key_reminders": (KEY_REMINDERS,),
    "v1.1_operator_roles": (OPERATOR_ROLES,),
    "v1.1_factors": (FACTORS,),
    "v1.1_approvals": (APPROVALS,),
    "v1.1_identities": (IDENTITIES,),
    "v1.1_key_ages": (KEY_AGES,),
    "v1.1_identity_providers": (PROVIDERS,),
    OWN_PARTS: (DAY_PARTS,),
    "v1.1_hidden_cells": (HIDDEN,),
    "v1.1_sent_times": (SENT_TIMES,),
    "v1.1_stored_bytes": (STORED,),
    "v1.1_missing_ends": (ENDS,),
    "v1.1_labels": (LABELS,),
    "v1.1_carrier_addresses": (ADDRESSES,),
    "v1.1_carrier_secrets": (SECRETS,),
    "v1.1_message_hops": (HOPS,),
    "v1.1_code_figures": (CODE_COUNTS,),
    "v1.1_session_details": (SESSION_DETAILS,),
    "v1.1_channels": (CHANNEL_TABLES,),
    "v1.1_code_templates": (CODE_TEMPLATES,),
    "v1.1_fixed_numbers": (FIXED_NUMBERS,),
    "v1.1_key_challenges": (KEY_CHALLENGES,),
    "v1.1_pumping": (PUMPING,),
    "v1.1_reverse": (REVERSE,),
    "v1.1_conversations": (CONVERSATIONS, begin_conversations),
    "v1.1_answers": (ANSWERS,),
    "v1.1_answer_rules": (ANSWER_RULES,),
    "v1.1_opt_out_words": (OPT_OUT_WORDS,),
    "v1.1_webhook_replies": (REPLIES,),
    "v1.1_answer_forwards": (FORWARDS,),
    "v1.1_invoices": (INVOICES,),
    "v1.1_own_texts": (OWN_TEXTS,),
    "v1.1_code_languages": (CODE_LANGUAGES,),
    "v1.1_repeats": (REPEATS,),
    "v1.1_invoice_customers": (INVOICE_CUSTOMERS,),
    "v1.1_alarms": (ALARM_CHAINS,),
}
"""What each migration runs: scripts of SQL, and functions for what SQL alone cannot do. Files hold
the names of those that they have had, so that a name never changes."""


def _register(name: str, steps: Sequence[str | Callable[[Database], None]]) -> None:
    @migrations(name=name)
    def run(db: Database) -> None:
        for step in steps:
            if isinstance(step, str):
                for statement in statements(step):
                    db.execute(statement)
            else:
                step(db)


for _name, _steps in MIGRATIONS.items():
    _register(_name, _steps)
