"""Verifying a phone number by hand, and the Verify configuration of organizations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import (
    optional_org,
    org_option,
    organization_id,
)
from risala.cli.lazy import LazyCommands, LazyGroup, of_features
from risala.cli.reach.options import Options, common, number_option
from risala.cli.show import output, when
from risala.engine.model.money import money
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people.organizations import SHOW
from risala.engine.model.records.verify import sessions
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.model.records.verify.settings import (
    ANY_LANGUAGE,
    CONFIG,
    AutofillSize,
    CodeConfiguration,
    CodeSettings,
)
from risala.engine.model.states import SessionState

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
STATUSES: Final = [each.value for each in SessionState]
verification_id = click.argument("verification_id", metavar="ID")


@click.group(cls=LazyGroup, commands=LazyCommands({}, partial(of_features, "verify")))
def verify() -> None:
    """One-time codes: send, check, and how an organization's codes look.

    \b
    Examples:
      risala verify send NUMBER
      risala verify check ver_… 493817
    """


@verify.command("send")
@click.argument("to", callback=number_option)
@org_option
@click.option("--locale", metavar="LANGUAGE", help="The language of the SMS, such as fr or ar.")
@click.option(
    "--app-hash", metavar="HASH", help="The hash of a registered Android app, for autofill."
)
@click.option("--origin", metavar="HOST", help="A registered host, for autofill.")
@asks(sessions.SEND)
def verify_send(sent: sessions.CodeSent, to: str, running: bool) -> None:
    """Send a code to the number TO (as at home, or with + and the country code).

    \b
    Examples:
      risala verify send NUMBER
      risala verify send NUMBER --locale ar
    """
    if sent.warning is not None:
        output.said(f"A code for {to} was accepted: {sent.verification_id}")
        output.warned(sent.warning)
        return
    output.said(f"A code is on its way to {to}: {sent.verification_id}")
    if not running:
        output.warned("The service is not running. The code is sent if it starts in time.")


@verify.command("check")
@verification_id
@click.argument("code")
@common
def verify_check(options: Options, verification_id: str, code: str) -> None:
    """Check a code: prints `approved` or `denied`. A wrong code counts as an attempt.

    \b
    Example: risala verify check ver_… 493817
    """

    async def work(session: GatewaySession) -> Reply[sessions.JudgedCode]:
        reply = await session.ask(sessions.GET, verification_id=verification_id)
        return await session.ask(
            sessions.CHECK,
            organization_id=reply.value.organization_id,
            verification_id=verification_id,
            code=code,
        )

    judged = options.run(work)
    if not output.show(options.json, judged.json):
        click.echo(judged.value.status)


@verify.command("get")
@verification_id
@asks(sessions.GET)
def verify_get(view: VerificationView) -> None:
    """Show a verification: its number, status and end.

    \b
    Example: risala verify get ver_…
    """
    output.fields(
        {
            "id": view.id,
            "organization": view.organization_id,
            "to": view.to,
            "status": _status(view),
            "failed attempts": view.attempts,
            "expires": output.at(view.expires_at),
            "created": output.at(view.created_at),
            "updated": output.at(view.updated_at),
            "message": view.message_id or "none: the number has a fixed code",
            "tags": ", ".join(view.details.get("tags", ())) or None,
        }
    )


def _status(each: VerificationView) -> str:
    return each.status + (f" ({each.reason})" if each.reason else "")


@verify.command("list")
@org_option
@mode_option("Those of test keys instead of live ones.")
@click.option(
    "--status",
    type=click.Choice(STATUSES),
    help="Only those with this status.",
)
@click.option("--to", metavar="NUMBER", callback=number_option, help="Only those to this number.")
@click.option(
    "--since",
    metavar="TIME",
    callback=when.past_option,
    help="Only since: 2026-11-21T08:30 (local), 08:30 (the last), or 90m, 2h, 3d ago.",
)
@click.option("--until", metavar="TIME", callback=when.past_option, help="Not newer.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@asks(sessions.LIST)
def verify_list(page: sessions.SessionPage, before: str | None) -> None:
    """List an organization's verifications, newest first.

    \b
    Examples:
      risala verify list
      risala verify list --status pending --since 1h
    """
    output.table(
        ("Created (UTC)", "Id", "To", "Status", "Wrong tries"),
        (
            (
                *(output.at(each.created_at), each.id, each.to, _status(each)),
                f"{each.attempts} of {each.attempts_max}",
            )
            for each in page.sessions
        ),
        empty="There are no such verifications." if before is None else "There are no older ones.",
    )
    output.tell_older(page.older)


says(
    verify,
    "cancel",
    verification_id,
    sessions.CANCEL,
    lambda ended: f"The verification {ended.id} is {ended.status}.",
    does="End a verification that is pending; one that has ended stays as it is.",
    example="ver_…",
)


@verify.command("config")
@optional_org
@click.option("--length", "code_length", type=int, help="Digits in a code: 4 to 8.")
@click.option("--expiry-minutes", type=int, help="How long a code is valid: 1 to 60 minutes.")
@click.option("--attempts", "attempts_max", type=int, help="How many wrong codes end a session.")
@click.option(
    "--per-phone", "per_phone_per_hour", type=int, help="The most codes per hour to one number."
)
@click.option(
    "--per-org",
    "per_organization_per_hour",
    type=int,
    help="The most codes per hour to all numbers.",
)
@click.option(
    "--per-client-ip",
    "client_ip_per_hour",
    type=int,
    help="The most codes per hour for one address that requests give as clientIp; 0: any number.",
)
@click.option(
    "--own-codes/--no-own-codes",
    default=None,
    help="Whether programs with a secret key may send codes of their own.",
)
@click.option(
    "--never-share/--no-never-share",
    default=None,
    help="Whether texts ask their reader to share the code with nobody.",
)
@click.option("--language", metavar="LANGUAGE", help="The language of codes that request none.")
@click.option("--template", metavar="TEXT", help="The SMS; {{code}} must be in it.")
@click.option("--template-fr", metavar="TEXT", help="The SMS in French.")
@click.option("--template-ar", metavar="TEXT", help="The SMS in Arabic.")
@click.option("--template-en", metavar="TEXT", help="The SMS in English.")
@click.option(
    "--template-in",
    "templates",
    metavar="LANGUAGE TEXT",
    nargs=2,
    multiple=True,
    help="The SMS in another language; repeatable.",
)
@click.option("--sender", metavar="NAME", help="An approved sender.")
@click.option(
    "--app-hash", "app_hashes", metavar="HASH", multiple=True, help="Android apps; repeatable."
)
@click.option(
    "--origin", "origins", metavar="HOST", multiple=True, help="Hosts of pages; repeatable."
)
@click.option("--reset", is_flag=True, help="First reset everything to the defaults.")
@common
def verify_config(
    options: Options,
    /,
    org: str | None,
    *,
    reset: bool,
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """Show how an organization's codes look; with options, change that first.

    Lists replace the existing ones. An empty text restores the default.

    \b
    Examples:
      risala verify config
      risala verify config "My shop" --length 6 --expiry-minutes 10
    """

    async def work(session: GatewaySession) -> tuple[Reply[CodeConfiguration], str]:
        whose = {"organization_id": await organization_id(session, org)}
        currency = (await session.ask(SHOW, **whose)).value.currency
        shown = await session.ask_exactly(CONFIG, whose)
        changes = _changes(shown.value.settings, arguments, reset=reset)
        if changes:
            shown = await session.ask_exactly(CONFIG, {**whose, **changes})
        return shown, currency

    reply, currency = options.run(work)
    if not output.show(options.json, reply.json):
        _show_config(reply.value, currency)


def _changes(current: CodeSettings, arguments: Json, *, reset: bool) -> Json:
    """The settings to change: an empty text or list removes the own value."""
    changes: Json = {}
    if reset:
        from risala.engine.rules.verify_settings import VerifySettings

        changes = VerifySettings().model_dump(mode="json")
    templates = {} if reset else dict(current.templates)
    own = dict(arguments.pop("templates"))
    arguments |= {f"template_{language}": text for language, text in own.items()}
    for name, value in arguments.items():
        _, is_template, locale = name.partition("template_")
        if value is None or value == ():
            continue
        if is_template:
            templates[locale] = value
            changes["templates"] = {each: text for each, text in templates.items() if text}
        elif isinstance(value, tuple):
            changes[name] = [each for each in value if each]
        else:
            changes[name] = None if value == "" else value
    return changes


def _lines(size: AutofillSize) -> str:
    names = (("app hash", size.app_hash), ("origin", size.origin))
    return " and ".join(name for name, has in names if has)


def _show_config(shown: CodeConfiguration, currency: str) -> None:
    settings = shown.settings
    output.fields(
        {
            "organization": shown.organization_id,
            "digits in a code": settings.code_length,
            "valid for": output.counted(settings.expiry_minutes, "minute"),
            "wrong codes allowed": settings.attempts_max,
            "codes an hour to a number": settings.per_phone_per_hour,
            "codes an hour to all": settings.per_organization_per_hour,
            "codes an hour for an address": settings.client_ip_per_hour or "any number",
            "own codes": settings.own_codes,
            "never share line": settings.never_share,
            "language": settings.language or "as the default text",
            "sender": settings.sender or "the default sender",
            "app hashes": ", ".join(settings.app_hashes) or None,
            "origins": ", ".join(settings.origins) or None,
        }
    )
    click.echo()
    texts = {**shown.built_in, **settings.templates}
    if settings.template:
        texts[ANY_LANGUAGE] = settings.template
    output.table(
        ("Locale", "Segments", "Encoding", "Price", "Text"),
        (
            (
                *(name, size.segments, size.encoding),
                *(output.money(money(size.price), currency), texts[name]),
            )
            for name, size in shown.sizes.items()
        ),
        empty="There is no text.",
    )
    if shown.autofill_sizes:
        click.echo()
        output.table(
            ("Locale", "With", "Segments", "Encoding", "Price"),
            (
                (
                    *(size.language, _lines(size), size.segments, size.encoding),
                    output.money(money(size.price), currency),
                )
                for size in shown.autofill_sizes
            ),
            empty="",
        )
    for warning in shown.warnings:
        output.warned(warning)
