"""Metrics from the disk: backlogs, backups. All queries are bounded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.core import Metric

from risala.engine.journal.messages.held import ReceiptRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.journal.upkeep import backup_note
from risala.engine.model.people_records import SITES, FailureReason
from risala.engine.rules.people.lifetimes import HOUR_MS
from risala.engine.upkeep.carrier_metrics import gauge

UNSERVED_COUNTED_MAX = 10_000
"""Messages that are counted at most: a scrape must stay cheap however long the queue is."""
_DATABASE = "risala.db"


def of_journal(repositories: Repositories, now_ms: int) -> Iterator[Metric]:
    """Waiting messages, deliveries and mails, and sign-ins that failed."""
    unserved = repositories.queue.unserved(UNSERVED_COUNTED_MAX).count
    text = "Messages whose numbers no enabled carrier serves; not counted beyond 10000."
    yield gauge("unserved_messages", text, [({}, unserved)])
    oldest = min(repositories.queue.oldest_due(now_ms).values(), default=now_ms)
    text = "How long the oldest message that is due has waited; 0: none waits."
    yield gauge("queue_oldest_seconds", text, [({}, (now_ms - oldest) / 1000)])
    owed = repositories.deliveries.behind(now_ms)
    text = "Webhook deliveries that have waited for a minute; not counted beyond 1000."
    yield gauge("webhook_deliveries_behind", text, [({}, owed.count)])
    mails = repositories.mails.waiting()
    text = "Mails that wait to be sent; not counted beyond 1000."
    yield gauge("mails_waiting", text, [({}, mails.waiting)])
    text = "Waiting mails that the mailer refused at least once."
    yield gauge("mails_failing", text, [({}, mails.failing)])
    failed = repositories.sign_in.count_failed(now_ms - HOUR_MS)
    text = "Sign-ins that failed in the last hour; not counted beyond 10000."
    yield gauge(
        "sign_ins_failed_last_hour",
        text,
        [
            ({"site": site, "reason": reason.value}, failed.get((kind, reason), 0))
            for kind, site in SITES.items()
            for reason in FailureReason
        ],
    )


def held_receipts(receipts: ReceiptRepository, carriers: list[str]) -> Metric:
    rows = [({"carrier": name}, float(receipts.waiting(name))) for name in carriers]
    text = "Receipts that wait for their message."
    return gauge("carrier_held_receipts", text, rows, labels=("carrier",))


def of_machine(data_dir: Path, now_ms: int) -> Iterator[Metric]:
    """The disk, and the last backup."""
    try:
        disk = shutil.disk_usage(data_dir)
        size_bytes = sum(each.stat().st_size for each in data_dir.glob(f"{_DATABASE}*"))
    except OSError:
        return
    text = "Free space on the disk that holds the data."
    yield gauge("disk_free_bytes", text, [({}, disk.free)])
    yield gauge("disk_bytes", "Total size of that disk.", [({}, disk.total)])
    text = "Size of the database and SQLite's files beside it."
    yield gauge("database_bytes", text, [({}, size_bytes)])
    note = backup_note.read(data_dir)
    if note is not None:
        text = "How long ago the last backup was made; absent before the first one."
        yield gauge("backup_age_seconds", text, [({}, max(0, now_ms - note.at) / 1000)])
