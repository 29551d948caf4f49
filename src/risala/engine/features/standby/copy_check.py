"""Compares a standby's copy with all that shows what its primary has shipped.

Pieces are counted: those that the store has, those that its note names, and those in the copy. The
lease tells the ledger's last entry, and when the primary was last seen. What the copy lacks by any
of these is said before a takeover changes anything.

A copy that nobody has ever restored is a hope. A trial does what a takeover does with it, but for
the lease, in a temporary directory: it reads the whole copy and its pieces, checks the chain, the
file and the books, and throws it away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.backup.stored.restore import restore
from risala.engine.features.standby.lease import SendLease
from risala.engine.features.standby.stored.copy import CopyPosition, StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece, note_of
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.features.standby.stored.pieces import Shipped, put
from risala.engine.journal.upkeep import database_copy
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp
from risala.engine.model.times import iso, maybe_iso

_ATTEMPTS: Final = 10
"""How many times reading a whole copy is tried before its successor stands: the second one goes
well."""


@dataclass(frozen=True, slots=True)
class CopyLoss:
    """What a copy lacks, as far as anything shows it. Times are UTC epoch milliseconds by the
    primary's clock."""

    reasons: tuple[str, ...]
    """Sentences."""
    since: int
    """The copy has everything up to this moment."""
    until: int | None
    """When the primary was last seen; None: unknown."""
    pieces: tuple[int, int] | None
    """The first and the last piece that are missing; None: not known by number."""
    entries: int
    """Entries of the ledger that the copy has not, as far as the lease shows."""

    def __str__(self) -> str:
        until = (
            "" if self.until is None else f", and the primary was last seen at {_at(self.until)}"
        )
        return (
            f"The copy lacks something. {' '.join(self.reasons)} The copy is of {_at(self.since)}"
            f"{until}, by the primary's clock."
        )

    def json(self) -> dict[str, Any]:
        """The JSON for programs, and for the audit trail."""
        first, last = self.pieces or (None, None)
        return {
            "reasons": list(self.reasons),
            "since": iso(self.since),
            "until": maybe_iso(self.until),
            "firstPiece": first,
            "lastPiece": last,
            "entries": self.entries,
        }


class CopyLacks(StorageUnusable):
    """The copy lacks something, and nobody has said to go on without it."""

    def __init__(self, loss: CopyLoss, *, holds_lease: bool) -> None:
        state = (
            "This machine holds the lease already, and the copy is not in use yet."
            if holds_lease
            else "Nothing was changed, and the lease is as it was."
        )
        super().__init__(
            f"{loss} {state} Bring back what is missing; if the primary can still run, start its "
            f"service again, which begins with another whole copy. To go on without what is "
            f"missing: `risala standby takeover --accept-loss`."
        )
        self.loss = loss


@dataclass(frozen=True, slots=True)
class PrimaryLease:
    """What the lease shows of the primary."""

    lease: SendLease | None
    """The primary's; None: there is none."""
    is_expected: bool
    """The store of leases has one of each primary that ships."""


@dataclass(frozen=True, slots=True)
class _StoreState:
    """What the store shows at a moment: a copy that follows then has to have all of it."""

    generation: str
    shipped: Shipped | None
    """None: the note is missing, or of another copy."""
    last: int
    """The highest number of a piece in the store."""
    is_awaited: bool
    primary: PrimaryLease

    @property
    def highest(self) -> int:
        """The number of the last piece of which anything tells."""
        return max(self.last, 0 if self.shipped is None else self.shipped.number)


