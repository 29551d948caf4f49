"""Pages about an organization's own identity provider: the way there, and what a session by it does
not reach."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from quart_trio.wrappers import TrioResponse

from risala.engine.features.providers.records import ACCESS, OfferedProvider
from risala.engine.model.errors import ProviderNeeded
from risala.http.web.page_request import PageRequest

_PAGE: Final = "sign_in/provider.html"
_BOUND: Final = "sign_in/bound.html"


async def provider_page(
    visit: PageRequest, offered: OfferedProvider, email: str, target: str | None
) -> TrioResponse:
    """The way to a provider, for an address of its domain."""
    return await _page(visit, offered, email, target, must=False)


async def to_provider(visit: PageRequest, error: ProviderNeeded) -> TrioResponse:
    """For a reader who signed in otherwise: the organization is entered by its provider alone."""
    found = visit.site.gateway.access(ACCESS).of_organization(error.organization_id)
    if found is None:  # it was removed a moment ago
        return visit.go(visit.face.home)
    return await _page(visit, found, "", visit.request.path, must=True)


async def account_closed(visit: PageRequest) -> TrioResponse:
    """For a session by an organization's provider, at what belongs to the account itself."""
    session = visit.session
    assert session is not None, "strangers ask for no account"
    if visit.request.path == visit.face.home and session.places:
        return visit.go(f"{visit.face.home}/{session.places[0].organization_id}/")
    return await visit.page(_BOUND, status=403)


async def _page(
    visit: PageRequest, offered: OfferedProvider, email: str, target: str | None, *, must: bool
) -> TrioResponse:
    query = "" if target is None else "?" + urlencode({"next": target})
    values = {
        "name": offered.label,
        "way": f"{visit.face.sign_in}/oidc/{offered.organization_id}{query}",
        "email": email,
        "next": target,
        "must": must,
    }
    return await visit.page(_PAGE, values, status=403 if must else 200)
