"""The domains that an organization's identity provider asks for: an operator confirms each."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.providers import records as providers
from risala.engine.features.providers.records import IdentityProvider
from risala.engine.rules.people.emails import letters_by_script, spelled
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

CONFIRMED: Final = N_("The domain is confirmed: its people can sign in now.")
TAKEN: Final = N_("The domain is taken away from the organization.")
SCRIPTS: Final = {
    "arabic": N_("Arabic letters"),
    "cyrillic": N_("Cyrillic letters"),
    "east asian": N_("East Asian letters"),
    "greek": N_("Greek letters"),
    "latin": N_("Latin letters"),
}
"""The scripts that have a name here; others are shown by Unicode's name."""
_HERE: Final = "/operator/organizations/<organization_id>/domains"


async def provider_of(request: PageRequest, organization_id: str) -> IdentityProvider | None:
    """What the organization's page shows; None: nothing, or it is not for this operator."""
    if not request.can(providers.SHOW):
        return None
    return (await request.ask(providers.SHOW, organization_id=organization_id)).provider


@dataclass(frozen=True, slots=True)
class MixedDomain:
    """A domain whose letters are of several scripts."""

    spelled: str
    letters: tuple[tuple[str, str], ...]
    """Names of scripts, to be translated where they are known, and its letters of each."""


def mixed_domains(provider: IdentityProvider | None) -> dict[str, MixedDomain]:
    """The domains of a provider whose letters are of several scripts."""
    domains = () if provider is None else provider.domains
    return {
        each: MixedDomain(
            spelled(each), tuple((SCRIPTS.get(name, name), of) for name, of in mixed.items())
        )
        for each in domains
        if (mixed := letters_by_script(each))
    }


def _organization(request: PageRequest) -> str:
    """The organization that the address names."""
    return request.arguments.get("organization_id", "")


async def _confirm(request: PageRequest) -> TrioResponse:
    organization_id = _organization(request)
    arguments = {"organization_id": organization_id, "domain": request.form.text("domain")}
    seen = {"mixed_scripts": True} if request.form.ticked("mixed_scripts") else {}
    await request.ask(providers.CONFIRM, **arguments, **seen)
    return request.go(request.at(f"organizations/{organization_id}"), CONFIRMED)


async def _refuse(request: PageRequest) -> TrioResponse:
    organization_id = _organization(request)
    arguments = {"organization_id": organization_id, "domain": request.form.text("domain")}
    await request.ask(providers.REFUSE, **arguments)
    return request.go(request.at(f"organizations/{organization_id}"), TAKEN)


ROUTES: Final = (
    PageRoute(
        path=f"{_HERE}/confirm",
        view=_confirm,
        access=PageAccess.OPERATOR,
        needs=providers.CONFIRM,
        method="POST",
    ),
    PageRoute(
        path=f"{_HERE}/refuse",
        view=_refuse,
        access=PageAccess.OPERATOR,
        needs=providers.REFUSE,
        method="POST",
    ),
)
