"""Checks of the machine: owners of the files, their disk, the running service, open files, and
whether the key of the sealed secrets is here, and a copy of it elsewhere."""

from __future__ import annotations

import os
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from risala.config.alerts import AlertsSection
from risala.config.kinds import bind_parts
from risala.config.model import Settings
from risala.config.secrets import key_fault
from risala.config.smpp_server import SmppServerSection
from risala.engine.journal.audit import heads_file
from risala.engine.journal.sealed.resealing import examine as examine_secrets
from risala.engine.journal.store.key_file import TRAIL_KEY_FILE
from risala.engine.journal.store.lock import filesystem_of
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import DATABASE, Finding, Grade, Patient

WAL_WARN_BYTES: Final = 1_000_000_000
"""After a checkpoint it has 64 MB; a long read (a backup) delays one by minutes, not hours."""
DISK_FAIL_BYTES: Final = 100_000_000
"""Less free space than this is not enough for the WAL and rows of a busy hour: sends will soon be
answered 503."""
FILES_WARN: Final = 8192
"""A lower limit of open files causes a warning: each connection is an open file, and 5,000 idle
ones and the rest must fit."""
WAL_RESET_FIXED: Final = (3, 51, 3)
_MEMORY: Final = {"tmpfs", "ramfs"}
_NETWORK: Final = {"nfs", "nfs4", "cifs", "smb3", "smbfs"}


def directory(data_dir: Path) -> Finding:
    """Whether others may read the data."""
    name = "directory"
    for path in (data_dir, data_dir / DATABASE):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if status.st_uid != os.geteuid():
            text = f"{path} belongs to another user ({status.st_uid}). Run as that user."
            return Finding(name, Grade.WARN, text)
        if stat.S_IMODE(status.st_mode) & 0o077:
            text = f"Other users can read {path}. Run `chmod go-rwx {path}`."
            return Finding(name, Grade.WARN, text)
    return Finding(name, Grade.OK, f"Only its owner can read {data_dir}.")


