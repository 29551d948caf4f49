"""Faults of the disk, while the service runs."""

from __future__ import annotations

from typing import Final

from proofs.faults.row import ACCEPTED, IN_DOUBT, REFUSED, Fault

_FAILS: Final = "the disk that holds the database fails (disk I/O error)"
_RECOVERED: Final = "storage.recovered"

DISK: Final = (
    Fault(
        "disk_full",
        "The disk is full",
        "each write into the data directory is answered ENOSPC",
        {
            "API": (REFUSED,),
            "`/readyz`": ("the disk that holds the database is full",),
            "log": (
                "storage.failed: the disk that holds the database is full",
                _RECOVERED,
            ),
            "doctor": (
                "Nothing is accepted: the disk that holds the database is full. "
                "Free some space. The service recovers by itself.",
            ),
        },
        "by itself, with the first write that holds; it is tried every second",
        "Make room. An alert (`disk_low`) comes well before.",
    ),
    Fault(
        "write_fails",
        "Writes fail",
        "each write to the database's WAL is answered EIO",
        {
            "API": (IN_DOUBT,),
            "`/readyz`": (_FAILS,),
            "log": (f"storage.failed: {_FAILS}", _RECOVERED),
        },
        "by itself; the same key then gives the truth about what was in doubt",
        "Check the disk (`dmesg`); copy the data directory away while it can be read.",
    ),
    Fault(
        "mounted_read_only",
        "The file system turns read-only",
        "each write into the data directory is answered EROFS, as after an error of the disk",
        {
            "API": (IN_DOUBT,),
            "`/readyz`": (_FAILS,),
            "log": (f"storage.failed: {_FAILS}", _RECOVERED),
        },
        "by itself, once it is mounted to be written again",
        "Check the disk (`dmesg`), then `mount -o remount,rw`.",
    ),
    Fault(
        "sync_fails",
        "Syncs fail",
        "each sync of the database's WAL is answered EIO",
        {
            "API": (IN_DOUBT,),
            "`/readyz`": (_FAILS,),
            "log": (f"storage.failed: {_FAILS}", _RECOVERED),
        },
        "by itself; the same key then gives the truth about what was in doubt",
        "Check the disk (`dmesg`): one that does not sync keeps nothing after a power cut.",
    ),
    Fault(
        "short_writes",
        "Writes are cut short",
        "each write into the data directory takes half of its bytes",
        {"API": (ACCEPTED,)},
        "nothing has to: the rest is written by another call",
        "Nothing.",
    ),
    Fault(
        "short_then_full",
        "The disk is full in the middle of a write",
        "the first write to the WAL succeeds, and those after it are answered ENOSPC",
        {"API": (REFUSED,), "log": ("storage.failed: the disk that holds the database is full",)},
        "by itself: what was half written does not count",
        "Make room.",
    ),
    Fault(
        "open_fails",
        "New files cannot be opened",
        "each opening of a file in the data directory is answered EMFILE",
        {"API": (ACCEPTED,)},
        "nothing has to: what sending needs is open already",
        "See what uses the machine's descriptors up.",
    ),
    Fault(
        "truncates_fail",
        "Files cannot be cut",
        "each cutting of a file in the data directory is answered EIO",
        {"API": (ACCEPTED,)},
        "nothing has to: what should have been cut off is written over",
        "Check the disk (`dmesg`).",
    ),
    Fault(
        "renames_fail",
        "Files cannot be renamed",
        "each renaming in the data directory is answered EIO, and of a backup in its own",
        {
            "API": (ACCEPTED,),
            "log": (
                "sink.failed: …/archive.jsonl cannot be written: Input/output error.",
                "exporting.failed: …",
                "sink.recovered",
            ),
            "doctor": (
                "The event sink archive accepts nothing, and … events wait: …/archive.jsonl cannot "
                "be written: Input/output error.",
            ),
            "`risala backup`": ("exit 1: FILE cannot be written: Input/output error.",),
        },
        "by itself: a sink's file is put aside, and every event comes; an owner's archive and a "
        "backup say that they failed, and leave no half a file",
        "Check the disk (`dmesg`), then make the backup again.",
    ),
    Fault(
        "unlinks_fail",
        "Files cannot be removed",
        "each removal of a file in the data directory is answered EIO",
        {
            "API": (ACCEPTED,),
            "log": (
                "sink.failed: …/archive-….jsonl cannot be written: Input/output error.",
                "exporting.untidy: ….zip cannot be removed: Input/output error.",
                "sink.recovered",
            ),
        },
        "by itself: what was to go is tried again within a minute, an owner's deleted archive too",
        "Check the disk (`dmesg`): until then files stay that nobody wants any more.",
    ),
    Fault(
        "read_fails",
        "The database cannot be read",
        "each read of the database and its WAL is answered EIO",
        {
            "API": (REFUSED,),
            "`/readyz`": ("the database is damaged (database disk image is malformed)",),
            "log": ("storage.failed: the database is damaged (database disk image is malformed)",),
            "doctor": (
                "Nothing is accepted: the database is damaged (database disk image is malformed). "
                "Check the disk (`dmesg`): if it can be read again, start again. If not, stop "
                "the service, keep a copy of …risala.db, and restore a backup.",
                "The service runs, but could not report its state: …",
            ),
        },
        "by a restart, once the disk can be read; damage is SQLite's word for what cannot be read",
        "Check the disk (`dmesg`) first: where it can be read again, start again; "
        "restore a backup where it cannot.",
    ),
)
