"""Checks that a standby still gets its data: during a takeover it would be too late."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from risala.engine.features.standby.copy_check import last_trial
from risala.engine.features.standby.named_stores import health_of, pieces_of
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.model.findings import Finding, Grade, Patient

AGE_WARN_S: Final = 60
"""Pieces, or notes that there is nothing new, come every second; a longer gap means a problem."""
_NAME: Final = "standby"
OLD_MS: Final = 45 * 86_400_000
"""The age of an old trial: with one a month, an older one means that one was missed."""
_DAY_MS: Final = 86_400_000
_MEBIBYTE: Final = 1024 * 1024


def examine(patient: Patient) -> list[Finding]:
    """The findings on the store that the settings name, and on what has reached it."""
    section, running = patient.settings.standby, patient.running
    findings = health_of(section, patient.data_dir, running=running)
    if any(each.state is Grade.FAIL for each in findings):
        return findings
    is_mounted = section.copy_kind == "directory"
    store = pieces_of(section, patient.data_dir)
    failing = (patient.statistics or {}).get("shipping", {}).get("failing")
    findings += finding(
        store, patient.now_ms, running=running, failing=failing, is_mounted=is_mounted
    )
    # Not before there is anything to try.
    if running and store is not None and findings[-1].state is Grade.OK:
        findings.append(trial_finding(patient.data_dir, patient.now_ms))
    return findings


def finding(
    store: PieceStore | None,
    now_ms: int,
    *,
    running: bool,
    failing: str | None = None,
    is_mounted: bool = True,
) -> list[Finding]:
    """The finding on the store for the standby; empty without it, or if no service ships.

    Args:
        failing: why the running service could not ship the last writes; None: it could.
        is_mounted: the store is a directory, which may not be mounted.
    """
    if store is None or not running:
        return []
    if failing is not None:
        reason = failing.rstrip(".")
        text = (
            f"The service cannot ship to {store}: {reason}. It keeps trying. Until it "
            f"succeeds, new data is only on this machine."
        )
        if is_mounted:
            text += " Check that the directory is mounted and has free space."
        return [Finding(_NAME, Grade.FAIL, text)]
    try:
        shipped = store.shipped()
    except (OSError, BadPiece) as error:
        return [Finding(_NAME, Grade.WARN, f"{store} cannot be read: {error}.")]
    if shipped is None:
        text = f"There is no complete copy in {store} yet. See standby.failing in the log."
        return [Finding(_NAME, Grade.WARN, text)]
    age_s = (now_ms - shipped.at) // 1000
    if age_s > AGE_WARN_S:
        text = (
            f"The copy in {store} is {age_s} s behind. See standby.failing in the log"
            f"{', and check that the directory is mounted' if is_mounted else ''}."
        )
        return [Finding(_NAME, Grade.WARN, text)]
    return [Finding(_NAME, Grade.OK, f"The copy in {store} is {max(age_s, 0)} s behind.")]


def trial_finding(data_dir: Path, now_ms: int) -> Finding:
    """The finding on the last trial of the copy."""
    trial = last_trial(data_dir)
    how = "Try it with `risala standby try`; risala-standby-trial.timer does that each month."
    if trial is None:
        text = f"Nobody has tried on this machine whether the copy can be restored. {how}"
        return Finding(_NAME, Grade.WARN, text)
    ago = max(0, now_ms - trial.at) // _DAY_MS
    when = "today" if not ago else f"{ago} days ago"
    if trial.fault is not None:
        text = f"The copy could not be restored when that was tried, {when}: {trial.fault} {how}"
        return Finding(_NAME, Grade.FAIL, text)
    if now_ms - trial.at > OLD_MS:
        text = f"Whether the copy can be restored was tried last {when}. {how}"
        return Finding(_NAME, Grade.WARN, text)
    size = trial.size_bytes / _MEBIBYTE
    text = f"The copy could be restored when that was tried, {when} ({size:.0f} MiB)."
    return Finding(_NAME, Grade.OK, text)
