"""Examines an installation: each problem that has happened in practice, in one sentence.

Nothing here changes anything. Values that only the running service has (carriers, journal) are
arguments; all others are read from the machine and from the database, by a read-only connection.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import chain
from typing import Any, Final

from risala.engine.features.doctor import database, machine
from risala.engine.journal.store.opening import SQLITE_VERSION
from risala.engine.journal.upkeep.database_copy import Progress
from risala.engine.model.features import features
from risala.engine.model.findings import DATABASE, Finding, Grade, Patient
from risala.engine.model.records.carriers.state import Carrier


def examine(patient: Patient, progress: Progress) -> list[Finding]:
    """All checks, in the order of repair, and then what features say. Reads the whole database;
    call it in a thread."""
    theirs = (feature.doctor()(patient) for feature in features() if feature.doctor is not None)
    return [*_examine(patient, progress), *chain.from_iterable(theirs)]


def _examine(patient: Patient, progress: Progress) -> list[Finding]:
    if not patient.data_dir.is_dir():
        text = (
            f"There is no {patient.data_dir} yet. `risala org create` or `risala serve` creates it."
        )
        return [Finding("directory", Grade.WARN, text), machine.sqlite(SQLITE_VERSION)]
    checks = [
        machine.directory(patient.data_dir),
        machine.filesystem(patient.data_dir),
        machine.disk(shutil.disk_usage(patient.data_dir).free, patient.settings.alerts),
        *machine.wal(patient.data_dir / f"{DATABASE}-wal"),
        machine.lock(patient),
        machine.sqlite(SQLITE_VERSION),
        *database.database(patient, progress),
        machine.files(machine.file_limit(patient.pid)),
        *machine.smpp(patient.settings.smpp_server),
        *machine.tls_keys(patient.settings),
        *machine.audit_key(patient.data_dir),
        *machine.sealed_secrets(patient.data_dir),
    ]
    if patient.running and patient.upgrading is None:
        checks += service_findings(patient)
    return checks


JOURNAL_WARN_SHARE: Final = 0.8


def service_findings(patient: Patient) -> list[Finding]:
    """The findings in the running service's report. Missing parts count as a problem."""
    findings: list[Finding] = []
    if patient.untold is None:
        findings.append(_carriers(patient.carriers))
    else:
        text = f"The service runs, but could not report its state: {patient.untold}"
        findings.append(Finding("standing", Grade.FAIL, text))
    if (service_findings := patient.statistics) is not None:
        findings += [
            _journal(service_findings),
            _loop(service_findings),
            *_requests(service_findings),
            *_sinks(service_findings),
            *_policies(service_findings),
        ]
    return findings


def _carriers(carriers: tuple[Carrier, ...]) -> Finding:
    name = "carriers"
    if not carriers:
        text = "No carrier is configured, so messages wait. Add a [[carriers]] table."
        return Finding(name, Grade.FAIL, text)
    down = _named(carriers, lambda each: each.state != "up")
    held = _named(carriers, lambda each: each.gate in ("paused", "draining"))
    if len(down) == len(carriers):
        text = f"No carrier is up ({', '.join(down)}). `risala carriers` shows why."
        return Finding(name, Grade.FAIL, text)
    if down:
        text = f"Not up: {', '.join(down)}. `risala carriers` shows why."
        return Finding(name, Grade.WARN, text)
    if held:
        text = f"Paused by hand: {', '.join(held)}. Undo it with `risala carriers resume NAME`."
        return Finding(name, Grade.WARN, text)
    wants = [f"{each.name}: {wish}" for each in carriers if (wish := each.details.get("attention"))]
    if wants:
        return Finding(name, Grade.WARN, " ".join(wants))
    return Finding(name, Grade.OK, f"All {len(carriers)} are up.")


def _named(carriers: tuple[Carrier, ...], accept: Callable[[Carrier], bool]) -> list[str]:
    return [each.name for each in carriers if accept(each)]


