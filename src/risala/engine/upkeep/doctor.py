"""Looking over an installation: each thing that has gone wrong for somebody, in one sentence.

Nothing here changes anything. What only the running service knows (carriers, journal) is handed
in; all else is read from the machine and from the database, by a connection that cannot write.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from risala.config.alerts import AlertsSection
from risala.config.kinds import bind_parts
from risala.config.smpp_server import SmppServerSection
from risala.engine.journal.alerts import alerts, facts
from risala.engine.journal.messages import waiting
from risala.engine.journal.people import mails
from risala.engine.journal.people.mails import MailStanding
from risala.engine.journal.store.lock import StorageUnusable, filesystem_of
from risala.engine.journal.store.opening import open_reader, sqlite_sentence
from risala.engine.journal.store.presence import missing
from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.backup import Progress, check
from risala.engine.journal.upkeep.upgrade.room import megabytes
from risala.engine.journal.upkeep.upgrade.upgrade import Forecast, forecast
from risala.engine.model.clock import iso
from risala.engine.rules.alerts import readings
from risala.engine.rules.alerts.holding import Verdict

DATABASE: Final = "risala.db"
WAL_WARN_BYTES: Final = 1_000_000_000
"""Folded in it has 64 MB; a long read (a backup) keeps it from that for minutes, not for hours."""
DISK_FAIL_BYTES: Final = 100_000_000
"""Free space below this is less than the WAL and rows of a busy hour: sends are about to be
answered 503."""
CLOCK_SLACK_MS: Final = 5_000
"""How much later than now the newest row may be: NTP may step a clock back by a little."""
EPOCH_MS: Final = 1_735_689_600_000
"""2025-01-01: an earlier time is wrong, since this program did not exist before."""
QUEUE_WARN_S: Final = 300
"""A message that has been due for longer waits for somebody to do something."""
FILES_WARN: Final = 8192
"""A limit of open files below this is warned of: each connection is an open file, and 5,000 idle
ones and the rest must fit."""
UNSERVED_COUNTED_MAX: Final = 10_000
"""Messages that are counted at most: a higher number says no more."""
UNSERVED_SHOWN_MAX: Final = 5
"""Beginnings of numbers that are named in one sentence."""
JOURNAL_WARN_SHARE: Final = 0.8
WAL_RESET_FIXED: Final = (3, 51, 3)
_MEMORY: Final = {"tmpfs", "ramfs"}
_NETWORK: Final = {"nfs", "nfs4", "cifs", "smb3", "smbfs"}


class Grade(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: Grade
    text: str
    """What it means, and what to do."""


@dataclass(frozen=True, slots=True)
class Patient:
    """The installation that is looked at, and what the running service says of itself."""

    data_dir: Path
    now_ms: int
    running: bool
    """A service holds the data directory and answers."""
    pid: int | None = None
    """The service's process id, where it is known."""
    carriers: tuple[dict[str, Any], ...] = ()
    statistics: dict[str, Any] | None = None
    """The running service's own numbers; None: it told none."""
    untold: str | None = None
    """Why the running service could not tell all of how it is; None: it did."""
    limits: AlertsSection = field(default_factory=AlertsSection)
    """From when on a disk is low, and a backup old: as for alerts."""
    smpp_server: SmppServerSection = field(default_factory=SmppServerSection)
    """What customers' SMPP software binds to, by the settings."""
    upgrading: str | None = None
    """What the running service says while it brings its database over; None: it is not at it."""


def examine(patient: Patient, progress: Progress) -> list[Finding]:
    """All checks, in the order in which to mend. Reads the whole database; call it in a thread."""
    if not patient.data_dir.is_dir():
        text = f"There is no {patient.data_dir} yet: `risala org create` or `risala serve` make it."
        return [Finding("directory", Grade.WARN, text), _sqlite(sqlite3.sqlite_version_info)]
    checks = [
        _directory(patient.data_dir),
        _filesystem(patient.data_dir),
        _disk(shutil.disk_usage(patient.data_dir).free, patient.limits),
        *_wal(patient.data_dir / f"{DATABASE}-wal"),
        _lock(patient),
        _sqlite(sqlite3.sqlite_version_info),
        *_database(patient, progress),
        _files(_file_limit(patient.pid)),
        *_smpp(patient.smpp_server),
    ]
    if patient.running and patient.upgrading is None:
        checks += _told(patient)
    return checks


