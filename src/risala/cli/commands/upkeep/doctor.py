"""``risala doctor``: the problems of an installation, and how to fix them."""

from __future__ import annotations

import os
import tomllib
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.performer import GatewaySession
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output, progress
from risala.engine.model.records.carriers import state

if TYPE_CHECKING:
    from risala.config.model import Settings
    from risala.engine.model.findings import Finding, Patient


@click.command()
@click.option(
    "--redacted",
    is_flag=True,
    help="For a public report: versions, and of each text only words that Risala itself writes.",
)
@common
def doctor(options: Options, redacted: bool) -> None:
    """Check everything: settings, disk, database, clock, carriers. Exit code 1 on a failure.

    With --redacted no name, number, address or path is shown. Read it before you post it, all the
    same.

    \b
    Examples:
      risala doctor
      risala doctor --redacted
    """
    from risala.engine.model.findings import Grade

    log_to_stderr()
    checks = _examine(options)
    about: dict[str, str] = {}
    if redacted:
        about, checks = _redacted(options, checks)
    failed = [check for check in checks if check.state is Grade.FAIL]
    answer = {"ok": not failed, "checks": [asdict(check) for check in checks]}
    if not output.show(options.json, {**answer, "about": about} if redacted else answer):
        if redacted:
            output.fields(about)
        output.table(
            ("Check", "", "What it means"),
            ((check.name, check.state, check.text) for check in checks),
            empty="",
        )
    if failed:
        raise CommandRefused(f"Failed: {', '.join(check.name for check in failed)}.")


def _redacted(options: Options, checks: list[Finding]) -> tuple[dict[str, str], list[Finding]]:
    """What a report begins with, and the findings, for strangers' eyes."""
    from risala.config.model import StorageSection
    from risala.engine.features.doctor import redacting, stored
    from risala.engine.model.findings import DATABASE

    try:
        settings = options.settings()
        data_dir = settings.storage.data_dir
    except CommandRefused:
        settings, data_dir = None, options.data or StorageSection().data_dir
    known = [*redacting.values_of(_written(options)), *stored.names(data_dir / DATABASE)]
    return redacting.about(settings), redacting.redacted(checks, known)


def _written(options: Options) -> dict[str, Any]:
    """The settings as they are written, in the file and in the environment."""
    set_by = {name: value for name, value in os.environ.items() if name.startswith("RISALA_")}
    if options.file is None:
        return set_by
    try:
        return {**tomllib.loads(options.file.read_text(encoding="utf-8")), **set_by}
    except (OSError, ValueError):  # the finding about the settings says so
        return set_by


def _examine(options: Options) -> list[Finding]:
    from risala.cli.reach import session
    from risala.config.model import StorageSection
    from risala.engine.features.doctor.examine import examine
    from risala.engine.model.findings import Finding, Grade, Patient

    settings: Settings | None = None
    try:
        settings = options.settings()
        data_dir = settings.storage.data_dir
        finding = Finding("settings", Grade.OK, "The settings load.")
        if settings.old_names:
            finding = Finding("settings", Grade.WARN, " ".join(settings.old_names))
    except CommandRefused as error:
        # The data is checked even if the settings are wrong: often both have one cause.
        data_dir = options.data or StorageSection().data_dir
        finding = Finding("settings", Grade.FAIL, str(error))
    there = data_dir.is_dir()

    async def main() -> list[Finding]:
        import trio

        patient = await _patient(data_dir) if there else Patient(data_dir, 0, running=False)
        patient = replace(patient, known_settings=settings)
        with progress.shown(quiet=options.json) as shown:
            return await trio.to_thread.run_sync(partial(examine, patient, shown))

    return [finding, *session.run_async(main)]


async def _patient(data_dir: Path) -> Patient:
    from risala.cli.reach import session
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.findings import Patient

    patient = Patient(data_dir, SystemClock().now_ms(), running=False)
    try:
        async with session.hold_or_reach(data_dir) as service:
            if service is None:
                return patient
            patient = replace(patient, running=True, pid=service.pid)
            upgrading = await service.gateway.upgrading()
            if upgrading is not None:
                return replace(patient, upgrading=upgrading)
            return await _with_service(patient, GatewaySession(service.gateway, running=True))
    except session.Unreachable as error:
        return replace(patient, pid=error.pid)
    except CommandRefused:
        return patient  # the checks themselves report problems of the directory


async def _with_service(patient: Patient, session: GatewaySession) -> Patient:
    """With the report of the running service, or the reason why it could not give one."""
    try:  # the data in memory first: the carriers are read from the database
        patient = replace(patient, statistics=await session.perform("statistics"))
        reply = await session.ask(state.LIST)
    except CommandRefused as error:
        return replace(patient, untold=str(error))
    return replace(patient, carriers=reply.value.carriers)
