"""Which modules may say SQL, and why: the rest goes through sqlite-utils tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from risala.engine.model.features import features
from sources import trees

SOURCE = Path(__file__).parents[2] / "src" / "risala"
JOURNAL = "engine/journal"
STATEMENT = re.compile(
    r"\s*(--[^\n]*\n\s*)*"
    r"(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|REPLACE\s+INTO\s"
    r"|UPDATE\s+(OR\s+\w+\s+)?\S+\s+SET\s|DELETE\s+FROM\s|ALTER\s+TABLE\s|DROP\s+\w+\s"
    r"|PRAGMA\s|CREATE\s+(UNIQUE|TABLE|INDEX|TRIGGER|VIEW|TEMP)|WITH\s+\S+\s+AS\s|VALUES\s*\("
    r"|ATTACH\s|VACUUM\b|(?-i:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|ANALYZE|REINDEX)\b(?!-)[\w\s]*$)",
    re.IGNORECASE,
)
RUNS = {"execute", "executemany", "executescript"}
"""Methods that take a statement."""
SAYS = (
    r"""(?i)["'](?:\s|\\\s|\\n|--.*?(?:\n|\\n))*"""
    r"(?:select|insert|replace|update|delete|alter|drop|pragma|create|with|values|attach|vacuum"
    r"|begin|commit|rollback|savepoint|release|analyze|reindex)\b"
    r"|execute"
)
"""Of any module that says a statement, as the beginning of a string, or runs one."""
HOT, READER, MIGRATION, BULK, FILE = "hot", "reader", "migration", "bulk", "file"
SERVER = "server"
"""Hot: for each request, message, attempt, receipt or event. Reader: a look over several tables, or
of which each row has its own expression. Migration: what makes the tables. Bulk: one statement
for many rows. File: the database file as such. Server: PostgreSQL, which sqlite-utils does not
know."""