def _told(patient: Patient) -> list[Finding]:
    """Of what the running service says of itself. What it could not tell is not well."""
    found: list[Finding] = []
    if patient.untold is None:
        found.append(_carriers(patient.carriers))
    else:
        text = f"The service runs, and could not tell how it is: {patient.untold}"
        found.append(Finding("standing", Grade.FAIL, text))
    if (told := patient.statistics) is not None:
        found += [_journal(told), _loop(told), *_requests(told), *_sinks(told), *_policies(told)]
    return found


def _directory(data_dir: Path) -> Finding:
    name = "directory"
    for path in (data_dir, data_dir / DATABASE):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if status.st_uid != os.geteuid():
            text = f"{path} belongs to another user ({status.st_uid}); run as that user."
            return Finding(name, Grade.WARN, text)
        if stat.S_IMODE(status.st_mode) & 0o077:
            text = f"Other users may look into {path}: run `chmod go-rwx {path}`."
            return Finding(name, Grade.WARN, text)
    return Finding(name, Grade.OK, f"{data_dir} is its owner's alone.")


def _filesystem(data_dir: Path) -> Finding:
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Finding("file system", Grade.WARN, "What holds the data cannot be told here.")
    kind = filesystem_of(data_dir.resolve(), mounts)
    if kind in _NETWORK:
        text = f"The data lies on a network ({kind}), where SQLite fails; move it to a local disk."
        return Finding("file system", Grade.FAIL, text)
    if kind in _MEMORY:
        text = f"The data lies in memory ({kind}) and is gone with the machine; move it to a disk."
        return Finding("file system", Grade.WARN, text)
    return Finding("file system", Grade.OK, f"The data lies on {kind or 'an unknown file system'}.")


def _disk(free_bytes: int, limits: AlertsSection) -> Finding:
    free = f"{free_bytes / 1e9:.1f} GB are free"
    if free_bytes < DISK_FAIL_BYTES:
        text = f"Only {free_bytes // 1_000_000} MB are free: make room before sends are refused."
        return Finding("disk", Grade.FAIL, text)
    if readings.disk_low(free_bytes, limits, is_raised=False).verdict is Verdict.BAD:
        return Finding("disk", Grade.WARN, f"Only {free}: make room soon.")
    return Finding("disk", Grade.OK, f"{free}.")


def _wal(wal: Path) -> list[Finding]:
    """What is written goes into the WAL first, and is folded into the database soon afterwards."""
    size_bytes = wal.stat().st_size if wal.exists() else 0
    if size_bytes < WAL_WARN_BYTES:
        return []
    text = (
        f"{wal.name} has grown to {size_bytes // 1_000_000} MB: nothing of it gets into the "
        "database. Where no backup or export is at work, the disk may refuse to write the "
        "database's file: look at the system's log."
    )
    return [Finding("wal", Grade.WARN, text)]


def _lock(patient: Patient) -> Finding:
    if patient.upgrading is not None:
        return Finding("service", Grade.WARN, patient.upgrading)
    if patient.running:
        who = "" if patient.pid is None else f" as process {patient.pid}"
        return Finding("service", Grade.OK, f"The service runs{who} and answers.")
    if patient.pid is not None:
        text = f"Process {patient.pid} holds the data and does not answer; look at its log."
        return Finding("service", Grade.FAIL, text)
    text = "The service does not run: nothing is sent until `risala serve`."
    return Finding("service", Grade.WARN, text)


def _sqlite(version: tuple[int, ...]) -> Finding:
    words = f"SQLite {'.'.join(map(str, version))}"
    if version < WAL_RESET_FIXED:
        text = (
            f"{words} has a bug that two writing processes can meet (mended in 3.51.3); "
            "harmless here, because the lock lets only one write."
        )
        return Finding("sqlite", Grade.OK, text)
    return Finding("sqlite", Grade.OK, f"{words}.")


