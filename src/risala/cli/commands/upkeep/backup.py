"""Backing the database up while the service runs, and putting a backup in its place."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.upkeep import restored
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output, progress
from risala.engine.features.backup.feature import END, LIST, RELEASE

if TYPE_CHECKING:
    from risala.cli.reach.session import Service
    from risala.config.model import Settings
    from risala.engine.features.backup.signature import BackupSignature
    from risala.engine.features.backup.stored.backup import BackupReport
    from risala.engine.features.backup.stored.restore import RestoreReport
    from risala.engine.model.records.upkeep.trail import AuditReport

DATABASE: Final = "risala.db"
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--to-key",
    "to_keys",
    multiple=True,
    metavar="AGE1…",
    help="Encrypt it for this public key of age; several times: for each of them.",
)
@click.option(
    "--sign",
    is_flag=True,
    help="Sign it by the key of the audit trail, into FILE.signature. sign_backups does it too.",
)
@common
def backup(options: Options, file: Path, force: bool, to_keys: tuple[str, ...], sign: bool) -> None:
    """Write a checked copy of the database to FILE, also while the service runs.

    FILE.sha256 beside it has its checksum: keep both files together.

    It does not include the settings, the server's key and the sealing key: keep copies of them
    elsewhere. With --to-key FILE is encrypted, and the two keys are in it too. The key of the audit
    trail never is: a copy of that one belongs nowhere else.

    \b
    Examples:
      risala backup /var/backups/risala/today.db
      risala backup today.age --to-key age1…
    """
    from risala.engine.journal.upkeep import checksum

    settings = options.data_settings()
    if file.exists() and not force:
        raise CommandRefused(f"{file} already exists. Use --force to overwrite it.")
    signs = sign or settings.storage.sign_backups
    report, signature = _back_up(settings, file, to_keys, options, signs=signs)
    payload = {
        "path": str(report.path),
        "sizeBytes": report.size_bytes,
        "sha256": report.sha256,
        "signedBy": None if signature is None else signature.key,
        **_books(report.audit),
    }
    if not output.show(options.json, payload):
        output.said(
            f"Wrote {file}: {report.size_bytes / 1e6:.1f} MB, {_totals(report.audit)}. "
            f"SQLite finds no fault in it; its checksum is in {checksum.beside(file).name}."
        )
        if signature is not None:
            output.said(f"It is signed by the key {signature.key}, which the audit trail names.")
        if to_keys:
            output.said("It is encrypted, and has the server's key and the sealing key in it.")
    _tell_faults(report.audit, f"{file} is an exact copy, but its books do not agree")


def _back_up(
    settings: Settings, file: Path, to_keys: tuple[str, ...], options: Options, *, signs: bool
) -> tuple[BackupReport, BackupSignature | None]:
    import trio

    from risala.cli.reach import session
    from risala.engine.features.backup import signature as backup_signature
    from risala.engine.features.backup.stored.backup import back_up, back_up_encrypted
    from risala.engine.journal.store.presence import missing
    from risala.engine.journal.upkeep import backup_note
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable
    from risala.engine.model.records.upkeep.service import BackupNote

    database, file = settings.storage.data_dir / DATABASE, file.absolute()

    async def main() -> tuple[BackupReport, BackupSignature | None]:
        # A backup may be read from a file that is not replaced meanwhile: either this command holds
        # the lock, or a service does, which never replaces the file.
        async with session.hold_or_reach(settings.storage.data_dir) as service:
            if service is not None:
                await _refuse_of_the_ill(service)
            if (reason := missing(database)) is not None:
                raise CommandRefused(reason)
            if not database.exists():
                raise CommandRefused(f"There is no database in {settings.storage.data_dir} yet.")
            with progress.shown(quiet=options.json) as shown:
                # Not abandoned when cancelled: the thread notices that in `shown`, and ends.
                begun_at = SystemClock().now_ms()
                work = partial(back_up, database, file, shown)
                if to_keys:
                    work = partial(back_up_encrypted, database, file, to_keys, shown)
                signature = None
                try:
                    # Before the copy: without a key there is no use in one.
                    seed = backup_signature.signing_key(database.parent) if signs else None
                    report = await trio.to_thread.run_sync(work)
                    if seed is not None:
                        signed = file, report.sha256, begun_at, seed
                        signature = backup_signature.put_signature(*signed)
                except StorageUnusable as error:
                    raise CommandRefused(str(error)) from error
        with suppress(OSError):  # the backup is there all the same
            note = BackupNote(begun_at, report.size_bytes)
            backup_note.write(settings.storage.data_dir, note)
        return report, signature

    return session.run_async(main)


async def _refuse_of_the_ill(service: Service) -> None:
    """Refuse if the service reports that its database was lost or replaced: a copy of the present
    file would be no backup."""
    journal = (await service.gateway.perform("statistics", {})).get("journal", {})
    if journal.get("lost"):
        raise CommandRefused(f"The database cannot be backed up: {journal.get('ailment')}")


@click.command()
@click.argument("file", type=_FILE, required=False)
@click.option(
    "--held", "decision", flag_value="list", help="List what a restore holds; no FILE is given."
)
@click.option("--release", "decision", flag_value="release", help="Release what a restore holds.")
@click.option("--end", "decision", flag_value="end", help="End and refund what a restore holds.")
@click.option(
    "--resend-pending",
    is_flag=True,
    help="Send the messages that were waiting when the backup was made; they may arrive twice.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Restore even if the books do not agree or the checksum differs.",
)
@click.option(
    "--identity",
    type=_FILE,
    metavar="KEYFILE",
    help="The file with the secret key of age that opens an encrypted backup.",
)
@click.option(
    "--expect-key",
    "key",
    metavar="PUBLIC-KEY",
    help="Refuse FILE unless this key of an audit trail has signed it as it is.",
)
@common
def restore(
    options: Options,
    file: Path | None,
    decision: str | None,
    resend_pending: bool,
    force: bool,
    identity: Path | None,
    key: str | None,
) -> None:
    """Replace the database with the backup FILE while the service is stopped.

    The database that is there stays beside it. Messages that waited when the backup was made may
    have been sent since: they end as failed, refunded, unless --resend-pending is given, or the
    database that is there proves that they were not tried. What is scheduled for later goes on;
    where that database cannot be read it is held until --release or --end, also while the service
    runs.

    \b
    Examples:
      risala restore /var/backups/risala/today.db
      risala restore today.age --identity key.txt
      risala restore today.db --expect-key PUBLIC-KEY
      risala restore --held
    """
    if (file is None) is (decision is None):
        raise click.UsageError("Give a FILE, or one of --held, --release and --end.")
    if file is None:
        _decide(options, str(decision))
    else:
        _put_back(options, file, resend_pending, force, identity, key)


def _decide(options: Options, decision: str) -> None:
    """List, release or end the messages that a restore holds."""

    if decision == "list":
        held = options.run(lambda session: session.ask(LIST))
        if not output.show(options.json, held.json):
            restored.tell_held(held.value.messages)
        return
    reply = options.run(lambda session: session.ask(RELEASE if decision == "release" else END))
    if output.show(options.json, reply.json):
        return
    count = output.counted(reply.value.count, "message")
    if decision == "release":
        output.said(f"{count} released: each is sent when it is due.")
    else:
        output.said(f"{count} ended and refunded.")


def _put_back(
    options: Options,
    file: Path,
    resend_pending: bool,
    force: bool,
    identity: Path | None,
    key: str | None,
) -> None:
    settings = options.data_settings(creates=True)
    if not file.is_file():
        raise CommandRefused(f"There is no file {file}.")
    _refuse_mismatch(file, identity)
    report, signed_at = _restore(settings, file, resend_pending, force, options, identity, key)
    payload = {
        "path": str(report.database),
        "setAside": None if report.set_aside is None else str(report.set_aside),
        **restored.payload(report),
        "checksumRight": report.checked,
        "signedAt": signed_at,
        **_books(report.audit),
    }
    if not output.show(options.json, payload):
        _tell_restored(file, report)
        if signed_at is not None:
            click.echo(f"The expected key had signed it at {signed_at}.")
    _tell_faults(report.audit, "It is restored, but its books do not agree")


def _refuse_mismatch(file: Path, identity: Path | None) -> None:
    from risala.engine.features.backup.age_file import is_encrypted

    if is_encrypted(file) is (identity is not None):
        return
    if identity is None:
        raise CommandRefused(f"{file} is encrypted. Give the key's file: --identity KEYFILE.")
    raise CommandRefused(f"{file} is not encrypted. Leave --identity out.")


def _tell_restored(file: Path, report: RestoreReport) -> None:
    output.said(f"Restored {file}: {_totals(report.audit)}.")
    if not report.checked:
        output.warned(
            f"There is no {file.name}.sha256 to prove that the file is unchanged. SQLite and "
            f"the audit find no fault in it."
        )
    if report.set_aside is not None:
        click.echo(f"The database that was there is now {report.set_aside}.")
    restored.tell(report)


def _restore(
    settings: Settings,
    file: Path,
    resend_pending: bool,
    force: bool,
    options: Options,
    identity: Path | None,
    key: str | None,
) -> tuple[RestoreReport, str | None]:
    """The report, and when the expected key has signed the file, as ISO 8601."""
    import trio

    from risala.cli.reach import session
    from risala.engine.features.backup import signature as backup_signature
    from risala.engine.features.backup.stored.restore import restore, restore_encrypted
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable
    from risala.engine.model.records.messages import Stamp

    clock = SystemClock()
    file = file.absolute()

    def stamp() -> Stamp:
        return Stamp(clock.now_ms())

    async def main() -> tuple[RestoreReport, str | None]:
        async with session.hold_or_reach(settings.storage.data_dir) as service:
            if service is not None:
                raise CommandRefused("The service is running. Stop it, then restore.")
            with progress.shown(quiet=options.json) as shown:
                how = restore if identity is None else partial(restore_encrypted, identity)
                work = partial(
                    how,
                    file,
                    settings.storage.data_dir / DATABASE,
                    resend_pending=resend_pending,
                    even_unclean=force,
                    stamp=stamp,
                    progress=shown,
                )
                expect, signed_at = partial(backup_signature.expect, file), None
                try:
                    if key is not None:
                        signed = await trio.to_thread.run_sync(expect, key, shown)
                        signed_at = signed.at
                    return await trio.to_thread.run_sync(work), signed_at
                except StorageUnusable as error:
                    raise CommandRefused(str(error)) from error

    return session.run_async(main)


def _books(audit: AuditReport) -> dict[str, Any]:
    return {
        "organizations": audit.organizations,
        "messages": audit.messages,
        "entries": audit.entries,
        "clean": audit.clean,
        "faults": list(audit.faults),
    }


def _totals(audit: AuditReport) -> str:
    return (
        f"{output.counted(audit.organizations, 'organization')}, "
        f"{output.counted(audit.messages, 'message')}, "
        f"{output.counted(audit.entries, 'ledger entry', 'ledger entries')}"
    )


def _tell_faults(audit: AuditReport, sentence: str) -> None:
    if not audit.clean:
        raise CommandRefused(
            f"{sentence}: {output.counted(len(audit.faults), 'fault')}, "
            f"the first: {audit.faults[0]}."
        )
