"""API keys."""

from __future__ import annotations

from typing import Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.engine.model.records import keys
from risala.engine.model.records.asks import Ask, Reply
from risala.engine.model.records.keys import ApiKey, CreatedKey, KeyChallenge, KeyPlaces, Keys

key_id = click.argument("key_id", metavar="KEY")


@click.group()
def key() -> None:
    """API keys.

    \b
    Examples:
      risala key create --org "My shop"
      risala key list
    """


@key.command("create")
@org_option
@click.option(
    "--type",
    type=click.Choice(["secret", "publishable"]),
    default="secret",
    show_default=True,
    help="Publishable keys can only verify, and users may see them.",
)
@mode_option("For test messages: no carrier and no charge.")
@click.option("--name", help="A name for you to recognise it.")
@click.option("--contact", help="The person or address to ask about it.")
@click.option(
    "--expires",
    "expires_at",
    metavar="TIME",
    callback=when.option,
    help="Refuse it from then on: 90d, 2027-01-31. Without it, never.",
)
@click.option(
    "--origin",
    "allowed_origins",
    metavar="ORIGIN",
    multiple=True,
    help="Allow only pages of this origin, such as https://app.example; repeatable.",
)
@click.option(
    "--address",
    "allowed_addresses",
    metavar="ADDRESS",
    multiple=True,
    help="Allow only this address or network, such as 203.0.113.7 or 203.0.113.0/24; repeatable.",
)
@click.option(
    "--without-id",
    is_flag=True,
    default=None,
    help="Answer a versioned send without messageId, for clients that refuse that field.",
)
@asks(keys.CREATE)
def key_create(made: CreatedKey) -> None:
    """Create a key and print its value, once.

    \b
    Examples:
      risala key create --org "My shop" --name web
      risala key create --type publishable --origin https://shop.example
    """
    # Only the value goes to stdout, so that `KEY=$(risala key create)` is enough for a script.
    output.warned(f"The key {made.key.id}. Keep its value now: it cannot be shown again.")
    click.echo(made.value)


@key.command("rotate")
@key_id
@click.option(
    "--overlap",
    "overlap_s",
    metavar="SPAN",
    default="24h",
    show_default=True,
    callback=when.span_option,
    help="How long the old value also works: 0, 90m, 24h, at most 7d.",
)
@asks(keys.ROTATE)
def key_rotate(made: CreatedKey) -> None:
    """Give a key a new value and print it, once.

    \b
    Example: risala key rotate key_… --overlap 2h
    """
    api_key = made.key
    old = "The old value no longer works."
    if api_key.old_until is not None:
        old = f"The old value works until {output.utc(api_key.old_until)}."
    output.warned(f"The key {api_key.id} has a new value. It is shown only once. {old}")
    click.echo(made.value)


@key.command("list")
@org_option
@asks(keys.LIST)
def key_list(listed: Keys) -> None:
    """List the keys of an organization.

    \b
    Examples:
      risala key list
      risala key list --org "My shop"
    """
    output.table(
        (
            *("Id", "Type", "Name", "Contact", "Ends in", "Before", "Enabled", "Expires"),
            *("Created", "Last used", "From"),
        ),
        (
            (
                each.id,
                f"{each.type} {each.mode}",
                each.name,
                each.contact,
                f"…{each.last4}",
                each.old_until and f"…{each.old_last4} until {output.utc(each.old_until)}",
                each.enabled,
                "never" if each.expires_at is None else output.at(each.expires_at),
                output.at(each.created_at),
                output.at(each.last_used_at),
                each.last_used_address,
            )
            for each in listed.keys
        ),
        empty="There are no keys yet. Create one with `risala key create`.",
    )
    if listed.age_days is not None:
        most = output.counted(listed.age_days, "day")
        output.said(f"A key works for at most {most}. A new value starts the time again.")


@key.command("places")
@key_id
@asks(keys.PLACES)
def key_places(places: KeyPlaces) -> None:
    """List the networks that a key was used from, the last one first.

    They are kept for ninety days, of each secret key the last twenty. A new one was first seen when
    the key had been in use elsewhere for a day or longer.

    \b
    Example: risala key places key_…
    """
    output.table(
        ("Network", "New", "First used", "Last used"),
        (
            (each.network, each.is_new, output.at(each.first_at), output.at(each.last_at))
            for each in places.places
        ),
        empty="No place is known yet. A use shows after half a minute; publishable keys show none.",
    )


@key.command("origins")
@key_id
@click.argument("origins", metavar="[ORIGIN]...", nargs=-1)
@click.option("--any", "lift", is_flag=True, help="Let any page use it.")
@common
def key_origins(options: Options, key_id: str, origins: tuple[str, ...], lift: bool) -> None:
    """Show which pages may use a publishable key; with ORIGIN... or --any, change it first.

    \b
    Examples:
      risala key origins key_… https://shop.example
      risala key origins key_… --any
    """
    if lift and origins:
        raise click.UsageError("Give origins, or --any.")
    change = {"allowed_origins": list(origins)} if lift or origins else {}
    reply = _set(options, key_id, change)
    if not output.show(options.json, reply.json):
        allowed = reply.value.allowed_origins
        whose = "any page" if allowed is None else f"pages of {', '.join(allowed)}"
        output.said(f"The key {reply.value.id} (…{reply.value.last4}) can be used by {whose}.")