def _database(patient: Patient, progress: Progress) -> Iterable[Finding]:
    path = patient.data_dir / DATABASE
    if (reason := missing(path)) is not None:
        yield Finding("database", Grade.FAIL, reason)
        return
    if not path.exists():
        yield Finding("database", Grade.WARN, "There is no database yet; the first start makes it.")
        return
    try:
        with closing(open_reader(path)) as conn:
            check(conn, path, progress)
            size_mb = path.stat().st_size / 1e6
            yield Finding("database", Grade.OK, f"SQLite finds no fault in its {size_mb:.1f} MB.")
            ahead = forecast(path)
            if ahead is not None:  # its rows are not where the rest looks for them
                if patient.upgrading is None:
                    yield _version(ahead)
                return
            yield clock_finding(conn, patient.now_ms)
            yield _queue(conn, patient)
            yield _unserved(conn)
            yield _mails(mails.standing(conn))
            yield from _backup(conn, patient)
            yield _alerts(alerts.open_count(conn))
    except StorageUnusable as error:
        text = f"{error} Stop the service, keep a copy of it, and restore a backup."
        yield Finding("database", Grade.FAIL, text)
    except sqlite3.Error as error:
        yield Finding("database", Grade.FAIL, sqlite_sentence(path, error))


def _version(ahead: Forecast) -> Finding:
    name = "version"
    need, free = megabytes(ahead.need_bytes), ahead.free_bytes // 1_000_000
    state = "on its way to this version" if ahead.begun else "of an older version"
    words = f"The database is {state}"
    if ahead.free_bytes < ahead.need_bytes:
        text = f"{words}; to bring it over takes {need} MB of disk, and {free} are free: make room."
        return Finding(name, Grade.FAIL, text)
    text = (
        f"{words}: the next start brings it over, and is ready when that is done. It takes up to "
        f"{need} MB of disk; {free} are free."
    )
    return Finding(name, Grade.WARN, text)


def clock_finding(conn: sqlite3.Connection, now_ms: int) -> Finding:
    """Whether the clock is before what is written, or long past."""
    if now_ms < EPOCH_MS:
        text = f"The clock says {iso(now_ms)}, which is long past: set it, and let NTP keep it."
        return Finding("clock", Grade.FAIL, text)
    newest = facts.newest_ms(conn)
    if newest is not None and newest > now_ms + CLOCK_SLACK_MS:
        text = (
            f"The newest row is of {iso(newest)}, the clock says {iso(now_ms)}: it was set back, "
            "and what waited before the last start waits until it has caught up. Let NTP keep it."
        )
        return Finding("clock", Grade.FAIL, text)
    return Finding("clock", Grade.OK, "The clock is after all that is written.")


def _queue(conn: sqlite3.Connection, patient: Patient) -> Finding:
    count, oldest = waiting.due(conn, patient.now_ms)
    if oldest is None:
        return Finding("queue", Grade.OK, "No message that is due waits.")
    age_s = (patient.now_ms - oldest) // 1000
    words = f"{count} due messages wait, the oldest for {age_s} s"
    if not patient.running:
        return Finding("queue", Grade.WARN, f"{words}: start the service.")
    if age_s > QUEUE_WARN_S:
        text = f"{words}: see `risala carriers` for one that is down, paused or too slow."
        return Finding("queue", Grade.WARN, text)
    return Finding("queue", Grade.OK, f"{words}.")


def _unserved(conn: sqlite3.Connection) -> Finding:
    found = waiting.unserved(conn, UNSERVED_COUNTED_MAX)
    if not found.count:
        return Finding(
            "numbers", Grade.OK, "No message waits for a carrier that serves its number."
        )
    more = " or more" if found.count == UNSERVED_COUNTED_MAX else ""
    words = "1 message waits" if found.count == 1 else f"{found.count}{more} messages wait"
    some = ", ".join(f"{prefix}…" for prefix in found.prefixes[:UNSERVED_SHOWN_MAX])
    text = (
        f"{words} because no enabled carrier serves numbers like {some}: name them in a carrier's"
        " `prefixes` or `networks`."
    )
    return Finding("numbers", Grade.WARN, text)


def _mails(found: MailStanding) -> Finding:
    name = "mail"
    if found.failing:
        text = f"{found.failing} mails wait that the mailer did not take: see the log."
        return Finding(name, Grade.WARN, text)
    if found.given_up:
        text = f"{found.given_up} mails of the last week were given up: see the log."
        return Finding(name, Grade.WARN, text)
    if found.no_mailer:
        text = (
            f"{found.no_mailer} mails of the last week were dropped: set `mail.host`, or let people"
            " in by `risala user sign-in EMAIL`."
        )
        return Finding(name, Grade.WARN, text)
    return Finding(name, Grade.OK, "No mail waits in vain.")


