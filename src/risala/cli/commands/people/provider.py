"""Identity providers: where members of an organization sign in by OpenID Connect."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, without_missing
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.show import output
from risala.engine.features.providers import records as providers
from risala.engine.features.providers.records import (
    IdentityProvider,
    IdentityProviders,
    ProviderState,
)

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
_DOMAIN: Final = click.argument("domain", metavar="DOMAIN")


@click.group()
def provider() -> None:
    """Identity providers of organizations: their members sign in there.

    \b
    Example:
      risala provider list
    """


async def _given(session: GatewaySession, values: Json) -> Json:
    """The given arguments of `provider.set`; the secret is read from its file."""
    arguments = without_missing(values)
    arguments["organization_id"] = await organization_id(session, arguments.pop("org", None))
    required: str | None = arguments.pop("required", None)
    if required is not None:
        arguments.update(required=required == "yes")
    secret: IO[str] | None = arguments.pop("secret_file", None)
    if secret is not None:
        arguments["client_secret"] = secret.read().strip()
    return arguments


@provider.command("set")
@org_option
@click.option("--issuer", metavar="URL", help="Exactly as the provider writes it.")
@click.option("--client-id", metavar="ID", help="The client that the provider knows us by.")
@click.option(
    "--secret-file",
    type=click.File(),
    help="A file with the client's secret; - reads standard input.",
)
@click.option("--label", metavar="NAME", help="The name on the button.")
@click.option(
    "--domain",
    "domains",
    metavar="DOMAIN",
    multiple=True,
    help="A domain of e-mail addresses that it answers for; repeatable, replaces the former ones.",
)
@click.option("--role-claim", metavar="CLAIM", help="The claim with the role, such as groups.")
@click.option(
    "--owner", "owners", metavar="VALUE", multiple=True, help="A value that makes an owner."
)
@click.option(
    "--developer",
    "developers",
    metavar="VALUE",
    multiple=True,
    help="A value that makes a developer.",
)
@click.option(
    "--viewer", "viewers", metavar="VALUE", multiple=True, help="A value that makes a viewer."
)
@click.option(
    "--default-role",
    type=click.Choice(["owner", "developer", "viewer", "none"]),
    help="Of who has none of these values; none: they are refused.",
)
@click.option(
    "--verified-claim", metavar="CLAIM", help="The claim that says that an address is verified."
)
@click.option(
    "--two-factors",
    metavar="VALUE",
    multiple=True,
    help="A value of amr or acr that means two factors; repeatable.",
)
@click.option("--required", "required", flag_value="yes", help="Members enter by it alone.")
@click.option("--optional", "required", flag_value="no", help="Codes by e-mail enter too.")
@click.option("--session-hours", type=int, metavar="N", help="How long a session by it lasts.")
@asks(providers.SET, arguments=_given)
def provider_set(provider: IdentityProvider) -> None:
    """Register the identity provider of an organization, or change the given settings.

    \b
    Example:
      risala provider set --org Shop --issuer https://id.example.com --domain example.com
    """
    output.warned(f"The identity provider of {provider.organization_id} is set.")
    for domain in sorted({*provider.domains} - {*provider.confirmed}):
        how = f"risala provider confirm --org {provider.organization_id} {domain}"
        output.warned(f"{domain} works once it is confirmed: {how}")


@provider.command("show")
@org_option
@asks(providers.SHOW)
def provider_show(state: ProviderState) -> None:
    """Show an organization's identity provider, and the redirect address that it has to know.

    \b
    Example:
      risala provider show --org Shop
    """
    known = state.provider
    if known is None:
        output.fields({"redirect address": state.redirect_address, "provider": None})
        return
    output.fields(
        {
            "redirect address": state.redirect_address,
            "issuer": known.issuer,
            "client": known.client_id,
            "secret": "stored" if known.has_secret else "none: a public client",
            "button": known.label or None,
            "confirmed domains": ", ".join(known.confirmed) or None,
            "unconfirmed domains": ", ".join(_waiting(known)) or None,
            "role claim": known.role_claim,
            "owners": ", ".join(known.owners) or None,
            "developers": ", ".join(known.developers) or None,
            "viewers": ", ".join(known.viewers) or None,
            "everybody else": known.default_role or "refused",
            "verified by": known.verified_claim,
            "two factors": ", ".join(known.two_factors) or None,
            "members enter": "by it alone" if known.required else "by it or a code by e-mail",
            "session": output.counted(known.session_hours, "hour"),
        }
    )


@provider.command("list")
@asks(providers.LIST)
def provider_list(listed: IdentityProviders) -> None:
    """List the identity providers of all organizations; those with an unconfirmed domain first.

    \b
    Example:
      risala provider list
    """
    output.table(
        ("Organization", "Issuer", "Unconfirmed", "Confirmed"),
        (
            (
                each.organization_id,
                each.issuer,
                ", ".join(_waiting(each)),
                ", ".join(each.confirmed),
            )
            for each in listed.providers
        ),
        empty="No organization has an identity provider.",
    )


@provider.command("confirm")
@org_option
@_DOMAIN
@click.option(
    "--mixed-scripts",
    is_flag=True,
    default=None,
    help="Also where its letters are of several scripts, as in a name that imitates another.",
)
@asks(providers.CONFIRM)
def provider_confirm(provider: IdentityProvider) -> None:
    """Confirm that a domain is the organization's: from then on its people can sign in.

    Ask the organization to prove it, for example by a mail from that domain's postmaster.

    \b
    Example:
      risala provider confirm --org Shop example.com
    """
    output.said(f"Confirmed for {provider.organization_id}: {', '.join(provider.confirmed)}.")


@provider.command("refuse")
@org_option
@_DOMAIN
@asks(providers.REFUSE)
def provider_refuse(provider: IdentityProvider) -> None:
    """Take a domain away from an organization, confirmed or not; who came by it is signed out.

    \b
    Example:
      risala provider refuse --org Shop example.com
    """
    output.said(f"The domain is taken away from {provider.organization_id}.")


@provider.command("delete")
@org_option
@asks(providers.DELETE)
def provider_delete(provider: IdentityProvider) -> None:
    """Remove an organization's identity provider; its members stay, and sign in by e-mail.

    \b
    Example:
      risala provider delete --org Shop
    """
    output.said(f"The identity provider of {provider.organization_id} is removed.")


def _waiting(provider: IdentityProvider) -> list[str]:
    return sorted({*provider.domains} - {*provider.confirmed})
