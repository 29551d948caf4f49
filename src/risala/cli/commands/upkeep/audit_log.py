"""The audit trail: manual actions and their authors."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.cli.show.when import past_option
from risala.engine.model.audit import Values
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.record import fields_of, to_json
from risala.engine.model.records.upkeep import trail
from risala.engine.model.records.upkeep.trail import AuditLine, LinesPage

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

FACES: Final = ("cli", "control", "dashboard", "console", "api", "smpp", "system")
COLUMNS: Final = tuple(each.json_name for each in fields_of(AuditLine))
"""The columns of a line, as the API calls them."""
_BEGINS_A_FORMULA: Final = ("=", "+", "-", "@")


@click.command("audit-log")
@click.option("--org", "organization", metavar="ORG", help="Only what concerns ORG (id or name).")
@click.option(
    "--operation",
    metavar="NAME",
    help="Only this operation, such as `topup`; or a family, such as `carriers.`.",
)
@click.option("--who", metavar="WHO", help="Only what WHO did.")
@click.option("--face", type=click.Choice(FACES), help="Only what was done through this face.")
@click.option("--subject", metavar="ID", help="Only what was done to the object with this id.")
@click.option(
    "--since",
    metavar="TIME",
    callback=past_option,
    help="Only what happened since: 2h, 3d, 08:30.",
)
@click.option(
    "--until",
    metavar="TIME",
    callback=past_option,
    help="Only what happened before this time.",
)
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="The most to show."
)
@click.option("--changes-only", is_flag=True, default=None, help="Leave out what was only viewed.")
@click.option("--before", metavar="PLACE", help="Only older lines, from where a page ended.")
@click.option("--after", metavar="PLACE", help="Only newer ones.")
@click.option("--csv", "form", flag_value="csv", help="All matching lines, as CSV.")
@click.option(
    "--jsonl", "form", flag_value="jsonl", help="All matching lines, one JSON object per line."
)
@click.option(
    "--chain",
    "form",
    flag_value="chain",
    help="The whole trail with its hashes and signed heads, oldest first, for an auditor.",
)
@common
def audit_log(
    options: Options,
    /,
    organization: str | None,
    limit: int,
    before: str | None,
    after: str | None,
    form: str | None,
    **filters: str | bool | None,
) -> None:
    """Show who changed or viewed what, and by which face, newest first.

    \b
    Examples:
      risala audit-log --changes-only --limit 20
      risala audit-log --operation topup --since 7d --csv
      risala audit-log --chain
    """
    if form == "chain":
        if organization is not None or any(each is not None for each in filters.values()):
            raise click.UsageError("--chain is for the whole trail: leave the filters out.")
        options.run(_chain)
        return
    if form is not None:
        options.run(lambda session: _export(session, form, organization, filters))
        return

    async def work(session: GatewaySession) -> Reply[LinesPage]:
        chosen = await _organization(session, organization)
        query = {"limit": limit, "before": before, "after": after, **filters}
        return await session.ask(trail.LIST, organization_id=chosen, **query)

    reply = options.run(work)
    if output.show(options.json, reply.json):
        return
    page = reply.value
    output.table(
        ("Line", "At (UTC)", "Who", "By", "What", "Organization", "Of what", "Change"),
        (
            (
                line.seq,
                output.at(line.at),
                line.who,
                line.face,
                line.action,
                line.organization_id,
                line.subject,
                change(line.before, line.after),
            )
            for line in page.lines
        ),
        empty="There are no lines." if before is None else "There are no older lines.",
    )
    output.tell_older(page.older)


async def _organization(session: GatewaySession, org: str | None) -> str | None:
    return None if org is None else await organization_id(session, org)


async def _export(
    session: GatewaySession,
    form: str,
    organization: str | None,
    filters: dict[str, str | bool | None],
) -> None:
    """Write each part when it comes: a trail of any length takes the memory of one."""
    named = {"organization_id": await _organization(session, organization), **filters}
    lines: list[str] = [_csv(COLUMNS)] if form == "csv" else []
    before = export = None
    while True:
        query = {"before": before, "export": export, **named}
        part = (await session.ask(trail.EXPORT, **query)).value
        for line in map(to_json, part.lines):
            row = map(_cell, line.values()) if form == "csv" else None
            lines.append(f"{json.dumps(line, ensure_ascii=False)}\n" if row is None else _csv(row))
        before, export = part.older, part.export
        if not _write("".join(lines)) or before is None:
            return
        lines.clear()


async def _chain(session: GatewaySession) -> None:
    """Write the whole trail as its hashes cover it: first the columns' names, then a line each."""
    after = export = None
    while True:
        part = (await session.ask(trail.CHAIN, after=after, export=export)).value
        lines = [json.dumps({"columns": part.columns})] if after is None else []
        lines += [*part.lines, *part.heads]
        if not _write("".join(f"{each}\n" for each in lines)) or part.after is None:
            return
        after, export = part.after, part.export


def _write(text: str) -> bool:
    """False if the output is closed: nobody reads the pipe."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _csv(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, int):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.lstrip().startswith(_BEGINS_A_FORMULA) else text


def change(before: Values | None, after: Values | None) -> str:
    """The differences in a few words: ``status: active → suspended``."""
    if before is not None and after is None:
        return "deleted"
    old, new = before or {}, after or {}
    differing = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(
        f"{name}: {_word(old[name])} → {_word(new.get(name))}"
        if name in old
        else f"{name}: {_word(new[name])}"
        for name in differing
    )


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