def _loop(statistics: dict[str, Any]) -> Finding:
    name, loop = "loop", statistics.get("loop", {})
    if not loop.get("latest"):
        text = "Nothing has blocked the service since its start."
        if last := loop.get("lastStop"):
            often = "once" if loop["stops"] == 1 else f"{loop['stops']} times"
            text = (
                "Nothing in the service has blocked it since its start. The whole process was "
                f"stopped from outside {often}, last on {last['at']} for {last['for_s']:g} s."
            )
        return Finding(name, Grade.OK, text)
    worst = max(loop["latest"], key=lambda each: each["for_s"])
    count, carriers = loop["blockages"], worst["carriers"]
    often = "once" if count == 1 else f"{count} times"
    plugins = worst.get("plugins", ())
    who, what = "something other than a driver", "; check whether the machine is overloaded"
    if carriers:
        who, what = f"the driver of {' or '.join(carriers)}", "; report it to the driver's author"
    elif plugins:
        who, what = " or ".join(plugins), "; report it to the plugin's author"
    text = (
        f"The whole service was blocked {often} since its start, the longest on {worst['at']} "
        f"for {worst['for_s']:g} s by {who}, in {worst['where']}{what}. The log has the stack."
    )
    return Finding(name, Grade.WARN, text)


def _requests(statistics: dict[str, Any]) -> list[Finding]:
    """Problems of the log of requests; empty if it works."""
    name, requests = "request log", statistics.get("requests", {})
    if ailment := requests.get("ailment"):
        text = f"Requests are not logged, but everything else works: {ailment}"
        return [Finding(name, Grade.WARN, text)]
    if dropped := requests.get("dropped"):
        text = (
            f"{dropped} requests are missing from the log since the start. See "
            "request_log.a_second_max."
        )
        return [Finding(name, Grade.WARN, text)]
    return []


def _sinks(statistics: dict[str, Any]) -> list[Finding]:
    """A finding for each event sink with a problem; a single one if all work."""
    findings, sinks = [], statistics.get("sinks", [])
    for each in sinks:
        who, behind = f"The event sink {each['name']}", each["behind"] or 0
        if each["state"] != "running":
            text = f"{who} accepts nothing, and {behind} events wait: {each['text']}"
            findings.append(Finding("event sinks", Grade.WARN, text))
        if each["missed"]:
            text = (
                f"{who} lost {each['missed']} events, the last on {each['missedAt']}, because "
                f"retention deleted them first. Keep events longer (retention.events_days), or "
                f"make the sink faster."
            )
            findings.append(Finding("event sinks", Grade.WARN, text))
    if sinks and not findings:
        findings.append(Finding("event sinks", Grade.OK, "All accept their events."))
    return findings


def _policies(statistics: dict[str, Any]) -> list[Finding]:
    """A finding for each message policy that has failed since the start."""
    findings, policies = [], statistics.get("policies", [])
    for each in policies:
        if each["failed"]:
            text = (
                f"The policy {each['name']} failed {each['failed']} times since the start, and "
                f"those messages were refused. The last error: {each['last_error']}"
            )
            findings.append(Finding("policies", Grade.WARN, text))
    if policies and not findings:
        findings.append(Finding("policies", Grade.OK, "All policies answer."))
    return findings


def _journal(statistics: dict[str, Any]) -> Finding:
    name, journal = "journal", statistics.get("journal", {})
    if ailment := journal.get("ailment"):
        return Finding(name, Grade.FAIL, f"Nothing is accepted: {ailment[0].lower()}{ailment[1:]}")
    if error := journal.get("last_error"):
        text = (
            f"The disk has refused writes since the start ({error}). Check its free space and "
            "health."
        )
        return Finding(name, Grade.WARN, text)
    used, limit = journal.get("queue_peak", 0), journal.get("queue_max", 0)
    if limit and used > limit * JOURNAL_WARN_SHARE:
        text = (
            f"Up to {used} of {limit} units of work waited for the disk: it is too slow for the "
            "load."
        )
        return Finding(name, Grade.WARN, text)
    text = (
        f"{journal.get('units', 0)} units of work in {journal.get('commits', 0)} commits, "
        "without errors."
    )
    return Finding(name, Grade.OK, text)
