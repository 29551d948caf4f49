"""The data that an organization keeps, and for how long, as chosen by its owner."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import (
    optional_org,
    org_option,
    organization_id,
)
from risala.cli.commands.upkeep.erasing import erase_units, report_erased
from risala.cli.reach.options import Options, TypedNumber, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.own_data import records
from risala.engine.features.own_data.records import (
    ErasureProgress,
    Erasures,
    Export,
    Exports,
    ExportState,
    NumberFigures,
    OrganizationRetention,
)
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people.organizations import limited_bytes

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

LOOK_S: Final = 0.3
"""Between two looks whether a file is written."""
OPERATORS: Final = "operator"
"""The word that removes a choice: the operator's value applies again."""
_WHAT: Final = {
    "texts": "Texts of messages",
    "events": "Events and their deliveries",
    "inbound": "Received messages",
}
_STORED: Final = {
    "mailings": "Mailings and drafts",
    "lists": "Lists of people",
    "uploads": "Uploaded files that wait",
    "exports": "Exports of all data",
}
"""What takes how much."""


@click.group("kept")
def account_data() -> None:
    """What an organization keeps, and for how long, as its owner chooses.

    \b
    Examples:
      risala kept show
      risala kept export "My shop"
    """


@account_data.command("show")
@optional_org
@asks(records.KEPT_SHOW)
def show_days(retention: OrganizationRetention) -> None:
    """Show how long an organization keeps its data, and what takes how much.

    \b
    Example: risala kept show
    """
    _tell(retention)
    click.echo()
    output.table(
        ("Stored", "How many", "Rows", "MB"),
        (
            (_STORED[each.name], str(each.count), str(each.rows), str(_mb(each.bytes)))
            for each in retention.stored
        ),
        empty="",
    )
    used, most = _mb(limited_bytes(retention.stored)), _mb(retention.stored_bytes_max)
    output.said(f"Mailings, lists and uploaded files take {used} of {most} MB.")


def _mb(size: int) -> int:
    """Megabytes; what is not nothing is one at least."""
    return -(-size // 1_000_000)


@account_data.command("set")
@optional_org
@click.option("--texts", metavar="DAYS", help="Texts of messages, or `operator`.")
@click.option("--events", metavar="DAYS", help="Events and their deliveries, or `operator`.")
@click.option("--inbound", metavar="DAYS", help="Received messages, or `operator`.")
@common
def set_days(
    options: Options,
    /,
    org: str | None,
    **arguments: str | None,
) -> None:
    """Keep data for fewer days than the operator does; what is not given stays.

    \b
    Examples:
      risala kept set "My shop" --texts 7
      risala kept set "My shop" --texts operator
    """
    changes = {name: _days(value) for name, value in arguments.items() if value is not None}
    if not changes:
        raise click.UsageError("Say what to change. `risala kept set --help` lists the options.")

    async def work(session: GatewaySession) -> Reply[OrganizationRetention]:
        organization = await organization_id(session, org)
        before = await session.ask(records.KEPT_SHOW, organization_id=organization)
        days = {each.name: each.chosen for each in before.value.kept} | changes
        named = {f"{name}_days": value for name, value in days.items()}
        version = before.json.get("version")
        return await session.ask(
            records.KEPT_SET, organization_id=organization, version=version, **named
        )

    reply = options.run(work)
    if not output.show(options.json, reply.json):
        _tell(reply.value)


@account_data.command("forget")
@click.argument("number")
@org_option
@click.option(
    "--yes", is_flag=True, help="Delete it. Without this, only what would be deleted is shown."
)
@common
def forget_number(options: Options, number: str, org: str | None, yes: bool) -> None:
    """Delete an organization's data about a number: texts, numbers, events, received messages.

    In place of NUMBER, an e-mail address that codes were sent to.

    \b
    Examples:
      risala kept forget NUMBER
      risala kept forget NUMBER --yes
    """
    # People write from abroad, too.
    is_whole = number.startswith("+") or "@" in number
    whole = number if is_whole else options.number(TypedNumber(number, "NUMBER"))

    async def work(session: GatewaySession) -> Reply[NumberFigures] | Reply[ErasureProgress]:
        whose = {"organization_id": await organization_id(session, org), "number": whole}
        if not yes:
            return await session.ask(records.NUMBER_SHOW, **whose)
        erasure = await session.ask(records.NUMBER_FORGET, **whose)
        return await erase_units(session, erasure.value.id)

    reply = options.run(work)
    if output.show(options.json, reply.json):
        return
    report = reply.value
    if isinstance(report, ErasureProgress):
        report_erased(report)
        return
    output.fields(
        {
            "number": report.number,
            "messages": report.messages,
            "not sent yet": report.pending,
            "came in": report.inbound,
            "verifications": report.verifications,
            "in mailings": report.mailing_rows,
            "on lists": report.lists,
            "opted out": report.opted_out,
        }
    )
    output.said("Add --yes to delete it. This cannot be undone. An opt-out stays.")


@account_data.command("deletions")
@optional_org
@asks(records.ERASURE_LIST)
def list_deletions(erasures: Erasures) -> None:
    """List the deletions that are done or in progress, newest first.

    \b
    Example: risala kept deletions
    """
    output.table(
        ("Id", "Of", "State", "Asked for", "By", "Done"),
        (
            (
                each.id,
                each.number or "everything",
                "waits for a carrier" if each.waits else each.state,
                output.at(each.created_at),
                output.clean(each.asked_by),
                output.at(each.ended_at),
            )
            for each in erasures.erasures
        ),
        empty="Nothing has been deleted yet.",
    )


@account_data.command("export")
@optional_org
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Wait for the file, and copy it there.",
)
@common
def request_export(options: Options, org: str | None, target: Path | None) -> None:
    """Export all data of an organization: an archive of JSON Lines.

    \b
    Example: risala kept export "My shop" --to shop.zip
    """

    async def work(session: GatewaySession) -> Reply[Export]:
        organization = await organization_id(session, org)
        requested = await session.ask(records.EXPORT_REQUEST, organization_id=organization)
        return requested if target is None else await _fetched(session, requested.value.id, target)

    reply = options.run(work, waits=target is not None)
    if output.show(options.json, reply.json):
        return
    export = reply.value
    if target is None:
        output.said(f"It is being written: {export.id}. `risala kept exports` shows the progress.")
    else:
        rows = output.counted(export.written, "row")
        output.said(f"{target}: {rows}, {output.counted(export.bytes, 'byte')}.")