def _backup(conn: sqlite3.Connection, patient: Patient) -> Iterable[Finding]:
    note = backup_note.read(patient.data_dir)
    last_ms, first_ms = None if note is None else note.at, facts.first_ms(conn)
    found = readings.backup_old(last_ms, first_ms, patient.now_ms, patient.limits)
    if found is None:  # nobody wants to know, or there is nothing to lose yet
        return
    hours = (patient.now_ms - (last_ms or first_ms or 0)) // 3_600_000
    if found.verdict is not Verdict.BAD:
        text = "The last one is young enough."
        if note is None:
            text = "There is none yet, and little to lose: run `risala backup` each day."
        yield Finding("backup", Grade.OK, text)
    elif note is None:
        text = f"There is none, and there have been data for {hours} hours: run `risala backup`."
        yield Finding("backup", Grade.WARN, text)
    else:
        text = f"The last one was made {hours} hours ago: run `risala backup` each day."
        yield Finding("backup", Grade.WARN, text)


def _alerts(count: int) -> Finding:
    if not count:
        return Finding("alerts", Grade.OK, "None is open.")
    are = "1 is open" if count == 1 else f"{count} are open"
    return Finding("alerts", Grade.WARN, f"{are}: `risala alerts` says since when, and what to do.")


def _files(limit: int | None) -> Finding:
    if limit is None:
        return Finding("open files", Grade.WARN, "The limit of open files cannot be told here.")
    if limit < FILES_WARN:
        text = f"Only {limit} files may be open, and each connection is one: raise LimitNOFILE."
        return Finding("open files", Grade.WARN, text)
    return Finding("open files", Grade.OK, f"{limit} files may be open.")


def _smpp(server: SmppServerSection) -> list[Finding]:
    """Of the SMPP server, where it is open: passwords must not cross a network as they are."""
    if not server.enabled:
        return []
    bare = [address for address in server.bind if not _is_here(bind_parts(address)[0])]
    if bare:
        text = (
            f"{' and '.join(bare)} speaks plain SMPP to other machines, passwords and texts"
            " included: let customers come by TLS (smpp_server.tls_bind) or through a tunnel."
        )
        return [Finding("smpp server", Grade.WARN, text)]
    count = len(server.bind) + len(server.tls_bind)
    text = (
        f"Open at {count} address{'es' if count != 1 else ''}; none is plain beyond this machine."
    )
    return [Finding("smpp server", Grade.OK, text)]


