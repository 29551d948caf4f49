"""Backups: copies that are checked and audited. Encrypted ones have the keys of the database too.

Of an encrypted one the plain copy is made in the data directory, which has the same secrets anyway,
and removed; only the encrypted file leaves it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.backup import age_file
from risala.engine.journal import storage
from risala.engine.journal.store import sealing_key, server_key
from risala.engine.journal.store.key_file import write_key
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.upkeep import backup_note, checksum
from risala.engine.journal.upkeep.database_copy import (
    Progress,
    audit_with,
    check,
    sync_directory,
    write_copy,
)
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Finding, Grade, Patient
from risala.engine.model.records.upkeep.trail import AuditReport
from risala.engine.rules.sealing import SealingRing


@dataclass(frozen=True, slots=True)
class BackupReport:
    path: Path
    size_bytes: int
    sha256: str
    """The copy's checksum in hexadecimal; also in the file beside the copy."""
    audit: AuditReport


def back_up(database: Path, target: Path, progress: Progress) -> BackupReport:
    """Write a consistent copy of ``database`` to ``target`` (0600), which appears whole or not at
    all.

    Its checksum is beside it, in the form of ``sha256sum -c``: SQLite can only check a file's
    structure, not its content. Takes as long as the disk; call it in a thread. Replaces ``target``.

    Raises:
        StorageUnusable: it could not be read or written, or the copy is damaged.
    """
    reports: list[AuditReport] = []

    def inspect(partial: Path) -> None:
        with closing(open_reader(partial)) as conn:
            check(conn, database, progress)
            reports.append(audit_with(conn, progress))

    size_bytes, sha256 = write_copy(database, target, progress, inspect)
    return BackupReport(target, size_bytes, sha256, reports[0])


# -- encrypted: with the keys beside the database, for the public keys of who restores


DATABASE: Final = "risala.db"
"""The copy's name inside."""
KEYS: Final = (server_key.KEY_FILE, sealing_key.KEY_FILE)
"""The keys that go along. That of the audit trail does not: a copy of it belongs nowhere else."""
_WORK: Final = "backing-up-"
"""How a folder for plain copies begins; one that a kill left is removed by the next backup."""


_KEY_BYTES_MAX: Final = 65_536
"""The most bytes of a file of keys: hundreds of them."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What an encrypted backup has."""

    database: Path
    sealing: SealingRing | None
    """The backup's sealing keys; None: it has none."""
    texts: Mapping[str, str]
    """The backup's files of keys, which are keys; nothing of them is installed yet."""

    def install_keys(self, data_dir: Path) -> None:
        """Put the keys beside the database, once that has passed: of sealing keys those that are
        missing there; the server key only where there is none.

        Raises:
            StorageUnusable: they cannot be written.
        """
        for name, text in self.texts.items():
            if not (data_dir / name).exists():
                write_key(data_dir / name, text)
            elif name == sealing_key.KEY_FILE and self.sealing is not None:
                SealingKeys(data_dir, {}).add(self.sealing)


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

    Its keys are judged here, and installed by :meth:`Unpacked.install_keys`: whoever has the public
    key can make such a file, and no key of a file that is refused may stay behind.

    Raises:
        StorageUnusable: it was changed or damaged, is for another key, has no database in it or
            keys that are none, or is larger than the disk has room for.
    """
    identities = age_file.identities_in(identity)
    with _folder(data_dir) as folder:
        room = shutil.disk_usage(folder).free
        limits = {DATABASE: room} | dict.fromkeys(KEYS, _KEY_BYTES_MAX)
        files = age_file.decrypt(source, identities, folder, limits)
        if DATABASE not in files:
            raise StorageUnusable(f"{source} is not a backup of Risala.")
        texts: dict[str, str] = {name: _text(files[name], source) for name in KEYS if name in files}
        if server_key.KEY_FILE in texts:
            server_key.parsed(texts[server_key.KEY_FILE], f"The {server_key.KEY_FILE} in {source}")
        text = texts.get(sealing_key.KEY_FILE)
        where = f"The {sealing_key.KEY_FILE} in {source}"
        ring = None if text is None else sealing_key.parsed(text, where)
        yield Unpacked(files[DATABASE], ring, texts)


def _text(path: Path, source: Path) -> str:
    """
    Raises:
        StorageUnusable: it is no text of a key.
    """
    try:
        return path.read_text(encoding="ascii")
    except UnicodeDecodeError as error:
        raise StorageUnusable(
            f"The {path.name} in {source} is not a key: it is no text."
        ) from error


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


# -- what the doctor says of backups


_HOUR_MS: Final = 3_600_000


def examine(conn: sqlite3.Connection, patient: Patient) -> Iterator[Finding]:
    """Whether the last backup is old, or there never was one; empty if nobody asks for any."""
    note = backup_note.read(patient.data_dir)
    since_ms = storage.first_ms(conn) if note is None else note.at
    hours_max = patient.settings.alerts.backup_age_h
    if not hours_max or since_ms is None:  # not checked, or nothing to lose yet
        return
    age_ms = patient.now_ms - since_ms
    hours = age_ms // _HOUR_MS
    if age_ms <= hours_max * _HOUR_MS:
        text = "The last backup is recent."
        if note is None:
            text = "There is no backup yet, and little data. Run `risala backup` every day."
        yield Finding("backup", Grade.OK, text)
    elif note is None:
        text = (
            f"There is no backup, although there has been data for {hours} hours. Run `risala "
            "backup`."
        )
        yield Finding("backup", Grade.WARN, text)
    else:
        text = f"The last backup was made {hours} hours ago. Run `risala backup` every day."
        yield Finding("backup", Grade.WARN, text)
