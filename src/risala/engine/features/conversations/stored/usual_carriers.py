"""The carrier by which a number's messages left, or its texts came, last. Where it is sticky, the
next message goes by it: the person always writes with the same SIM.

Nothing is stored for it. It is read from the messages and the texts themselves, and so it goes with
an erased number, and is in an export with them. Messages that are older than texts are kept do not
count.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from risala.config.model import RetentionSection
from risala.dataclass import dataclass
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.repository import Store, read
from risala.engine.model.ids import first_id, key_of
from risala.engine.model.numbers import STATUSES, recipient_number

if TYPE_CHECKING:
    from risala.engine.journal.repositories import Repositories

LOOKED_MAX: Final = 20
"""The newest messages and texts of a number that are looked at, as many of either: among them are
those that failed, or went by a carrier that is not sticky."""
DAY_MS: Final = 86_400_000
_NEVER_LEFT: Final = tuple(map(STATUSES.number, ("failed", "canceled")))
_SENT: Final = (
    f"SELECT key, {name_sql('carrier')} FROM (SELECT key, carrier, status FROM message"  # noqa: S608 -- constants
    " INDEXED BY message_by_recipient WHERE recipient = ? AND organization ="
    " (SELECT no FROM organizations WHERE id = ?) AND key >= ? AND mode = 0"
    " ORDER BY key DESC LIMIT ?) WHERE carrier IS NOT NULL AND status NOT IN (?, ?)"
)
_CAME: Final = (
    "SELECT id, carrier FROM (SELECT id, carrier, organization_id FROM inbound"
    " INDEXED BY inbound_by_sender WHERE sender = ? AND id >= ? ORDER BY id DESC LIMIT ?)"
    " WHERE organization_id = ?"
)


def last_of(
    conn: sqlite3.Connection,
    organization_id: str,
    number: str,
    carriers: frozenset[str],
    since_ms: int,
) -> str | None:
    """The one of these carriers that a number and an organization used last, in either direction;
    None: none of them, since a time and among the newest messages."""
    first = first_id("mo", since_ms)
    whose = (recipient_number(number), organization_id, key_of(first))
    sent = conn.execute(_SENT, (*whose, LOOKED_MAX, *_NEVER_LEFT))
    came = conn.execute(_CAME, (number, first, LOOKED_MAX, organization_id))
    # Read only as far as the newest of either: nearly always that is the first row.
    out = next(((key, name) for key, name in sent if name in carriers), None)
    back = next(((key_of(each) or 0, name) for each, name in came if name in carriers), None)
    return max(filter(None, (out, back)), default=(0, None))[1]


@dataclass(frozen=True, slots=True)
class UsualCarrierRepository:
    """What was usual with numbers. Its read is by two indexes, of bounded rows, on the loop's
    thread."""

    _store: Store

    last_of = read(last_of)


def usual_carrier(
    repositories: Repositories,
    retention: RetentionSection,
    organization_id: str,
    number: str,
    carriers: frozenset[str],
    now_ms: int,
) -> str | None:
    """See :attr:`risala.engine.model.feature_work.Duty.USUAL_CARRIER`."""
    days = retention.inbound_days
    since_ms = max(0, now_ms - days * DAY_MS) if days else 0
    stored = repositories.part(UsualCarrierRepository)
    return stored.last_of(organization_id, number, carriers, since_ms)