def examined(
    copy: StandbyCopy,
    primary: Callable[[], PrimaryLease],
    follow: Callable[[], CopyPosition | None],
) -> tuple[CopyPosition, CopyLoss | None]:
    """Follow, and compare the copy with what was there before; where it is, and what it lacks.

    Args:
        primary: reads the primary's lease.
        follow: has the copy follow all that is there.

    Raises:
        StorageUnusable: there is no whole copy, it changes all the time, or it cannot be read.
        BadPiece: the shipped data is not what was written.
        OSError: a store or the disk refuses.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        shown = _state_of(copy.store, primary())
        position = follow()
        if shown is None or position is None:
            raise StorageUnusable(f"There is no copy in {copy.store} yet.")
        later = _state_of(copy.store, shown.primary)
        if later is not None and position.generation == shown.generation == later.generation:
            loss = _loss_of(copy, position, shown, later)
            if loss is None or shown.shipped is not None or attempt == _ATTEMPTS:
                return position, loss  # a note that another copy began meanwhile comes in a moment
    raise StorageUnusable(f"The copy in {copy.store} changes while it is read. Try again.")


def _state_of(store: PieceStore, primary: PrimaryLease) -> _StoreState | None:
    """None: there is no whole copy."""
    current = store.current()
    if current is None:
        return None
    shipped = None
    with suppress(BadPiece):  # a note that is damaged shows nothing
        shipped = store.shipped()
    if shipped is not None and shipped.generation != current.generation:
        shipped = None
    generation = current.generation
    return _StoreState(
        generation, shipped, store.last(generation), store.is_awaited(generation), primary
    )


def _loss_of(
    copy: StandbyCopy, position: CopyPosition, shown: _StoreState, later: _StoreState
) -> CopyLoss | None:
    """What the copy lacks of what was shown before it followed, and ``later``; None: nothing."""
    lease, shipped = shown.primary.lease, shown.shipped
    had = 0 if lease is None else lease.entries
    entries = max(0, had - copy.last_entry()) if had else 0
    seen = [each.at for each in (lease, shipped) if each is not None]
    until = max(seen) if seen else None
    missing = shown.highest > position.number
    pieces = (position.number + 1, shown.highest) if missing else None
    reasons = (
        *_of_pieces(copy.store, position, shown, later, pieces),
        *_of_lease(copy.store, position, shown, entries),
    )
    if not reasons:
        return None
    return CopyLoss(reasons, position.at, until, pieces, entries)


def _of_pieces(
    store: PieceStore,
    position: CopyPosition,
    shown: _StoreState,
    later: _StoreState,
    missing: tuple[int, int] | None,
) -> Iterator[str]:
    """Reasons by what was shipped."""
    if shown.shipped is None:
        yield f"The note that says how far the primary has shipped is missing in {store}."
    if missing is not None:
        yield _missing(store, position, missing[1])
    elif later.highest < position.number:
        yield _forgotten(store, position, later.highest)


def gap(store: PieceStore, position: CopyPosition, shipped: Shipped | None) -> str | None:
    """What the copy lacks of what was shipped before it followed, in a sentence; None: nothing, or
    another copy has begun meanwhile."""
    if shipped is None or shipped.generation != position.generation:
        return None
    return _missing(store, position, shipped.number) if shipped.number > position.number else None


def _missing(store: PieceStore, position: CopyPosition, last: int) -> str:
    first = position.number + 1
    if last == first:
        return f"The primary has shipped piece {first}, and {store} has lost it."
    return (
        f"The primary has shipped {last - position.number} pieces, {first} to {last}: {store} has "
        f"lost them, or the first of them, which the others go upon."
    )


def _forgotten(store: PieceStore, position: CopyPosition, last: int) -> str:
    return (
        f"{store} has no piece after {last}, and the copy here is up to piece {position.number}: "
        f"nobody knows what came after that."
    )


def _of_lease(
    store: PieceStore, position: CopyPosition, shown: _StoreState, entries: int
) -> Iterator[str]:
    """Reasons by the lease. Where answers wait for the copy it has whatever the lease names.
    Another copy may be behind, but by no more than a term of the lease: so long the primary goes on
    by itself when nothing can be written."""
    lease = shown.primary.lease
    if lease is None:
        if shown.primary.is_expected and shown.is_awaited:
            yield "The lease that the primary held is missing."
        return
    behind_ms = lease.at - position.at if position.at else 0  # 0: it is not known of when it is
    is_late = not shown.is_awaited and behind_ms > lease.term_s * 1000
    if is_late:
        yield f"The primary went on for {behind_ms / 1000:.1f} s after the copy's last data."
    if entries and (shown.is_awaited or is_late):
        what = "entry of its ledger" if entries == 1 else "entries of its ledger"
        yield f"The primary had {entries} {what} (charges, refunds, top-ups) more."


def _at(at_ms: int) -> str:
    return iso(at_ms) if at_ms else "an unknown time"


NAME: Final = "copy-trial.json"


@dataclass(frozen=True, slots=True)
class CopyTrial:
    """The last trial on this machine."""

    at: int
    """UTC epoch milliseconds."""
    fault: str | None
    """Why the copy could not be restored; None: it could."""
    copy_of: int | None = None
    """The moment of which the copy was, by the primary's clock."""
    size_bytes: int = 0
    took_s: float = 0.0


def try_copy(
    store: PieceStore, data_dir: Path, clock: Clock, progress: database_copy.Progress
) -> CopyTrial:
    """Restore the copy beside the data, check it, and note the result. Call it in a thread.

    Raises:
        OSError: the note cannot be written.
    """
    began_s = time.monotonic()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        # Beside the data, where there is room for a takeover; a RAM disk may be too small.
        with TemporaryDirectory(prefix="copy-trial-", dir=data_dir) as place:
            copy_of, size = _restored(store, Path(place), clock, progress)
    except (BadPiece, StorageUnusable, OSError) as error:
        trial = CopyTrial(clock.now_ms(), str(error))
    else:
        took_s = round(time.monotonic() - began_s, 1)
        trial = CopyTrial(clock.now_ms(), None, copy_of, size, took_s)
    put(data_dir / NAME, json.dumps(asdict(trial)).encode())
    return trial


def _restored(
    store: PieceStore, place: Path, clock: Clock, progress: database_copy.Progress
) -> tuple[int, int]:
    copy, database, settled = StandbyCopy(place, store), place / "risala.db", place / "settled.db"
    # Not by the lease: a primary that runs renews it while this reads.
    nobody = PrimaryLease(None, is_expected=False)
    position, loss = examined(copy, lambda: nobody, partial(copy.follow, progress))
    if loss is not None:
        raise StorageUnusable(f"{loss} Start the primary's service again: it ships a whole copy.")
    copy.refuse_wrong()
    copy.settled(settled)
    restore(
        settled,
        database,
        resend_pending=False,
        even_unclean=False,
        stamp=lambda: Stamp(clock.now_ms()),
        progress=progress,
    )
    return position.at, database.stat().st_size


def last_trial(data_dir: Path) -> CopyTrial | None:
    """None: there was none here, or its note cannot be read."""
    with suppress(OSError, BadPiece, TypeError):
        note = note_of(data_dir / NAME)
        return None if note is None else CopyTrial(**note)
    return None
