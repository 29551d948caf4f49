"""The audit trail: who did what by hand."""

from __future__ import annotations

import json
from typing import Any

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.reach.options import Options, common
from risala.cli.reach.performer import GatewaySession
from risala.cli.show import output

Json = dict[str, Any]


@click.command("audit-log")
@click.option("--org", "organization", metavar="ORG", help="Only what concerns ORG (id or name).")
@click.option("--operation", metavar="NAME", help="Only this operation, such as `topup`.")
@click.option("--who", metavar="WHO", help="Only what WHO did.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most so many."
)
@click.option("--before", type=int, metavar="LINE", help="Only older ones than this line.")
@common
def audit_log(
    options: Options,
    organization: str | None,
    operation: str | None,
    who: str | None,
    limit: int,
    before: int | None,
) -> None:
    """Who changed or looked into what, by which face, the latest first."""

    async def work(session: GatewaySession) -> Json:
        wanted = None
        if organization is not None:
            wanted = await organization_id(session, organization)
        return await session.perform(
            "audit.list",
            organization_id=wanted,
            operation=operation,
            who=who,
            limit=limit,
            before=before,
        )

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Line", "At (UTC)", "Who", "By", "What", "Organization", "Of what", "Change"),
        (
            (
                line["seq"],
                output.moment(line["at"]),
                line["who"],
                line["face"],
                line["operation"],
                line["organizationId"],
                line["subject"],
                change(line["before"], line["after"]),
            )
            for line in found["lines"]
        ),
        empty="There is no line." if before is None else "There is no older line.",
    )
    if found["next"] is not None:
        output.warned(f"There are older ones: --before {found['next']}.")


def change(before: Json | None, after: Json | None) -> str:
    """What differs, in a few words: ``status: active → suspended``."""
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
