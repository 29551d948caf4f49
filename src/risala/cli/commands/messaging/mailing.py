"""Mailings: a message to each row of a file or a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.commands.messaging.mailing_files import (
    mailing_leave_out,
    mailing_mend,
    mailing_report,
    mailing_rows,
    reading_options,
)
from risala.cli.commands.messaging.mailing_send import confirm_and_send, draft_of
from risala.cli.commands.messaging.mailing_words import show_view, wait_words
from risala.cli.commands.messaging.recipient_lists import list_id_of
from risala.cli.commands.messaging.table_files import content_of
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import Mailing, Mailings, MailingView
from risala.engine.model.records.people import organizations

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession
    from risala.engine.model.records.asks import Reply
    from risala.engine.model.records.people.organizations import Organization

Json = dict[str, Any]
MAILING: Final = click.argument("mailing_id", metavar="MAILING")
SETTINGS: Final = ("name", "text", "from", "pace", "from_hour", "to_hour", "send_at")


@click.group()
def mailing() -> None:
    """Mailings: a message to each person of a file or a list.

    \b
    Examples:
      risala mailing send --file people.csv --text "Dear {{name}}, school begins on Monday."
      risala mailing list
    """


def _hours(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    first, dash, last = value.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and int(first) < int(last) <= 24):
        raise click.BadParameter("write 8-20, or 0-24 for all day.")
    return int(first), int(last)


_NONE: Final = "none"
"""Takes a setting away."""


def _pace(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    if value is None or value == _NONE:
        return value
    minute: int = click.IntRange(1, mailings.PACE_MAX)(value, param, ctx)
    return minute


def _time(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return value if value == _NONE else when.option(ctx, param, value)


def _settings(command: Callable[..., None]) -> Callable[..., None]:
    """The options of what can be changed until a mailing ends."""
    for option in reversed(
        (
            click.option("--name", help="A name for you to recognise it."),
            click.option("--from", "from", metavar="SENDER", help="The sender of its messages."),
            click.option(
                "--pace",
                metavar="N",
                callback=_pace,
                help="Messages a minute; none: as fast as the carriers take them.",
            ),
            click.option(
                "--hours",
                metavar="FROM-TO",
                callback=_hours,
                help="The hours in which it sends: 8-20 if left out; 0-24 is all day.",
            ),
            click.option(
                "--at",
                "send_at",
                metavar="TIME",
                callback=_time,
                help="When to begin: 2026-11-21T08:30 (local), 08:30, in 90m, 2h, 3d; none: now.",
            ),
        )
    ):
        command = option(command)
    return command


def _values(arguments: Json) -> Json:
    """The given settings as `mailing.set` takes them."""
    values = dict(arguments)
    if (hours := values.pop("hours", None)) is not None:
        values["from_hour"], values["to_hour"] = hours
    values = {name: value for name, value in values.items() if value is not None}
    return values | {name: None for name in ("pace", "send_at") if values.get(name) == _NONE}


_SENDS: Final = (
    click.option("--yes", is_flag=True, help="Send without a question."),
    click.option(
        "--wait/--no-wait",
        default=None,
        help="Show the progress until it ends, or not. If left out: in a terminal.",
    ),
)


def _sending_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_SENDS):
        command = option(command)
    return command


@mailing.command("send")
@org_option
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="A CSV, TSV or XLSX file; - reads standard input.",
)
@click.option("--list", "listed", metavar="LIST", help="Instead of a file: a list's id or name.")
@click.option(
    "--text",
    required=True,
    help="The text. {{name}} stands for what the column “name” has for each person.",
)
@_settings
@reading_options
@mode_option("A test: no carrier and no charge.")
@_sending_options
@common
def mailing_send(
    options: Options,
    /,
    org: str | None,
    path: str | None,
    listed: str | None,
    text: str,
    mode: str,
    yes: bool,
    wait: bool | None,
    **arguments: Any,  # noqa: ANN401 -- click's values
) -> None:
    """Send a message to each person of a file or a list.

    Each row is checked first. Then the command shows how many people there are, what is wrong with
    the other rows, the price and the text of the first person, and asks. Ctrl-C ends only the
    progress: the mailing goes on. With --json and without --yes it stays a draft.

    \b
    Examples:
      risala mailing send --file people.csv --text "Dear {{name}}, school begins on Monday."
      risala mailing send --list Parents --text Salam --pace 60 --hours 9-17
    """
    if (path is None) == (listed is None):
        raise click.UsageError("Give --file or --list.")
    reads = {name: arguments.pop(name) for name in recognised_names()}
    late = _values({name: arguments.pop(name) for name in ("pace", "hours", "send_at")})

    async def work(session: GatewaySession) -> Mapping[str, Any]:
        organization = await organization_id(session, org)
        creation: Json = {
            "organization_id": organization,
            "text": text,
            "mode": mode,
            **arguments,
            **reads,
        }
        if path is not None:
            name, content = content_of(path)
            creation["upload"] = await session.upload(organization, name, content)
        else:
            creation["list_id"] = await list_id_of(session, organization, listed or "")
        made = (await session.ask(mailings.CREATE, **creation)).value
        if late:
            await session.ask(mailings.SET, mailing_id=made.id, **late)
        draft = await draft_of(session, made.id, quiet=options.json)
        as_json = options.json
        return await confirm_and_send(session, draft, yes=yes, wait=wait, as_json=as_json)

    output.show(options.json, options.run(work, waits=True))


def recognised_names() -> tuple[str, ...]:
    """The names of the options of :func:`reading_options`."""
    return ("encoding", "separator", "sheet", "has_header", "number_column", "with_hidden")


@mailing.command("start")
@MAILING
@_sending_options
@common
def mailing_start(options: Options, mailing_id: str, yes: bool, wait: bool | None) -> None:
    """Send a draft, after the same question as `risala mailing send`.

    \b
    Example: risala mailing start mlg_…
    """

    async def work(session: GatewaySession) -> Mapping[str, Any]:
        draft = await draft_of(session, mailing_id, quiet=options.json)
        as_json = options.json
        return await confirm_and_send(session, draft, yes=yes, wait=wait, as_json=as_json)

    output.show(options.json, options.run(work, waits=True))


@mailing.command("list")
@org_option
@click.option("--before", "older", metavar="CURSOR", help="The next page, as named by the last.")
@asks(mailings.LIST)
def mailing_list(page: Mailings) -> None:
    """List an organization's mailings, newest first.

    \b
    Example: risala mailing list --org "My school"
    """
    output.table(
        ("Created (UTC)", "Id", "Name", "State", "Rows", "To send", "Sent", "Bad"),
        (
            (
                output.at(each.created_at),
                each.id,
                each.name,
                wait_words(each) or each.state.value,
                each.rows,
                each.ready,
                each.accepted,
                each.bad,
            )
            for each in page.mailings
        ),
        empty="There are no mailings yet. Send one with `risala mailing send`.",
    )
    output.tell_older(page.older)


@mailing.command("show")
@MAILING
@common
def mailing_show(options: Options, mailing_id: str) -> None:
    """Show a mailing and how far it has come.

    \b
    Example: risala mailing show mlg_…
    """

    async def work(session: GatewaySession) -> tuple[Reply[MailingView], Organization]:
        reply = await session.ask(mailings.SHOW, mailing_id=mailing_id)
        owner = reply.value.mailing.organization_id
        return reply, (await session.ask(organizations.SHOW, organization_id=owner)).value

    reply, organization = options.run(work)
    if not output.show(options.json, reply.json):
        show_view(reply.value, organization)


@mailing.command("set")
@MAILING
@click.option("--text", help="Another text, while it is a draft.")
@_settings
@common
def mailing_set(options: Options, /, mailing_id: str, **arguments: Any) -> None:  # noqa: ANN401 -- click's
    """Change the given settings of a mailing.

    \b
    Examples:
      risala mailing set mlg_… --pace 30 --hours 9-17
      risala mailing set mlg_… --pace none
    """

    async def work(session: GatewaySession) -> Reply[Mailing]:
        return await session.ask_exactly(
            mailings.SET, {"mailing_id": mailing_id, **_values(arguments)}
        )

    reply = options.run(work)
    if not output.show(options.json, reply.json):
        output.said(f"{reply.value.id} is changed.")


for each in (mailing_rows, mailing_mend, mailing_leave_out, mailing_report):
    mailing.add_command(each)


@mailing.command("again")
@MAILING
@asks(mailings.AGAIN)
def mailing_again(draft: Mailing) -> None:
    """Make a draft for the people whose message failed or was refused.

    \b
    Example: risala mailing again mlg_…
    """
    output.said(f"The draft is {draft.id}. To send it: risala mailing start {draft.id}")


def _progress(words: str) -> Callable[[Mailing], str]:
    def line(changed: Mailing) -> str:
        return f"{changed.id} {words}: {changed.accepted} sent, {changed.ready} to send."

    return line


says(
    mailing,
    "pause",
    MAILING,
    mailings.PAUSE,
    _progress("is paused"),
    does="Pause a mailing: nobody else gets its message until it goes on.",
    example="mlg_…",
)
says(
    mailing,
    "go-on",
    MAILING,
    mailings.GO_ON,
    _progress("goes on"),
    does="Go on with a paused mailing.",
    example="mlg_…",
)
says(
    mailing,
    "stop",
    MAILING,
    mailings.STOP,
    _progress("is stopped for good"),
    does="End a mailing for good: who has no message yet gets none.",
    example="mlg_…",
)
says(
    mailing,
    "delete",
    MAILING,
    mailings.DELETE,
    lambda deleted: f"{deleted.id} is deleted.",
    does="Delete a draft, or a mailing that has ended, with its rows.",
    example="mlg_…",
)
