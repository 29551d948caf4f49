"""An encrypted backup: the database and the keys beside it, for the public keys of who restores.

The plain copy is made in the data directory, which has the same secrets anyway, and removed; only
the encrypted file leaves it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store import sealing_key, server_key
from risala.engine.journal.store.key_file import write_key
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.upkeep import checksum
from risala.engine.journal.upkeep.backup import BackupReport, Progress, back_up, sync_directory
from risala.engine.journal.upkeep.encrypted import age_file
from risala.engine.model.errors import StorageUnusable

DATABASE: Final = "risala.db"
"""The copy's name inside."""
KEYS: Final = (server_key.KEY_FILE, sealing_key.KEY_FILE)
"""The keys that go along. That of the audit trail does not: a copy of it belongs nowhere else."""
_WORK: Final = "backing-up-"
"""How a folder for plain copies begins; one that a kill left is removed by the next backup."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What an encrypted backup has."""

    database: Path
    keys: tuple[str, ...]
    """The files of keys that were put beside the database."""
    kept: tuple[str, ...]
    """Those that were there already, with other keys in them."""


def back_up_encrypted(
    database: Path, target: Path, keys: Sequence[str], progress: Progress
) -> BackupReport:
    """:func:`back_up`, encrypted for some public keys, with the keys beside the database.

    Needs room for one copy beside the database. Call it in a thread.

    Raises:
        StorageUnusable: it could not be read or written, the copy is damaged, or a key is none.
    """
    recipients = age_file.recipients_of(keys)
    partial = target.with_name(f"{target.name}.partial")
    with _folder(database.parent) as folder:
        report = back_up(database, folder / DATABASE, progress)
        files = {DATABASE: folder / DATABASE}
        files |= {
            name: database.parent / name for name in KEYS if (database.parent / name).exists()
        }
        total = sum(path.stat().st_size for path in files.values())
        try:
            os.close(
                os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            )
            partial.chmod(0o600)
            age_file.encrypt(
                files, partial, recipients, lambda done: progress("encrypting", done, total)
            )
            sha256 = checksum.of_file(partial, progress)
            size_bytes = partial.stat().st_size
            checksum.forget(target)
            partial.replace(target)
            checksum.write(target, sha256)
            sync_directory(target.parent)
        except OSError as error:
            raise StorageUnusable(f"{target} cannot be written: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    return replace(report, path=target, size_bytes=size_bytes, sha256=sha256)


@contextmanager
def unpacked(source: Path, identity: Path, data_dir: Path) -> Iterator[Unpacked]:
    """Open an encrypted backup beside the database, for as long as it is restored from.

    Its keys are put into the data directory: of sealing keys those that are missing there; the
    server key only where there is none.

    Raises:
        StorageUnusable: it was changed or damaged, is for another key, or has no database in it.
    """
    identities = age_file.identities_in(identity)
    with _folder(data_dir) as folder:
        found = age_file.decrypt(source, identities, folder, frozenset((DATABASE, *KEYS)))
        if DATABASE not in found:
            raise StorageUnusable(f"{source} is not a backup of Risala.")
        put, kept = _put_keys(found, data_dir)
        yield Unpacked(found[DATABASE], put, kept)


def _put_keys(found: dict[str, Path], data_dir: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    put, kept = [], []
    for name in KEYS:
        if name not in found:
            continue
        text, there = found[name].read_text(encoding="ascii"), data_dir / name
        if not there.exists():
            write_key(there, text)
            put.append(name)
        elif name == sealing_key.KEY_FILE:
            ring = sealing_key.parsed(text, f"The {name} in the backup")
            SealingKeys(data_dir, {}).add(ring)
        elif there.read_text(encoding="ascii") != text:
            kept.append(name)
    return tuple(put), tuple(kept)


@contextmanager
def _folder(data_dir: Path) -> Iterator[Path]:
    """A private folder that is gone at the end; so are those that a kill left. The caller holds the
    data directory, or a service does: then a second backup at the same time is left alone."""
    folder = Path(mkdtemp(prefix=f"{_WORK}{os.getpid()}-", dir=data_dir))
    for other in data_dir.glob(f"{_WORK}*"):
        pid = other.name.removeprefix(_WORK).partition("-")[0]
        if other != folder and not (pid.isdigit() and Path(f"/proc/{pid}").exists()):
            shutil.rmtree(other, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
