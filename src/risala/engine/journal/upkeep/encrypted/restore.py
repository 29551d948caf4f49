"""Restoring from an encrypted backup: it is opened beside the database, and restored from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from risala.engine.journal.upkeep.backup import Progress
from risala.engine.journal.upkeep.encrypted.backup import unpacked
from risala.engine.journal.upkeep.restore import RestoreReport, add_up, restore
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp


def restore_encrypted(
    identity: Path,
    source: Path,
    database: Path,
    *,
    resend_pending: bool,
    even_unclean: bool,
    stamp: Callable[[], Stamp],
    progress: Progress,
) -> RestoreReport:
    """:func:`restore` from a file that ``back_up_encrypted`` wrote.

    Args:
        identity: the file with the secret key.

    Raises:
        StorageUnusable: the reason; the database and the keys are unchanged.
        AlteredBackup: its checksum differs, and ``even_unclean`` is not set.
    """
    if not source.is_file():
        raise StorageUnusable(f"There is no file {source}.")
    checked = add_up(source, progress, even_altered=even_unclean)
    progress("decrypting", 0, 0)
    with unpacked(source, identity, database.parent) as found:
        report = restore(
            found.database,
            database,
            resend_pending=resend_pending,
            even_unclean=even_unclean,
            stamp=stamp,
            progress=progress,
            keys=found.sealing,
        )
        found.install_keys(database.parent)
    # The cipher proves that the file is whole, and not who made it.
    return replace(report, checked=checked)
