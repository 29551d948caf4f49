"""The books of the crash rig see what each of their columns is for: in a history where all is well
one thing is made wrong, in the file or in what others say, and exactly that is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from proofs.process.books import Books, begun

from lived import History, of

pytestmark = pytest.mark.slow


@pytest.fixture
async def history(tmp_path, autojump_clock):
    made = History(tmp_path)
    await made.live()
    return made


@dataclass(frozen=True)
class Case:
    """What is made wrong, and how it is told."""

    face: str | None
    """The row of the table; None: it is about all."""
    column: str
    told: str
    """In one of the sentences."""
    wrong: str | Callable[[History], object]
    """A statement on the file, or what is done to what others say."""


REFUND = (
    "INSERT INTO entry (organization, kind, amount, balance_after, message)"
    " SELECT 1, 1, 50, 0, key FROM message WHERE "
)
CREDIT = (
    "INSERT INTO entry (organization, kind, amount, balance_after, reference)"
    " VALUES (1, 2, 500, 0, 'x')"
)
BY_CHANNEL = "key IN (SELECT d.message FROM channel_deliveries d WHERE d.message IS NOT NULL"
CASES = (
    Case("api", "lost", "accepted, and not in the file", lambda at: at.forgotten("api0")),
    Case("api", "lost", "another id", lambda at: at.answer("api0", b"sms_other")),
    Case(
        "kannel",
        "lost",
        "a phone has it, and the file does not",
        lambda at: (at.forgotten("kannel0"), at.unanswered("kannel0")),
    ),
    Case(
        "dashboard",
        "lost",
        "nothing moves it on",
        f"UPDATE message SET status = 1 WHERE {of('dashboard0')}",
    ),
    Case("smpp", "lost", "no phone has it", lambda at: at.phone_without("smpp0")),
    Case(
        "twilio",
        "lost",
        "no carrier had refused it",
        f"UPDATE message SET status = 5 WHERE {of('twilio0')}",
    ),
    Case(
        "dashboard",
        "unsaid",
        "2 messages in the file",
        "UPDATE message SET body = (SELECT body FROM message WHERE "
        f"{of('dashboard0')}) WHERE {of('dashboard1')}",
    ),
    Case("api", "unsaid", "2 times at its phone", lambda at: at.phone_again("api0")),
    Case("api", "unsaid", "2 times at its phone", lambda at: at.phone_again("api1")),
    Case("api", "mischarged", "priced 100", f"UPDATE message SET price = 100 WHERE {of('api0')}"),
    Case(
        "kannel",
        "mischarged",
        "charge None",
        f"UPDATE message SET charge = NULL WHERE {of('kannel0')}",
    ),
    Case("smpp", "mischarged", "delivered, and refunded 1 times", REFUND + of("smpp0")),
    Case("api", "mischarged", "failed, and refunded 0", "DELETE FROM entry WHERE kind = 1"),
    Case("api", "mischarged", "failed, and refunded 2", REFUND + "status = 5"),
    Case("kannel", "untold", "its customer was not told", lambda at: at.uncalled("/dlr")),
    Case("twilio", "untold", "its customer was not told", lambda at: at.uncalled("/twilio")),
    Case("smpp", "untold", "its customer was not told", lambda at: at.told.receipts.clear()),
    Case("verify", "lost", "its message is missing", "DELETE FROM verifications"),
    Case("verify", "lost", "approved, and pending", "UPDATE verifications SET status = 'pending'"),
    Case("verify", "unsaid", "2 texts, and not a word", lambda at: at.phone_again("verify0")),
    Case("verify", "mischarged", "priced 0", "UPDATE message SET price = 0 WHERE kind = 1"),
    Case("channels", "lost", "its deliveries are missing", "DELETE FROM channel_deliveries"),
    Case("channels", "lost", "has no message", "UPDATE channel_deliveries SET message = NULL"),
    Case("channels", "lost", "its user has no code", lambda at: at.phone_without("channels0")),
    Case("channels", "lost", "2 codes that differ", lambda at: at.chat_with("channels0", "000000")),
    Case("channels", "unsaid", "2 times for 1 deliveries", lambda at: at.phone_again("channels0")),
    Case(
        "channels",
        "mischarged",
        "by chat: priced 50 in place of 30",
        f"UPDATE message SET price = 50 WHERE {BY_CHANNEL} AND d.n = 1)",
    ),
    Case(
        "channels",
        "mischarged",
        "by chat: failed, and refunded 0",
        f"DELETE FROM entry WHERE kind = 1 AND message IN (SELECT key FROM message"
        f" WHERE {BY_CHANNEL}))",
    ),
    Case("payments", "lost", "missing, and its", f"DELETE FROM payments WHERE {of('unpaid')}"),
    Case(
        "payments",
        "lost",
        "waiting, and its customer",
        f"UPDATE payments SET state = 'waiting' WHERE {of('paid')}",
    ),
    Case("payments", "mischarged", "2 credits for 1 confirmed", CREDIT),
    Case(
        "payments",
        "mischarged",
        "0 credits for 1 confirmed",
        "DELETE FROM entry WHERE seq = (SELECT max(entry) FROM payments)",
    ),
    Case(
        "payments",
        "mischarged",
        "1 credits for 1 confirmed",
        "UPDATE entry SET amount = 400 WHERE seq = (SELECT max(entry) FROM payments)",
    ),
    Case(
        "payments",
        "mischarged",
        "nobody has paid it",
        lambda at: (
            at.sql(f"UPDATE payments SET state = 'confirmed' WHERE {of('unpaid')}"),
            at.sql(CREDIT),
        ),
    ),
    Case("inbound", "lost", "sent to the modem", "DELETE FROM inbound WHERE carrier = 'sim-1'"),
    Case("inbound", "lost", "acknowledged, and", "DELETE FROM inbound WHERE carrier = 'mattel'"),
    Case(
        "inbound",
        "lost",
        "a part of it is not",
        "UPDATE inbound SET body = substr(body, 1, 150) WHERE carrier = 'mattel'",
    ),
    Case(
        "inbound",
        "unsaid",
        "2 times in the file",
        "INSERT INTO inbound SELECT 'mo_x', carrier, sender, recipient, body, 'pdu-x', received_at,"
        " organization_id, sent_at, label FROM inbound WHERE carrier = 'mattel'",
    ),
    Case("webhooks", "lost", "did not arrive", lambda at: at.uncalled("/hook")),
    Case("webhooks", "lost", "another body", lambda at: at.called_with("{}")),
    Case("webhooks", "unsaid", "2 times, 1 logged", lambda at: at.called_again()),
    *(
        Case("webhooks", "lost", f"0 events {kind}", lambda at, kind=kind: at.without_event(kind))
        for kind in ("sms.sent", "sms.delivered", "sms.failed", "sms.received", "verify.sent")
    ),
    Case("webhooks", "lost", "0 events verify.app", lambda at: at.without_event("verify.approved")),
    Case("webhooks", "unsaid", "2 events sms.", lambda at: at.event_again()),
    Case(None, "", "its balance is", "UPDATE organizations SET balance = balance + 1"),
    Case(None, "", "nobody sent 'who'", f"UPDATE message SET body = 'who' WHERE {of('api0')}"),
    Case(None, "", "answered 403", lambda at: at.told.refused.append("403: no")),
)


FEW = [*{case.column: case for case in CASES}.values()]
"""What `make test` makes wrong: one thing of each column."""


def looked(history):
    return Books(history.house, history.told, begun(history.house), read_s=0).look()


def counted(tally, column):
    return tally.owed - tally.told if column == "untold" else getattr(tally, column)


@pytest.mark.parametrize(
    "cases", [pytest.param(CASES, id="all", marks=pytest.mark.long), pytest.param(FEW, id="few")]
)
async def test_each_column_sees_what_it_is_for(history, autojump_clock, cases):
    books = looked(history)
    assert books.faults == []
    for face, tally in books.tallies.items():
        wrong = dataclasses.asdict(tally)
        assert [wrong[name] for name in ("lost", "unsaid", "mischarged")] == [0, 0, 0], face
        assert tally.told == tally.owed, face
    assert books.tallies["batch"].doubled == 1, "and it says so"
    blind = []
    for case in cases:
        with TemporaryDirectory() as folder:
            books = looked(history.made_wrong(Path(folder) / "data", case))
        is_told = any(case.told in fault for fault in books.faults)
        count = 1 if case.face is None else counted(books.tallies[case.face], case.column)
        if not is_told or not count:
            blind.append((case.face, case.column, case.told, books.faults[:3]))
    assert blind == []
