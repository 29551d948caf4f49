"""What an organization keeps, and for how long, as its owner chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import (
    on_organization,
    optional_org,
    org_option,
    organization_id,
)
from risala.cli.reach.erasing import taken_out, tell_taken_out
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.sms.address import normalise_number

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
OPERATORS: Final = "operator"
"""The word that takes a choice back: what the operator keeps holds again."""
_WHAT: Final = {
    "texts": "Texts of messages",
    "events": "Events and their deliveries",
    "inbound": "Messages that came in",
}


@click.group()
def kept() -> None:
    """What an organization keeps, and for how long, as its owner chooses."""


@kept.command("show")
@optional_org
@common
def kept_show(options: Options, organization: str | None) -> None:
    """How long an organization keeps its things."""
    _tell(options, on_organization("kept.show", options, organization))


@kept.command("set")
@optional_org
@click.option("--texts", metavar="DAYS", help="Texts of messages, or `operator`.")
@click.option("--events", metavar="DAYS", help="Events and their deliveries, or `operator`.")
@click.option("--inbound", metavar="DAYS", help="Messages that came in, or `operator`.")
@common
def kept_set(
    options: Options,
    organization: str | None,
    texts: str | None,
    events: str | None,
    inbound: str | None,
) -> None:
    """Keep something for fewer days than the operator does; what is not named stays."""
    given = {"texts": texts, "events": events, "inbound": inbound}
    changes = {name: _days(value) for name, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Say what to change; `risala kept set --help` has the options.")

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, organization)
        before = await session.perform("kept.show", organization_id=found)
        days = {each["name"]: each["chosen"] for each in before["kept"]} | changes
        named = {f"{name}_days": value for name, value in days.items()}
        given = {"organization_id": found, "version": before["version"], **named}
        return await session.perform("kept.set", **given)

    _tell(options, options.run(work))


@kept.command("forget")
@click.argument("number")
@org_option
@click.option("--yes", is_flag=True, help="Do it; without it, only what would go is shown.")
@common
def kept_forget(options: Options, number: str, org: str | None, yes: bool) -> None:
    """Take out what an organization knows of a number: texts, numbers, events, what came in."""
    whole = _whole(number)

    async def work(session: GatewaySession) -> Json:
        found = {"organization_id": await organization_id(session, org), "number": whole}
        if not yes:
            return await session.perform("number.show", **found)
        asked = await session.perform("number.forget", **found)
        return await taken_out(session, asked["id"])

    found = options.run(work)
    if output.show(options.json, found):
        return
    if yes:
        tell_taken_out(found)
        return
    output.fields(
        {
            "number": found["number"],
            "messages": found["messages"],
            "not sent yet": found["pending"],
            "came in": found["inbound"],
            "verifications": found["verifications"],
            "opted out": found["optedOut"],
        }
    )
    output.said("Add --yes to take it out; it does not come back. An opt-out stays.")


@kept.command("deletions")
@optional_org
@common
def kept_deletions(options: Options, organization: str | None) -> None:
    """What was taken out, or is being taken out; the latest first."""
    found = on_organization("erasure.list", options, organization)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Of", "State", "Asked for", "By", "Done"),
        (
            (
                each["id"],
                each["number"] or "everything",
                "waits for a carrier" if each["waits"] else each["state"],
                output.moment(each["createdAt"]),
                output.clean(each["askedBy"]),
                output.moment(each["endedAt"]),
            )
            for each in found["erasures"]
        ),
        empty="Nothing was taken out yet.",
    )


def _whole(text: str) -> str:
    if text.startswith("+") and not text.startswith("+222"):
        return text
    try:
        return normalise_number(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NUMBER") from None


def _days(text: str) -> int | None:
    if text == OPERATORS:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > len("36500"):
        raise click.BadParameter("must be a number of days, or `operator`.")
    return int(text)


def _tell(options: Options, found: Json) -> None:
    if output.show(options.json, found):
        return
    output.table(
        ("What", "Kept", "Owner's choice", "May choose"),
        (
            (
                _WHAT[each["name"]],
                "for ever" if each["days"] is None else f"{each['days']} days",
                "" if each["chosen"] is None else f"{each['chosen']} days",
                ", ".join(map(str, each["offered"])),
            )
            for each in found["kept"]
        ),
        empty="",
    )