MAY: dict[str, str] = {
    "engine/features/mailings/stored/restored.py": FILE,  # the transactions of a restore
    "engine/features/mailings/stored/exported.py": READER,
    "engine/features/mailings/stored/settling.py": HOT,  # of each message of a mailing
    "engine/features/mailings/stored/rows.py": READER,  # with the message of each
    "engine/features/mailings/stored/mailings.py": READER,  # with what only the engine needs
    "engine/features/mailings/stored/forgetting.py": BULK,  # rows of mailings by the hundred
    "engine/features/mailings/stored/figures.py": READER,
    "engine/features/mailings/stored/checking.py": BULK,  # rows of mailings by the hundred
    "engine/features/channels/stored.py": HOT,  # of each code that several channels may bring
    "engine/features/session_details/stored.py": HOT,  # of each code of which callers say more
    "engine/features/session_details/stored_texts.py": READER,  # languages of two tables
    "engine/features/code_figures/stored/counts.py": BULK,  # codes by the hundred, and their sums
    "engine/features/code_figures/stored/sessions.py": READER,  # with the message of each
    "engine/features/invoices/stored.py": READER,  # of what was printed
    "engine/features/statements/stored.py": READER,  # of a month's entries, with their messages
    "engine/features/compat/stored.py": HOT,  # of each used one, and of each call
    "engine/features/fixed_numbers/stored.py": HOT,  # of each code
    "engine/features/pumping/stored.py": HOT,  # of each suspicious code; counts by the hundred
    "engine/features/request_log/stored.py": FILE,  # a file of its own
    "engine/features/reverse/stored.py": HOT,  # of each text with a word in it
    "engine/features/hooks/stored.py": HOT,  # of each used one
    "engine/features/doctor/stored.py": READER,  # names of three tables
    "engine/features/factors/stored.py": BULK,  # one statement uses a proof up
    "engine/features/answers/stored/both_queues.py": READER,  # of which rule sent a message
    "engine/features/answers/stored/forwards.py": HOT,  # of each text that is forwarded
    "engine/features/answers/stored/queue.py": HOT,  # of each text that is answered
    "engine/features/answers/stored/rules.py": HOT,  # of each text that comes in
    "engine/features/opt_out_words/stored/heeding.py": HOT,  # of each text of a word or two
    "engine/features/opt_out_words/stored/settings.py": READER,  # small tables
    "engine/features/lists/stored_opt_outs.py": HOT,  # of each text of two words
    "engine/features/alarms/stored/answering.py": HOT,  # of each text that comes in
    "engine/features/alarms/stored/alarms.py": READER,  # of few rows, when a step is due
    "engine/features/repeats/stored.py": READER,  # of few rows, when a run is due
    "engine/features/conversations/stored/conversations.py": HOT,  # of each text that comes in
    "engine/features/conversations/stored/threads.py": READER,  # messages of both ways
    "engine/features/conversations/stored/usual_carriers.py": READER,  # of each message, if sticky
    "engine/features/overview/stored_latest.py": READER,
    "engine/features/overview/stored.py": READER,
    "engine/features/sinks/stored.py": READER,  # of an organization's day, once a minute
    "engine/features/search/stored/rows.py": READER,  # of tables that are declared
    "engine/features/search/stored/messages.py": READER,  # by several indexes
    "engine/features/search/stored/receipts.py": READER,  # by two indexes
    "engine/features/lists/stored.py": BULK,  # people of lists by the hundred
    "engine/features/alerts/stored/alerts.py": BULK,  # times that move with the clock
    "engine/features/alerts/stored/facts.py": READER,
    "engine/features/lists/stored_texts.py": READER,  # an owner's export
    "engine/features/own_texts/stored.py": HOT,  # of each text that comes in
    "engine/features/payments/stored/payments.py": READER,  # what was paid
    "engine/features/payments/stored/texts.py": BULK,  # words of old texts by the hundred
    f"{JOURNAL}/accounts/accounts.py": HOT,  # of each request; keys that end soon
    f"{JOURNAL}/accounts/balances.py": HOT,
    f"{JOURNAL}/accounts/keys.py": HOT,  # the key of a request
    "engine/features/backup/stored/former.py": READER,  # of a file that was there before
    "engine/features/backup/stored/held.py": BULK,  # all that a restore holds
    "engine/features/backup/stored/restore.py": FILE,
    "engine/features/own_data/stored/account_export.py": READER,
    "engine/features/own_data/stored/erasing.py": BULK,
    "engine/features/own_data/stored/erasures.py": READER,  # what goes, counted
    "engine/features/own_data/stored/exports.py": READER,  # how much there will be
    "engine/features/own_data/stored/retention.py": BULK,
    f"{JOURNAL}/messages/messages.py": BULK,
    f"{JOURNAL}/accounts/ledger.py": HOT,
    f"{JOURNAL}/accounts/payers.py": HOT,  # what an organization sent today, for each message
    f"{JOURNAL}/accounts/senders.py": HOT,  # the sender and the volume of a message
    f"{JOURNAL}/inbound/inbound.py": HOT,  # a message that came in
    f"{JOURNAL}/inbound/opt_outs.py": HOT,  # who wrote last, and whether a number is out
    f"{JOURNAL}/storage.py": READER,  # how much an organization stores
    f"{JOURNAL}/messages/acceptance.py": HOT,
    f"{JOURNAL}/messages/answers.py": HOT,
    f"{JOURNAL}/messages/awaiting.py": READER,
    f"{JOURNAL}/messages/counts.py": HOT,
    f"{JOURNAL}/messages/deadlines.py": HOT,
    f"{JOURNAL}/messages/delivery.py": HOT,
    f"{JOURNAL}/messages/endings.py": HOT,
    f"{JOURNAL}/messages/held.py": HOT,
    f"{JOURNAL}/messages/live.py": READER,
    f"{JOURNAL}/messages/matching.py": HOT,
    f"{JOURNAL}/messages/parts.py": HOT,
    f"{JOURNAL}/messages/reads.py": HOT,
    f"{JOURNAL}/messages/repeats.py": READER,  # those that are due, a batch at a time
    f"{JOURNAL}/messages/sessions.py": HOT,
    f"{JOURNAL}/messages/sheet.py": HOT,
    f"{JOURNAL}/sealed/resealing.py": READER,  # a column of whichever table holds a secret
    f"{JOURNAL}/session_messages.py": HOT,  # of each code that is asked for or entered
    f"{JOURNAL}/state.py": HOT,
    f"{JOURNAL}/messages/timeline.py": HOT,
    f"{JOURNAL}/messages/verifications.py": HOT,
    f"{JOURNAL}/messages/waiting.py": READER,
    f"{JOURNAL}/minutes.py": BULK,
    f"{JOURNAL}/webhooks/health.py": READER,
    f"{JOURNAL}/webhooks/history.py": READER,
    f"{JOURNAL}/pages/find.py": READER,
    f"{JOURNAL}/pages/lists.py": READER,
    f"{JOURNAL}/store/pages.py": READER,
    f"{JOURNAL}/people/mails.py": READER,  # of those that wait
    f"{JOURNAL}/people/security.py": READER,  # counts by day and by address
    f"{JOURNAL}/people/user_changes.py": BULK,  # what a user noted by hand, without their name
    f"{JOURNAL}/people/users.py": READER,  # of how many organizations each is a member
    f"{JOURNAL}/people/sign_in_failures.py": BULK,  # old ones go by one statement
    f"{JOURNAL}/people/web_sessions.py": BULK,  # when all sessions of a minute were used
    f"{JOURNAL}/store/currency.py": FILE,  # looked at where a file is opened
    f"{JOURNAL}/store/meta.py": READER,  # also of files of any schema, before they are ours
    f"{JOURNAL}/store/named.py": READER,  # rows by the names of a value's fields, of any table
    f"{JOURNAL}/store/names.py": HOT,
    f"{JOURNAL}/store/opening.py": FILE,
    f"{JOURNAL}/store/schema/migrations.py": MIGRATION,
    f"{JOURNAL}/store/schema/accounts.py": MIGRATION,
    f"{JOURNAL}/store/schema/audit.py": MIGRATION,
    f"{JOURNAL}/store/schema/carriers.py": MIGRATION,
    f"{JOURNAL}/store/schema/sessions.py": MIGRATION,
    f"{JOURNAL}/store/schema/compat.py": MIGRATION,
    f"{JOURNAL}/store/schema/foreign.py": MIGRATION,
    f"{JOURNAL}/store/schema/hooks.py": MIGRATION,
    f"{JOURNAL}/store/schema/inbound.py": MIGRATION,
    f"{JOURNAL}/store/schema/mailings.py": MIGRATION,
    f"{JOURNAL}/store/schema/messages.py": MIGRATION,
    f"{JOURNAL}/store/schema/money.py": MIGRATION,
    f"{JOURNAL}/store/schema/people.py": MIGRATION,
    f"{JOURNAL}/store/schema/upkeep.py": MIGRATION,
    f"{JOURNAL}/store/schema/views.py": MIGRATION,
    f"{JOURNAL}/store/schema/webhooks.py": MIGRATION,
    f"{JOURNAL}/store/searching.py": READER,  # of any table that is searched by words
    f"{JOURNAL}/store/sql.py": FILE,  # hands on what others say
    f"{JOURNAL}/store/tables.py": FILE,  # whether a table is there, and an upsert as one statement
    f"{JOURNAL}/store/transaction.py": FILE,  # begin, commit, roll back
    f"{JOURNAL}/store/watched.py": FILE,  # hands on what others say
    f"{JOURNAL}/store/writer.py": FILE,
    f"{JOURNAL}/audit/books.py": READER,
    f"{JOURNAL}/store/audit_log.py": READER,  # lines as their hashes cover them
    f"{JOURNAL}/upkeep/database_copy.py": FILE,
    f"{JOURNAL}/audit/check.py": READER,  # of every line, whatever is in it
    f"{JOURNAL}/audit/heads.py": READER,
    f"{JOURNAL}/upkeep/upgrade/preparing.py": FILE,
    f"{JOURNAL}/upkeep/upgrade/upgrade.py": FILE,
    f"{JOURNAL}/webhooks/deliveries.py": HOT,
    f"{JOURNAL}/webhooks/event_cursors.py": HOT,  # each batch of each consumer
    f"{JOURNAL}/webhooks/event_rows.py": HOT,
    f"{JOURNAL}/webhooks/outbox.py": HOT,
    "engine/features/standby/stored/copy.py": FILE,
    "engine/features/standby/stored/closed_database.py": FILE,  # that no engine has open
    "engine/features/standby/stored/wal.py": FILE,
    "engine/features/standby/postgresql/health.py": SERVER,
    "engine/features/standby/postgresql/lease.py": SERVER,
    "engine/features/standby/postgresql/pieces.py": SERVER,
    "engine/features/standby/postgresql/session.py": SERVER,
    "engine/features/standby/postgresql/tables.py": SERVER,
}
BY_HAND = re.compile(
    r"\s*(INSERT\s+(OR\s+\w+\s+)?INTO|REPLACE\s+INTO|UPDATE(\s+OR\s+\w+)?|DELETE\s+FROM)\s+\"?"
    r"(organizations|api_keys|senders|inbound_routes|opt_out_policies|audit_log|carrier_notes|carrier_secrets|meta"
    r"|verify_settings|webhook_endpoints|face_credentials|hooks|\{\})",
    re.IGNORECASE,
)
"""Writes to what is set by hand, or noted now and then; and to a table whose name is not there."""
EXCEPTIONS = {
    (f"{JOURNAL}/accounts/keys.py", "UPDATE api_keys SET last_used_at"),  # of each used key
    ("engine/features/compat/stored.py", "UPDATE face_credentials SET last_used_at"),
    ("engine/features/hooks/stored.py", "UPDATE hooks SET last_used_at"),
    (f"{JOURNAL}/accounts/ledger.py", "UPDATE organizations SET balance"),  # a refund
    (f"{JOURNAL}/messages/acceptance.py", "UPDATE organizations SET balance"),
    (f"{JOURNAL}/messages/waiting.py", "UPDATE api_keys SET old_until"),
    ("engine/features/hooks/stored.py", "UPDATE hooks SET old_until"),
    (
        f"{JOURNAL}/messages/waiting.py",
        "UPDATE webhook_endpoints SET notice_due_at",
    ),  # all times, once
    # Of each attempt at a delivery: whether its endpoint fails.
    (f"{JOURNAL}/webhooks/deliveries.py", "UPDATE webhook_endpoints SET failing_since"),
}


