"""Faults of the database's files, and of a start."""

from __future__ import annotations

from typing import Final

from proofs.faults.row import ACCEPTED, REFUSED, Fault

_SERVE: Final = "`risala serve`"
_LOCKED: Final = "the database is locked by another program"
_DAMAGED: Final = "the database is damaged (database disk image is malformed)"
_REMOVED: Final = "the database was removed while the service runs"
_WAL_REMOVED: Final = "the database's risala.db-wal beside it was removed while the service runs"
_BY_A_START: Final = "by a start, once the file is in its place"
_PUT_BACK: Final = "put it back, or restore a backup (`risala restore FILE`)"

FILES: Final = (
    Fault(
        "locked",
        "Another program holds the database",
        "a program writes to it, and does not end its transaction",
        {
            "API": (REFUSED,),
            "`/readyz`": (_LOCKED,),
            "log": (f"storage.failed: {_LOCKED}", f"storage.recovered: {_LOCKED}"),
        },
        "by itself, once the other program is done",
        "Close the other program (`fuser risala.db`).",
    ),
    Fault(
        "database_removed",
        "The database is removed",
        "the file is moved away under the running service",
        {"API": (REFUSED,), "`/readyz`": (_REMOVED,), "log": (f"storage.failed: {_REMOVED}",)},
        _BY_A_START,
        "Copy what the service holds open from `/proc/PID/fd`, put the file back, start again.",
    ),
    Fault(
        "wal_removed",
        "The database's WAL is removed",
        "the file is moved away under the running service",
        {
            "API": (REFUSED,),
            "`/readyz`": (_WAL_REMOVED,),
            "log": (f"storage.failed: {_WAL_REMOVED}",),
        },
        _BY_A_START,
        "As for the database: the newest messages are in this file.",
    ),
    Fault(
        "page_damaged",
        "A page of the database is damaged",
        "the bytes of a page are written over while the service is down",
        {
            "API": (REFUSED,),
            "`/readyz`": (_DAMAGED,),
            "log": (f"storage.failed: {_DAMAGED}",),
            "doctor": (
                "The database DIR/risala.db is damaged: … Stop the service, keep a copy of it, and "
                "restore a backup.",
            ),
        },
        "by a start with a database that is whole",
        "Restore a backup; where there is a standby, take over.",
    ),
)

START: Final = (
    Fault(
        "locked_at_start",
        "Another program holds the database",
        "a program has it locked for itself",
        {_SERVE: ("exit 1: The database DIR/risala.db is locked by another program.",)},
        "by the next start",
        "Close the other program (`fuser risala.db`).",
    ),
    Fault(
        "two_services",
        "Another service runs there",
        "a second service is started on the same directory",
        {
            _SERVE: ("exit 1: The data directory DIR is in use by process N.",),
            "API": (ACCEPTED,),
        },
        "nothing has to: the first one goes on",
        "Nothing.",
    ),
    Fault(
        "newer_schema",
        "The database is of a newer version",
        "it has a migration that this version does not know",
        {
            _SERVE: (
                "exit 1: The database DIR/risala.db cannot be opened: the database was written "
                "by a newer Risala (it has 'm999_of_tomorrow'). Install that version, or "
                "restore an older backup.",
            )
        },
        "by a start of the newer version",
        "Install that version, or restore an older backup.",
    ),
    Fault(
        "no_database",
        "The file is no database",
        "its first bytes are something else",
        {_SERVE: ("exit 1: The file DIR/risala.db is not a database.",)},
        "by a start with a database",
        "Restore a backup.",
    ),
    Fault(
        "damaged_at_start",
        "The database's first page is damaged",
        "the bytes behind the header are written over",
        {_SERVE: ("exit 1: The database DIR/risala.db is damaged. Restore a backup.",)},
        "by a start with a database that is whole",
        "Restore a backup.",
    ),
    Fault(
        "gone_at_start",
        "The database is gone",
        "the file is removed, and what tells that there was one is there",
        {
            _SERVE: (
                f"exit 1: The database DIR/risala.db is gone, and there was one: {_PUT_BACK}. To "
                "begin with an empty one, remove DIR/made-risala.",
            )
        },
        _BY_A_START,
        "Put it back, or restore a backup.",
    ),
    Fault(
        "emptied_at_start",
        "The database is empty",
        "the file is cut to nothing, and what tells that there was one is there",
        {
            _SERVE: (
                f"exit 1: The database DIR/risala.db is empty, and there was one: {_PUT_BACK}. To "
                "begin with an empty one, remove DIR/made-risala.",
            )
        },
        _BY_A_START,
        "Put it back, or restore a backup.",
    ),
    Fault(
        "full_at_start",
        "The disk is full at the start",
        "each write into the directory is answered ENOSPC",
        {_SERVE: ("exit 1: The disk that holds DIR/risala.db is full.",)},
        "by the next start",
        "Make room.",
    ),
    Fault(
        "no_room_for_shm",
        "The disk has no room for the database's shared memory",
        "each write to the `-shm` is answered ENOSPC, which SQLite calls a disk I/O error",
        {_SERVE: ("exit 1: The disk that holds DIR/risala.db is full.",)},
        "by the next start",
        "Make room.",
    ),
    Fault(
        "writes_fail_at_start",
        "Writes fail at the start",
        "each write into the directory is answered EIO",
        {_SERVE: ("exit 1: The data directory DIR cannot be written: Input/output error.",)},
        "by the next start",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "reads_fail_at_start",
        "Reads fail at the start",
        "each read of the directory's files is answered EIO",
        {_SERVE: ("exit 1: The disk that holds DIR/risala.db fails: disk I/O error.",)},
        "by the next start",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "read_only_at_start",
        "The file system is read-only at the start",
        "each opening of a file in the directory is answered EROFS",
        {_SERVE: ("exit 1: DIR/lock cannot be written: Read-only file system.",)},
        "by the next start",
        "Mount it to be written (`mount -o remount,rw`).",
    ),
    Fault(
        "truncates_fail_at_start",
        "Files cannot be cut at the start",
        "each cutting of a file in the directory is answered EIO",
        {_SERVE: ("exit 1: The data directory DIR cannot be written: Input/output error.",)},
        "by the next start",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "renames_fail_at_start",
        "Files cannot be renamed at the start",
        "each renaming in the directory is answered EIO, where there is no server key yet",
        {_SERVE: ("exit 1: DIR/sealing.key cannot be created: Input/output error.",)},
        "by the next start",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "unlinks_fail_at_start",
        "Files cannot be removed at the start",
        "each removal of a file in the directory is answered EIO",
        {_SERVE: ("exit 1: The disk that holds DIR/risala.db fails: disk I/O error.",)},
        "by the next start",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "port_taken",
        "The port is taken",
        "another program listens on it",
        {
            _SERVE: (
                "exit 1: 127.0.0.1:N is in use by another program. Choose another port with "
                "--port (0: any free port).",
            )
        },
        "by the next start",
        "See who listens there (`ss -ltnp`).",
    ),
)
