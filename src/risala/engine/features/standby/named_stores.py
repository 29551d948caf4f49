"""The stores of pieces and of the lease that the settings name, and what they say of themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from risala.config.model import Settings
from risala.config.outward import StandbySection
from risala.engine.features.standby.lease import LeaseDirectory, LeaseStore, held
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceDirectory, PieceStore
from risala.engine.journal.audit import heads_file
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Finding, Grade
from risala.engine.rules.trail.heads import Head

if TYPE_CHECKING:
    from risala.engine.features.standby.postgresql.session import PostgresqlSession
from contextlib import suppress

from risala.dataclass import dataclass
from risala.engine.features.standby.lease import SendLease

MISSING: Final = (
    "The settings name PostgreSQL for the standby, and the driver for it is not installed: "
    "`pip install 'risala[standby]'`."
)


def pieces_of(section: StandbySection, data_dir: Path) -> PieceStore | None:
    """The store that pieces are put into; None: there is none.

    Raises:
        StorageUnusable: PostgreSQL is named, and its driver or its address is missing.
    """
    if section.copy_kind == "postgresql":
        session = session_of(section)
        # Imported here: who does not use PostgreSQL needs nothing of it.
        from risala.engine.features.standby.postgresql.pieces import CHANNEL, PostgresqlPieces

        listening = session_of(section, begin=f"LISTEN {CHANNEL}")
        return PostgresqlPieces(session, listening, partial(held, data_dir))
    return None if section.directory is None else PieceDirectory(section.directory)


def pieces_at(section: StandbySection, data_dir: Path, directory: Path | None) -> PieceStore:
    """The store where a standby finds the pieces: the directory that it is given, else as the
    settings say.

    Raises:
        StorageUnusable: there is no such directory, the settings name none, or what they name
            cannot be used.
    """
    if directory is None:
        store = pieces_of(section, data_dir)
        if store is None:
            raise StorageUnusable(
                "Name the directory that the primary ships to, or set [standby] in the settings."
            )
        if section.copy_kind == "postgresql":
            return store
        directory = section.directory
        assert directory is not None
    if not directory.is_dir():
        raise StorageUnusable(f"There is no directory {directory}.")
    return PieceDirectory(directory)


def give_heads(settings: Settings, heads: Sequence[Head]) -> None:
    """Put the signed heads of the audit trail that the standby lacks where its pieces are.

    Raises:
        StorageUnusable: PostgreSQL is named, and its driver or its address is missing.
        OSError: the store refuses.
    """
    section = settings.standby
    if section.copy_kind == "postgresql":
        with closing(session_of(section)) as session:
            from risala.engine.features.standby.postgresql.pieces import add_missing_heads

            add_missing_heads(session, heads)
    elif section.directory is not None:
        heads_file.add_missing(section.directory, heads)


def make_ready(section: StandbySection) -> str:
    """Make what the standby needs in PostgreSQL, or look whether its directories are there; says
    in a sentence what was done.

    Raises:
        StorageUnusable: something is missing that is not made here.
        OSError: PostgreSQL refuses.
    """
    if "postgresql" in (section.copy_kind, section.lease_kind):
        session = session_of(section, checks=False)
        from risala.engine.features.standby.postgresql.tables import prepare

        made, fault = session.run(prepare)
        session.close()
        if fault is not None:
            raise StorageUnusable(fault)
        what = "The tables are made" if made else "The tables were there already"
        return f"{what}: PostgreSQL at {session.address}."
    directories = [
        each for each in (section.directory, section.lease_directory) if each is not None
    ]
    if not directories:
        raise StorageUnusable("The settings have no [standby]: there is nothing to make.")
    for each in directories:
        if not os.access(each, os.W_OK | os.X_OK):
            raise StorageUnusable(
                f"{each} is no directory that this user may write to. Risala does not create it: "
                f"if it is missing, something may not be mounted."
            )
    return f"Directories need nothing made. They are there: {', '.join(map(str, directories))}."


def lease_of(section: StandbySection) -> LeaseStore | None:
    """What decides who sends; None: nothing does.

    Raises:
        StorageUnusable: PostgreSQL is named, and its driver or its address is missing.
    """
    if section.lease_kind == "postgresql":
        session = session_of(section)
        from risala.engine.features.standby.postgresql.lease import PostgresqlLease

        return PostgresqlLease(session)
    return None if section.lease_directory is None else LeaseDirectory(section.lease_directory)


def health_of(section: StandbySection, data_dir: Path, *, running: bool) -> list[Finding]:
    """The doctor's findings at PostgreSQL; empty if the settings do not name it.

    Args:
        running: the service runs here.
    """
    if "postgresql" not in (section.copy_kind, section.lease_kind):
        return []
    try:
        session = session_of(section)
        mine = held(data_dir)
    except (StorageUnusable, OSError, BadPiece) as error:
        return [Finding("standby", Grade.FAIL, str(error))]
    from risala.engine.features.standby.postgresql.health import findings

    return findings(session, mine, running=running)


def session_of(
    section: StandbySection, *, checks: bool = True, begin: str | None = None
) -> PostgresqlSession:
    """A connection to the PostgreSQL of the settings, which is made when it is used.

    Raises:
        StorageUnusable: its driver or its address is missing.
    """
    try:
        from risala.engine.features.standby.postgresql.session import (
            PostgresqlSession,
            WrongAddress,
        )
    except ImportError as error:
        raise StorageUnusable(MISSING) from error
    postgresql = section.postgresql
    name = postgresql.url_env
    url = os.environ.get(name, "")
    if not url:
        raise StorageUnusable(
            f"The variable {name} is not set. It has the address of PostgreSQL for the standby, "
            f"such as postgresql://risala@db.example.com/risala."
        )
    try:
        return PostgresqlSession(url, postgresql.installation, checks=checks, begin=begin)
    except WrongAddress:
        raise StorageUnusable(f"The variable {name} has no address of PostgreSQL.") from None


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """None: unknown."""

    lease: SendLease | None = None
    room_bytes: int | None = None
    fault: str | None = None
    """Why the store could not be asked."""


def store_facts(section: StandbySection) -> StoreFacts:
    """Ask the store that the settings name. Call it in a thread."""
    try:
        lease = lease_of(section)
        present = None if lease is None else lease.highest()
        return StoreFacts(present, _room(section))
    except (OSError, BadPiece, StorageUnusable) as error:
        return StoreFacts(fault=str(error))


def _room(section: StandbySection) -> int | None:
    if section.copy_kind == "postgresql":
        # Imported here: who does not use PostgreSQL needs nothing of it.
        from risala.engine.features.standby.postgresql.health import room_bytes

        session = session_of(section)
        try:
            return session.run(room_bytes)
        finally:
            session.close()
    return None if section.directory is None else _size(section.directory)


def _size(directory: Path) -> int:
    total = 0
    for path in directory.glob("**/*"):
        with suppress(OSError):  # an old copy is deleted meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total
