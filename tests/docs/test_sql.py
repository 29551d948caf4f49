"""Which modules may say SQL, and why: the rest goes through sqlite-utils tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "risala"
JOURNAL = "engine/journal"
STATEMENT = re.compile(
    r"\s*(--[^\n]*\n\s*)*"
    r"(SELECT\s|INSERT\s+INTO|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM|ALTER\s+TABLE|DROP\s|PRAGMA\s"
    r"|CREATE\s+(UNIQUE|TABLE|INDEX|TRIGGER)|WITH\s+\w+\s+AS)",
    re.IGNORECASE,
)
HOT, READER, MIGRATION, BULK, FILE = "hot", "reader", "migration", "bulk", "file"
"""Hot: for each request, message, attempt, receipt or event. Reader: a look over several tables, or
of which each row has its own expression. Migration: what makes the tables. Bulk: one statement
for many rows. File: the database file as such."""

MAY: dict[str, str] = {
    f"{JOURNAL}/accounts/accounts.py": HOT,  # the key and the organization of a request
    f"{JOURNAL}/accounts/balances.py": HOT,
    f"{JOURNAL}/accounts/ledger.py": HOT,
    f"{JOURNAL}/accounts/senders.py": HOT,  # the sender and the volume of a message
    f"{JOURNAL}/accounts/spending.py": HOT,
    f"{JOURNAL}/inbound/inbound.py": HOT,  # a message that came in
    f"{JOURNAL}/inbound/opt_outs.py": HOT,  # who wrote last, and whether a number is out
    f"{JOURNAL}/messages/acceptance.py": HOT,
    f"{JOURNAL}/messages/deadlines.py": HOT,
    f"{JOURNAL}/messages/declined.py": HOT,
    f"{JOURNAL}/messages/delivery.py": HOT,
    f"{JOURNAL}/messages/endings.py": HOT,
    f"{JOURNAL}/messages/held.py": HOT,
    f"{JOURNAL}/messages/live.py": READER,
    f"{JOURNAL}/messages/matching.py": HOT,
    f"{JOURNAL}/messages/reads.py": HOT,
    f"{JOURNAL}/messages/receipts.py": HOT,
    f"{JOURNAL}/messages/sessions.py": HOT,
    f"{JOURNAL}/messages/state.py": HOT,
    f"{JOURNAL}/messages/timeline.py": HOT,
    f"{JOURNAL}/messages/verifications.py": HOT,
    f"{JOURNAL}/messages/waiting.py": READER,
    f"{JOURNAL}/set_back.py": BULK,
    f"{JOURNAL}/store/meta.py": READER,  # also of files of any schema, before they are ours
    f"{JOURNAL}/store/opening.py": FILE,
    f"{JOURNAL}/store/schema/migrations.py": MIGRATION,
    f"{JOURNAL}/store/schema/audit.py": MIGRATION,
    f"{JOURNAL}/store/schema/first.py": MIGRATION,
    f"{JOURNAL}/store/schema/inbound.py": MIGRATION,
    f"{JOURNAL}/store/schema/money.py": MIGRATION,
    f"{JOURNAL}/store/schema/outcome.py": MIGRATION,
    f"{JOURNAL}/store/schema/receipts.py": MIGRATION,
    f"{JOURNAL}/store/schema/retention.py": MIGRATION,
    f"{JOURNAL}/store/schema/webhooks.py": MIGRATION,
    f"{JOURNAL}/store/writer.py": FILE,
    f"{JOURNAL}/upkeep/audit.py": READER,
    f"{JOURNAL}/upkeep/backup.py": FILE,
    f"{JOURNAL}/upkeep/restore.py": FILE,
    f"{JOURNAL}/upkeep/retention.py": BULK,
    f"{JOURNAL}/upkeep/upgrade/room.py": FILE,
    f"{JOURNAL}/upkeep/upgrade/upgrade.py": FILE,
    f"{JOURNAL}/webhooks/deliveries.py": HOT,
    f"{JOURNAL}/webhooks/endpoints.py": HOT,  # the fan-out of an event, an endpoint that fails
    f"{JOURNAL}/webhooks/history.py": READER,
    f"{JOURNAL}/webhooks/outbox.py": HOT,
    "engine/delivery/queries.py": READER,
    "engine/upkeep/doctor.py": READER,
}
BY_HAND = re.compile(
    r"\s*(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(organizations|api_keys|senders|inbound_routes"
    r"|opt_out_policies|audit_log|carrier_notes|meta)\b",
    re.IGNORECASE,
)
"""Writes to what is set by hand, or noted now and then."""
EXCEPTIONS = {
    (f"{JOURNAL}/accounts/accounts.py", "UPDATE api_keys SET last_used_at"),  # of each used key
    (f"{JOURNAL}/accounts/ledger.py", "UPDATE organizations SET balance"),
    (f"{JOURNAL}/messages/acceptance.py", "UPDATE organizations SET balance"),
}


def statements(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    sayings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [each for each in ast.walk(tree) if isinstance(each, ast.Constant)]
    for text in texts:
        if isinstance(text.value, str) and text not in sayings and STATEMENT.match(text.value):
            yield text.value


def said() -> dict[str, list[str]]:
    found = {
        path.relative_to(SOURCE).as_posix(): [*statements(path.read_text(encoding="utf-8"))]
        for path in sorted(SOURCE.rglob("*.py"))
    }
    return {path: each for path, each in found.items() if each}


def test_only_these_modules_say_sql_and_each_has_its_reason():
    """A module that is missing here: use ``store/tables.py``, or say why it cannot."""
    assert sorted(said()) == sorted(MAY)


def test_what_is_set_by_hand_is_written_through_tables():
    raw = {
        (path, text)
        for path, texts in said().items()
        if MAY.get(path) != MIGRATION
        for text in texts
        if BY_HAND.match(text)
    }
    excepted = {
        (path, start)
        for path, text in raw
        for where, start in EXCEPTIONS
        if path == where and text.startswith(start)
    }
    assert excepted == EXCEPTIONS
    assert len(raw) == len(EXCEPTIONS), raw


def test_a_statement_is_told_from_a_sentence():
    source = (
        '"""Delete from time to time."""\n'
        'a = f"SELECT {columns} FROM a"\n'
        'b = "\\n-- Why.\\nALTER TABLE a ADD COLUMN b"\n'
        'c = "Update the settings."\n'
        'd = "insert into a values (1)"\n'
    )
    assert [text.split()[0] for text in statements(source)] == ["--", "insert", "SELECT"]
