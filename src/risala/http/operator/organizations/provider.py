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
"""Of others Unicode's name is shown."""
_HERE: Final = "/operator/organizations/<organization_id>/domains"


async def provider_of(visit: PageRequest, organization_id: str) -> IdentityProvider | None:
    """What the organization's page shows; None: nothing, or it is not for this operator."""
    if not visit.can(providers.SHOW):
        return None
    return (await visit.ask(providers.SHOW, organization_id=organization_id)).provider


@dataclass(frozen=True, slots=True)
class MixedDomain:
    """A domain whose letters are of several scripts."""

    spelled: str
    letters: tuple[tuple[str, str], ...]
    """Names of scripts, to be translated where they are known, and its letters of each."""


def mixed_domains(found: IdentityProvider | None) -> dict[str, MixedDomain]:
    """The domains of a provider whose letters are of several scripts."""
    domains = () if found is None else found.domains
    return {
        each: MixedDomain(
            spelled(each), tuple((SCRIPTS.get(name, name), of) for name, of in mixed.items())
        )
        for each in domains
        if (mixed := letters_by_script(each))
    }


def _organization(visit: PageRequest) -> str:
    """The organization that the address names."""
    return visit.arguments.get("organization_id", "")


async def _confirm(visit: PageRequest) -> TrioResponse:
    organization_id = _organization(visit)
    asked = {"organization_id": organization_id, "domain": visit.form.text("domain")}
    seen = {"mixed_scripts": True} if visit.form.ticked("mixed_scripts") else {}
    await visit.ask(providers.CONFIRM, **asked, **seen)
    return visit.go(visit.at(f"organizations/{organization_id}"), CONFIRMED)


async def _refuse(visit: PageRequest) -> TrioResponse:
    organization_id = _organization(visit)
    asked = {"organization_id": organization_id, "domain": visit.form.text("domain")}
    await visit.ask(providers.REFUSE, **asked)
    return visit.go(visit.at(f"organizations/{organization_id}"), TAKEN)


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