def _is_here(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _file_limit(pid: int | None) -> int | None:
    """The hard limit of open files, to which a start raises the soft one: the service's, or our own
    where no ``pid`` is known."""
    try:
        text = Path(f"/proc/{pid or 'self'}/limits").read_text(encoding="utf-8")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("Max open files"):
            hard = line.split()[4]
            return int(hard) if hard.isdigit() else 1 << 30
    return None


def _carriers(carriers: tuple[dict[str, Any], ...]) -> Finding:
    name = "carriers"
    if not carriers:
        text = "No carrier is configured: messages wait. Add a [[carriers]] table."
        return Finding(name, Grade.FAIL, text)
    down = _named(carriers, lambda each: each["state"] != "up")
    held = _named(carriers, lambda each: each["gate"] in ("paused", "draining"))
    if len(down) == len(carriers):
        text = f"No carrier is up ({', '.join(down)}); `risala carriers` has their words."
        return Finding(name, Grade.FAIL, text)
    if down:
        text = f"Not up: {', '.join(down)}; `risala carriers` has their words."
        return Finding(name, Grade.WARN, text)
    if held:
        text = f"Held by hand: {', '.join(held)}; undo it by `risala carriers resume NAME`."
        return Finding(name, Grade.WARN, text)
    wants = [
        f"{each['name']}: {each['details']['attention']}"
        for each in carriers
        if each.get("details", {}).get("attention")
    ]
    if wants:
        return Finding(name, Grade.WARN, " ".join(wants))
    return Finding(name, Grade.OK, f"All {len(carriers)} are up.")


def _named(
    carriers: tuple[dict[str, Any], ...], accept: Callable[[dict[str, Any]], bool]
) -> list[str]:
    return [str(each["name"]) for each in carriers if accept(each)]


def _loop(statistics: dict[str, Any]) -> Finding:
    name, loop = "loop", statistics.get("loop", {})
    if not loop.get("latest"):
        text = "Nothing has held up the service since its start."
        if last := loop.get("lastStop"):
            often = "once" if loop["stops"] == 1 else f"{loop['stops']} times"
            text = (
                "Nothing in the service has held it up since its start. The whole process was "
                f"stopped {often}, on {last['at']} for {last['for_s']:g} s: by the machine, or by "
                "somebody."
            )
        return Finding(name, Grade.OK, text)
    worst = max(loop["latest"], key=lambda each: each["for_s"])
    count, carriers = loop["blockages"], worst["carriers"]
    often = "once" if count == 1 else f"{count} times"
    plugins = worst.get("plugins", ())
    who, what = "something that is no driver", "; see whether the machine is overloaded"
    if carriers:
        who, what = f"the driver of {' or '.join(carriers)}", "; tell the driver's author"
    elif plugins:
        who, what = " or ".join(plugins), "; tell the plugin's author"
    text = (
        f"The whole service stood still {often} since its start, on {worst['at']} for "
        f"{worst['for_s']:g} s: it was {who}, in {worst['where']}{what}. The log has the stack."
    )
    return Finding(name, Grade.WARN, text)


def _requests(statistics: dict[str, Any]) -> list[Finding]:
    """What is wrong with the log of requests; nothing is said of one that is well."""
    name, requests = "request log", statistics.get("requests", {})
    if ailment := requests.get("ailment"):
        text = f"Requests are not logged, and all else goes on: {ailment}"
        return [Finding(name, Grade.WARN, text)]
    if dropped := requests.get("dropped"):
        text = f"{dropped} requests are missing since the start: see request_log.a_second_max."
        return [Finding(name, Grade.WARN, text)]
    return []


def _sinks(statistics: dict[str, Any]) -> list[Finding]:
    """Of each event sink that is not well; one word for all where they are."""
    found, sinks = [], statistics.get("sinks", [])
    for each in sinks:
        who, behind = f"The event sink {each['name']}", each["behind"] or 0
        if each["state"] != "running":
            text = f"{who} takes nothing, and {behind} events wait: {each['text']}"
            found.append(Finding("event sinks", Grade.WARN, text))
        if each["missed"]:
            text = (
                f"{who} lost {each['missed']} events, the last on {each['missedAt']}: retention"
                " deleted them first. Keep events for longer (retention.events_days), or watch"
                " that it keeps up."
            )
            found.append(Finding("event sinks", Grade.WARN, text))
    if sinks and not found:
        found.append(Finding("event sinks", Grade.OK, "All take what they are given."))
    return found


def _policies(statistics: dict[str, Any]) -> list[Finding]:
    """Of each message policy that has failed since the start."""
    found, policies = [], statistics.get("policies", [])
    for each in policies:
        if each["failed"]:
            text = (
                f"The policy {each['name']} failed {each['failed']} times since the start, and what"
                f" it was asked about was refused; the last time: {each['last_error']}"
            )
            found.append(Finding("policies", Grade.WARN, text))
    if policies and not found:
        found.append(Finding("policies", Grade.OK, "All say what may be sent."))
    return found


def _journal(statistics: dict[str, Any]) -> Finding:
    name, journal = "journal", statistics.get("journal", {})
    if ailment := journal.get("ailment"):
        return Finding(name, Grade.FAIL, f"Nothing is accepted: {ailment[0].lower()}{ailment[1:]}")
    if error := journal.get("last_error"):
        text = f"The disk has refused since the start ({error}); see to its space and health."
        return Finding(name, Grade.WARN, text)
    used, limit = journal.get("queue_peak", 0), journal.get("queue_max", 0)
    if limit and used > limit * JOURNAL_WARN_SHARE:
        text = f"Up to {used} of {limit} units waited for the disk: it is too slow for the load."
        return Finding(name, Grade.WARN, text)
    text = f"{journal.get('units', 0)} units in {journal.get('commits', 0)} commits, all well."
    return Finding(name, Grade.OK, text)