@key.command("addresses")
@key_id
@click.argument("addresses", metavar="[ADDRESS]...", nargs=-1)
@click.option("--any", "lift", is_flag=True, help="From anywhere.")
@common
def key_addresses(options: Options, key_id: str, addresses: tuple[str, ...], lift: bool) -> None:
    """Show which addresses may use a key; with ADDRESS... or --any, change it first.

    Write an address like 203.0.113.7 or 2001:db8::7, or a network like 203.0.113.0/24.

    \b
    Examples:
      risala key addresses key_… 203.0.113.7 2001:db8::/64
      risala key addresses key_… --any
    """
    if lift and addresses:
        raise click.UsageError("Give addresses, or --any.")
    change = {"allowed_addresses": list(addresses)} if lift or addresses else {}
    reply = _set(options, key_id, change)
    if not output.show(options.json, reply.json):
        allowed = reply.value.allowed_addresses
        where = "anywhere" if allowed is None else ", ".join(allowed)
        output.said(f"The key {reply.value.id} (…{reply.value.last4}) can be used from {where}.")


@key.command("contact")
@key_id
@click.argument("contact", required=False)
@click.option("--none", "lift", is_flag=True, help="Name nobody.")
@common
def key_contact(options: Options, key_id: str, contact: str | None, lift: bool) -> None:
    """Show the contact of a key; with CONTACT or --none, change it first.

    \b
    Examples:
      risala key contact key_… "Aïcha, 36 12 34 56"
      risala key contact key_… --none
    """
    if lift and contact is not None:
        raise click.UsageError("Give a contact, or --none.")
    change = {"contact": contact} if lift or contact is not None else {}
    reply = _set(options, key_id, change)
    if not output.show(options.json, reply.json):
        whom = reply.value.contact or "nobody in particular"
        output.said(f"The contact of the key {reply.value.id} (…{reply.value.last4}) is {whom}.")


@key.command("challenge")
@key_id
@click.argument(
    "when",
    metavar="[WHEN]",
    required=False,
    type=click.Choice([each.value for each in KeyChallenge]),
)
@common
def key_challenge(options: Options, key_id: str, when: str | None) -> None:
    """Show when a publishable key asks browsers to work before a code; with WHEN, change it first.

    WHEN is never, when_suspicious or always. Your page or app must be able to do it: the JavaScript
    client is.

    \b
    Examples:
      risala key challenge key_…
      risala key challenge key_… always
    """
    reply = _set(options, key_id, {} if when is None else {"challenge": when})
    if not output.show(options.json, reply.json):
        asks = _CHALLENGES[reply.value.challenge]
        output.said(f"The key {reply.value.id} (…{reply.value.last4}) {asks}.")


_CHALLENGES: Final = {
    KeyChallenge.NEVER: "never asks for a challenge",
    KeyChallenge.WHEN_SUSPICIOUS: "asks for a challenge where a request is suspicious",
    KeyChallenge.ALWAYS: "always asks for a challenge before a code",
}


@key.command("expires")
@key_id
@click.argument("expires_at", metavar="[TIME]", required=False, callback=when.option)
@click.option("--never", is_flag=True, help="Let it work until it is disabled.")
@common
def key_expires(options: Options, key_id: str, expires_at: str | None, never: bool) -> None:
    """Show when a key expires; with TIME or --never, change it first.

    From then on it is refused with 401. Where keys have a maximum age, --never means as late as
    that lets it. Write 90d for ninety days from now, or 2027-01-31T08:30.

    \b
    Examples:
      risala key expires key_… 90d
      risala key expires key_… --never
    """
    if never and expires_at is not None:
        raise click.UsageError("Give a time, or --never.")
    change = {"expires_at": expires_at} if never or expires_at is not None else {}
    reply = _set(options, key_id, change)
    if not output.show(options.json, reply.json):
        at = reply.value.expires_at
        how = "never expires" if at is None else f"expires at {output.utc(at)}"
        output.said(f"The key {reply.value.id} (…{reply.value.last4}) {how}.")


def _set(options: Options, key_id: str, change: dict[str, Any]) -> Reply[ApiKey]:
    """The key, after any requested change."""
    ask = keys.SET if change else keys.SHOW
    return options.run(lambda session: session.ask_exactly(ask, {"key_id": key_id, **change}))


def _on_key(name: str, ask: Ask[ApiKey], does: str, done: str) -> None:
    def line(api_key: ApiKey) -> str:
        return done.format(f"{api_key.id} (…{api_key.last4})")

    says(key, name, key_id, ask, line, does=does, example="key_…")


_on_key("enable", keys.ENABLE, "Enable a disabled key.", "The key {} is enabled.")
_on_key("delete", keys.DELETE, "Delete a key for good.", "The key {} is deleted.")
_on_key(
    "disable",
    keys.DISABLE,
    "Disable a key (it gets 401) without deleting it.",
    "The key {} is disabled.",
)
_on_key(
    "end-old",
    keys.END_OLD,
    "Stop accepting the old value of a rotated key at once.",
    "The old value of the key {} no longer works.",
)
