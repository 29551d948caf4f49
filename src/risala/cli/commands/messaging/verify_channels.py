"""The channels by which an organization's codes leave."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import optional_org
from risala.cli.show import output
from risala.engine.features.channels.records import CHANNELS, ShownChannels


@click.command("channels")
@optional_org
@click.option("--channels", metavar="NAMES", help="The order, with commas between: chat,sms.")
@click.option("--secret", metavar="NAMES", help="Those that secret keys may name.")
@click.option("--publishable", metavar="NAMES", help="Those that publishable keys may name.")
@click.option("--fallback-s", type=int, metavar="SECONDS", help="Until the next one: 10 to 600.")
@click.option(
    "--addresses/--no-addresses",
    default=None,
    help="Whether secret keys send by e-mail.",
)
@asks(CHANNELS)
def channels(shown: ShownChannels) -> None:
    """Show the channels of an organization's codes, or choose them.

    \b
    Examples:
      risala verify channels
      risala verify channels "My shop" --secret sms,telegram --channels telegram,sms
    """
    use = shown.use
    there = ", ".join(f"{each.name} ({each.price})" for each in shown.offered)
    output.fields(
        {
            "order": ", ".join(use.channels),
            "secret keys": ", ".join(use.secret),
            "publishable keys": ", ".join(use.publishable),
            "next after": f"{use.fallback_s} s",
            "e-mail addresses": "yes" if use.addresses else "no",
            "of the service": there,
        }
    )