def whole(node: ast.AST) -> str | None:
    """A string with all its pieces, ``{}`` for what is put in; None for what is no string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(whole(each) or "{}" for each in values)
        case ast.FormattedValue():
            return "{}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            pieces = whole(left), whole(right)
            if pieces != (None, None):
                return "".join("{}" if each is None else each for each in pieces)
    return None


def strings(node: ast.AST) -> Iterator[str]:
    """Every string once, whole; none that only says something to the reader."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    found = whole(node)
    if found is not None:
        yield found
        return
    for child in ast.iter_child_nodes(node):
        yield from strings(child)


def statements(tree: ast.Module) -> Iterator[str]:
    yield from (text for text in strings(tree) if STATEMENT.match(text))


def runs(tree: ast.Module) -> bool:
    """Whether something is done by a method that takes SQL, wherever the words come from."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in RUNS
        for node in ast.walk(tree)
    )


@cache
def said() -> dict[str, list[str]]:
    """Of each module that says SQL, or runs what others said: its statements."""
    found = {}
    for path, tree in trees(sorted(SOURCE.rglob("*.py")), SAYS):
        texts, name = [*statements(tree)], path.relative_to(SOURCE).as_posix()
        if texts or (name.startswith("engine/") and runs(tree)):  # a modem executes commands
            found[name] = texts
    return found


@pytest.mark.slow
def test_only_these_modules_say_sql_and_each_has_its_reason():
    """A module that is missing here: use ``store/tables.py``, or say why it cannot."""
    assert sorted(said()) == sorted(MAY)


@pytest.mark.slow
def test_what_is_set_by_hand_is_written_through_tables():
    raw = {
        (path, text)
        for path, texts in said().items()
        if MAY.get(path) != MIGRATION
        for text in texts
        if BY_HAND.match(text)
    }
    excepted = {
        (path, text): start
        for path, text in raw
        for where, start in EXCEPTIONS
        if path == where and text.startswith(start)
    }
    assert raw - excepted.keys() == set()
    assert {(path, start) for (path, _), start in excepted.items()} == EXCEPTIONS


@pytest.mark.slow
def test_what_a_feature_stores_is_read_by_no_other():
    owners = {name: feature.name for feature in features() for name in feature.tables}
    named = re.compile(rf"(?i:\b(?:FROM|JOIN|INTO|UPDATE)\s+)({'|'.join(owners)})\b")
    foreign = {
        (path, table)
        for path, texts in said().items()
        if MAY.get(path) != MIGRATION
        for text in texts
        for table in named.findall(text)
        if not path.startswith(f"engine/features/{owners[table]}/")
    }
    assert foreign == set()


def test_a_statement_is_told_from_a_sentence():
    source = (
        '"""Delete from time to time."""\n'
        'a = f"SELECT {columns} FROM a"\n'
        'b = "\\n-- Why.\\nALTER TABLE a ADD COLUMN b"\n'
        'c = "Update the settings."\n'
        'd = "insert into a values (1)"\n'
        'e = f"UPDATE {table} SET a = 1" f" WHERE {b}"\n'
        'f = "DELETE FROM " + table\n'
        'g = "INSERT OR IGNORE INTO a VALUES (?)"\n'
        'h = f"{head} WHERE a = 1"\n'
    )
    found = [*statements(ast.parse(source))]
    assert [text.split()[0] for text in found] == [
        *("SELECT", "--", "insert", "UPDATE", "DELETE", "INSERT")
    ]
    assert [bool(BY_HAND.match(text)) for text in found][3:] == [True, True, False]


def test_who_runs_what_others_say_is_noticed():
    assert runs(ast.parse("conn.executemany(STATEMENT, rows)"))
    assert not runs(ast.parse("operator.perform(name)"))
