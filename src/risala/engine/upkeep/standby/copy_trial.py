"""Whether the standby's copy can be restored: tried in a temporary directory, and thrown away.

A copy that nobody has ever restored is a hope. The trial does what a takeover does with it, but for
the lease: it reads the whole copy and its pieces, checks the chain, the file and the books.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.shipping.copy import StandbyCopy
from risala.engine.journal.shipping.notes import BadPiece, note_of
from risala.engine.journal.shipping.piece_store import PieceStore
from risala.engine.journal.shipping.pieces import put
from risala.engine.journal.upkeep import backup
from risala.engine.journal.upkeep.restore import restore
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Finding, Grade
from risala.engine.model.records.messages import Stamp
from risala.engine.upkeep.standby.copy_check import PrimaryLease, examined

NAME: Final = "copy-trial.json"
OLD_MS: Final = 45 * 86_400_000
"""With a trial a month, an older one means that one was missed."""
_DAY_MS: Final = 86_400_000
_MEBIBYTE: Final = 1024 * 1024


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
    store: PieceStore, data_dir: Path, clock: Clock, progress: backup.Progress
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
    store: PieceStore, place: Path, clock: Clock, progress: backup.Progress
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
        found = note_of(data_dir / NAME)
        return None if found is None else CopyTrial(**found)
    return None


def trial_finding(data_dir: Path, now_ms: int) -> Finding:
    """What the doctor says of it."""
    found = last_trial(data_dir)
    how = "Try it with `risala standby try`; risala-standby-trial.timer does that each month."
    if found is None:
        text = f"Nobody has tried on this machine whether the copy can be restored. {how}"
        return Finding("standby", Grade.WARN, text)
    ago = max(0, now_ms - found.at) // _DAY_MS
    when = "today" if not ago else f"{ago} days ago"
    if found.fault is not None:
        text = f"The copy could not be restored when that was tried, {when}: {found.fault} {how}"
        return Finding("standby", Grade.FAIL, text)
    if now_ms - found.at > OLD_MS:
        text = f"Whether the copy can be restored was tried last {when}. {how}"
        return Finding("standby", Grade.WARN, text)
    size = found.size_bytes / _MEBIBYTE
    text = f"The copy could be restored when that was tried, {when} ({size:.0f} MiB)."
    return Finding("standby", Grade.OK, text)
