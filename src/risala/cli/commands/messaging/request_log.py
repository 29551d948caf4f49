"""``risala log``: the requests of an organization's keys, and their answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import ask_organization, org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.engine.features.request_log import records as requests
from risala.engine.features.request_log.records import LoggedRequest, ShownRequest
from risala.engine.model.records.record import to_json
from risala.engine.model.times import iso

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession
    from risala.engine.model.records.asks import Reply

Json = dict[str, Any]
LOOK_EVERY_S: Final = 1.0
"""Seconds between two looks while following: the log itself is written as often."""
FOLLOWED_MAX: Final = 200
"""Requests in one query; further ones follow at once in the next."""
_COLUMNS: Final = ("At (UTC)", "Request", "Key", "Method", "Path", "Status", "Took", "From")


@click.command("log")
@click.argument("request_id", metavar="[REQUEST]", required=False)
@org_option
@click.option("--key", "key_id", metavar="KEY", help="Only requests with the API key of this id.")
@click.option("--status", metavar="STATUS", help="Only this status, such as 429; or 2xx, 4xx, 5xx.")
@click.option("--path", metavar="PATH", help="Only this path, such as /api/sms.")
@click.option(
    "--made",
    metavar="ID",
    help="Only the request that created the message or verification with this id.",
)
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@click.option("--follow", is_flag=True, help="Keep showing new requests, until Ctrl-C.")
@common
def request_log(
    options: Options,
    /,
    request_id: str | None,
    org: str | None,
    limit: int,
    before: str | None,
    follow: bool,
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """List the requests of an organization's keys, newest first, or show one REQUEST in full.

    It has no message texts, codes or secrets, and only the last digits of phone numbers.

    \b
    Examples:
      risala log --status 4xx --limit 20
      risala log req_…
      risala log --follow
    """
    if request_id is not None:
        _show_one(options, request_id, org)
        return
    if follow:
        options.run(lambda session: _follow(session, org, arguments, limit, options), waits=True)
        return
    reply = ask_organization(requests.LIST, options, org, **arguments, limit=limit, before=before)
    if output.show(options.json, reply.json):
        return
    page = reply.value
    output.table(
        _COLUMNS,
        map(_row, page.requests),
        empty="There are no such requests." if before is None else "There are no older ones.",
    )
    output.tell_older(page.older)
    if page.dropped:
        since = "since the service's start"
        few = output.counted(page.dropped, f"request {since} is", f"requests {since} are")
        output.warned(f"{few} missing from this list.")
    if not page.is_written:
        output.warned("Requests are not being logged now. `risala doctor` says why.")


def _row(each: LoggedRequest) -> tuple[object, ...]:
    return (
        *(output.at(each.at), each.request_id, each.key_id, each.method, each.path, each.status),
        *(f"{each.took_ms} ms", each.address),
    )


def _show_one(options: Options, request_id: str, org: str | None) -> None:
    async def work(session: GatewaySession) -> Reply[ShownRequest]:
        request = None if org is None else await organization_id(session, org)
        return await session.ask(requests.SHOW, organization_id=request, request_id=request_id)

    reply = options.run(work)
    if output.show(options.json, reply.json):
        return
    request = reply.value
    rows = {
        "request": request.request_id,
        "organization": request.organization_id,
        "key": request.key_id,
        "at": output.at(request.at),
        "asked": f"{request.method} {request.path}",
        "from": request.address,
        "status": request.status,
        "took": f"{request.took_ms} ms",
        "made": request.made,
    }
    output.fields({name: value for name, value in rows.items() if value is not None})
    for title, body in (("Asked", request.asked), ("Answered", request.answered)):
        click.echo(f"\n{click.style(title, bold=True)}")
        text = json.dumps(body, indent=2, ensure_ascii=False)
        click.echo("\n".join(output.clean(line) for line in text.splitlines()))


async def _follow(
    session: GatewaySession, org: str | None, arguments: Json, limit: int, options: Options
) -> None:
    if not session.running:
        raise CommandRefused("The service is not running, so there is nothing to follow.")
    arguments = {**arguments, "organization_id": await organization_id(session, org)}
    tell = _tell_json if options.json else _tell
    async with until_signal():
        await _look_on(session, arguments, limit, tell)


async def _look_on(
    session: GatewaySession, arguments: Json, limit: int, tell: Callable[[LoggedRequest], None]
) -> None:
    """Print the newest requests, oldest first, and then each new one."""
    import trio

    last: str | None = None
    while True:
        count = limit if last is None else FOLLOWED_MAX
        page = await session.ask(requests.LIST, **arguments, after=last, limit=count)
        for each in reversed(page.value.requests):
            tell(each)
            last = each.request_id
        if len(page.value.requests) < FOLLOWED_MAX:
            await trio.sleep(LOOK_EVERY_S)


def _tell_json(each: LoggedRequest) -> None:
    click.echo(json.dumps(to_json(each), ensure_ascii=False))


def _tell(each: LoggedRequest) -> None:
    colour = {2: "green", 4: "yellow", 5: "red"}.get(each.status // 100)
    status = click.style(str(each.status), fg=colour)
    where = f"{iso(each.at)[11:23]}  {each.request_id}  …{each.key_id[-4:]}"
    click.echo(f"{where}  {status}  {each.method} {each.path}  {each.took_ms} ms")