def filesystem(data_dir: Path) -> Finding:
    """The kind of disk under the data."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Finding(
            "file system", Grade.WARN, "The type of the file system cannot be found out here."
        )
    kind = filesystem_of(data_dir.resolve(), mounts)
    if kind in _NETWORK:
        text = (
            f"The data is on a network file system ({kind}), where SQLite fails. Move it to a "
            "local disk."
        )
        return Finding("file system", Grade.FAIL, text)
    if kind in _MEMORY:
        text = (
            f"The data is in memory ({kind}) and is lost when the machine stops. Move it to a disk."
        )
        return Finding("file system", Grade.WARN, text)
    return Finding("file system", Grade.OK, f"The data is on {kind or 'an unknown file system'}.")


def disk(free_bytes: int, limits: AlertsSection) -> Finding:
    """Whether there is enough space, for now and for a while."""
    free = f"{free_bytes / 1e9:.1f} GB are free"
    if free_bytes < DISK_FAIL_BYTES:
        text = (
            f"Only {free_bytes // 1_000_000} MB are free. Free some space before sends are refused."
        )
        return Finding("disk", Grade.FAIL, text)
    if free_bytes < limits.disk_free_bytes:
        return Finding("disk", Grade.WARN, f"Only {free}. Free some space soon.")
    return Finding("disk", Grade.OK, f"{free}.")


def wal(wal: Path) -> list[Finding]:
    """Whether the WAL, which takes all writes first, is folded into the database in time."""
    size_bytes = wal.stat().st_size if wal.exists() else 0
    if size_bytes < WAL_WARN_BYTES:
        return []
    text = (
        f"{wal.name} has grown to {size_bytes // 1_000_000} MB because its content cannot be "
        f"written into the database. If no backup or export is running, the disk may refuse to "
        f"write the database file. Look at the system log."
    )
    return [Finding("wal", Grade.WARN, text)]


def lock(patient: Patient) -> Finding:
    """Whether a service runs, and answers."""
    if patient.upgrading is not None:
        return Finding("service", Grade.WARN, patient.upgrading)
    if patient.running:
        who = "" if patient.pid is None else f" as process {patient.pid}"
        return Finding("service", Grade.OK, f"The service runs{who} and answers.")
    if patient.pid is not None:
        text = f"Process {patient.pid} holds the data and does not answer. Look at its log."
        return Finding("service", Grade.FAIL, text)
    text = "The service does not run. Nothing is sent until you run `risala serve`."
    return Finding("service", Grade.WARN, text)


def sqlite(version: tuple[int, ...]) -> Finding:
    """The version of SQLite in use."""
    words = f"SQLite {'.'.join(map(str, version))}"
    if version < WAL_RESET_FIXED:
        text = (
            f"{words} has a bug that affects two writing processes (fixed in 3.51.3). It is "
            f"harmless here, because only one process writes."
        )
        return Finding("sqlite", Grade.OK, text)
    return Finding("sqlite", Grade.OK, f"{words}.")


def files(limit: int | None) -> Finding:
    """Whether the limit of open files (None: unknown) leaves room for connections."""
    if limit is None:
        return Finding(
            "open files", Grade.WARN, "The limit of open files cannot be found out here."
        )
    if limit < FILES_WARN:
        text = f"Only {limit} files may be open, and each connection needs one. Raise LimitNOFILE."
        return Finding("open files", Grade.WARN, text)
    return Finding("open files", Grade.OK, f"{limit} files may be open.")


def file_limit(pid: int | None) -> int | None:
    """The hard limit of open files, to which a start raises the soft one: the service's, or our own
    if no ``pid`` is known."""
    try:
        text = Path(f"/proc/{pid or 'self'}/limits").read_text(encoding="utf-8")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("Max open files"):
            hard = line.split()[4]
            return int(hard) if hard.isdigit() else 1 << 30
    return None


def smpp(server: SmppServerSection) -> list[Finding]:
    """The SMPP server, if it is open: passwords must not cross a network unencrypted."""
    if not server.enabled:
        return []
    bare = [address for address in server.bind if not _is_here(bind_parts(address)[0])]
    if bare:
        text = (
            f"{' and '.join(bare)} accepts SMPP from other machines without encryption, "
            f"including passwords and texts. Let customers use TLS (smpp_server.tls_bind) or a "
            f"tunnel."
        )
        return [Finding("smpp server", Grade.WARN, text)]
    count = len(server.bind) + len(server.tls_bind)
    text = (
        f"Open at {count} address{'es' if count != 1 else ''}. None accepts unencrypted "
        "connections from other machines."
    )
    return [Finding("smpp server", Grade.OK, text)]


def tls_keys(settings: Settings) -> list[Finding]:
    """Whether others may read a key of ours: with it they could impersonate us."""
    keys = (each.tls_key or each.tls_certificate for each in (settings.http, settings.smpp_server))
    paths = {key: None for key in keys if key is not None}  # in their order, each once
    faults = [fault for path in paths if (fault := key_fault(path)) is not None]
    if faults:
        return [Finding("tls keys", Grade.WARN, " ".join(faults))]
    return [Finding("tls keys", Grade.OK, "Only this user can read the TLS keys.")] if paths else []


def audit_key(data_dir: Path) -> list[Finding]:
    """Whether others may read the key that signs heads of the audit trail, and when one went out;
    empty before the first head."""
    name, path = "audit key", data_dir / TRAIL_KEY_FILE
    try:
        status = path.stat()
    except FileNotFoundError:
        return []
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        text = (
            f"Other users can read {path}, and so sign a trail of their own. Run "
            f"`chmod go-rwx {path}`; if somebody may have read it, delete it: the next head makes "
            f"another."
        )
        return [Finding(name, Grade.WARN, text)]
    head = heads_file.last(data_dir)
    if head is None:
        text = f"The last line of {data_dir / heads_file.HEADS_FILE} is no head of the audit trail."
        return [Finding(name, Grade.WARN, text)]
    text = f"The last head of the audit trail is of line {head.end.seq}, from {head.at}."
    return [Finding(name, Grade.OK, text)]


def _is_here(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_NAME: Final = "sealed secrets"


def sealed_secrets(data_dir: Path) -> list[Finding]:
    """Whether each stored secret opens, and whether their key was exported."""
    if not (data_dir / DATABASE).exists():
        return []
    try:
        secrets = examine_secrets(data_dir / DATABASE)
    except StorageUnusable as error:
        return [Finding(_NAME, Grade.WARN, str(error))]
    if not secrets.total:
        return []
    if not secrets.has_key:
        text = (
            f"There are {secrets.total} sealed secrets, and no sealing key. Start the service and "
            "bring it back: `risala secrets import-key FILE`."
        )
        return [Finding(_NAME, Grade.FAIL, text)]
    if secrets.lost:
        text = (
            f"{secrets.lost} of {secrets.total} sealed secrets cannot be opened: their key is "
            "missing. `risala secrets show` lists them, and how to make each again."
        )
        return [Finding(_NAME, Grade.FAIL, text)]
    if not secrets.is_exported:
        text = (
            "The key of the sealed secrets was never exported. A lost disk loses them: "
            "`risala secrets export-key FILE`, and keep that file apart from the backups."
        )
        return [Finding(_NAME, Grade.WARN, text)]
    text = f"All {secrets.total} sealed secrets open, and their key was exported."
    return [Finding(_NAME, Grade.OK, text)]