async def _fetched(session: GatewaySession, export_id: str, target: Path) -> Reply[Export]:
    """Wait until a file is written, and copy it."""
    import trio

    while True:
        reply = await session.ask(records.EXPORT_SHOW, export_id=export_id)
        export = reply.value
        if export.state is not ExportState.WRITING:
            break
        await trio.sleep(LOOK_S)
    if export.state is not ExportState.READY:
        raise CommandRefused(
            f"There is no file: {output.clean(export.reason or export.state, err=True)}."
        )
    fetched = await session.ask(records.EXPORT_FETCH, export_id=export_id)
    try:
        shutil.copyfile(fetched.value.path, target)
    except OSError as error:
        raise CommandRefused(f"{target} cannot be written: {error.strerror}.") from error
    return reply


@account_data.command("exports")
@optional_org
@asks(records.EXPORT_LIST)
def list_exports(exports: Exports) -> None:
    """List the exports of an organization, newest first.

    \b
    Example: risala kept exports
    """
    output.table(
        ("Id", "State", "Rows", "Bytes", "Asked for", "By", "Until"),
        (
            (
                each.id,
                each.reason or each.state,
                each.written,
                each.bytes,
                output.at(each.created_at),
                output.clean(each.asked_by),
                output.at(each.expires_at),
            )
            for each in exports.exports
        ),
        empty="No export has been requested yet.",
    )


def _days(text: str) -> int | None:
    if text == OPERATORS:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > len("36500"):
        raise click.BadParameter("must be a number of days, or `operator`.")
    return int(text)


def _tell(retention: OrganizationRetention) -> None:
    output.table(
        ("What", "Kept", "Owner's choice", "May choose"),
        (
            (
                _WHAT[each.name],
                "for ever" if each.days is None else output.counted(each.days, "day"),
                "" if each.chosen is None else output.counted(each.chosen, "day"),
                ", ".join(map(str, each.offered)),
            )
            for each in retention.kept
        ),
        empty="",
    )
