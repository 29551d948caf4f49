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
    request: PageRequest, offered: OfferedProvider, email: str, target: str | None
) -> TrioResponse:
    """The way to a provider, for an address of its domain."""
    return await _page(request, offered, email, target, must=False)


async def to_provider(request: PageRequest, error: ProviderNeeded) -> TrioResponse:
    """For a reader who signed in otherwise: the organization is entered by its provider alone."""
    provider = request.site.gateway.access(ACCESS).of_organization(error.organization_id)
    if provider is None:  # it was removed a moment ago
        return request.go(request.face.home)
    return await _page(request, provider, "", request.http.path, must=True)


async def account_closed(request: PageRequest) -> TrioResponse:
    """For a session by an organization's provider, at what belongs to the account itself."""
    session = request.session
    assert session is not None, "strangers ask for no account"
    if request.http.path == request.face.home and session.places:
        return request.go(f"{request.face.home}/{session.places[0].organization_id}/")
    return await request.page(_BOUND, status=403)


async def _page(
    request: PageRequest, offered: OfferedProvider, email: str, target: str | None, *, must: bool
) -> TrioResponse:
    query = "" if target is None else "?" + urlencode({"next": target})
    values = {
        "name": offered.label,
        "way": f"{request.face.sign_in}/oidc/{offered.organization_id}{query}",
        "email": email,
        "next": target,
        "must": must,
    }
    return await request.page(_PAGE, values, status=403 if must else 200)
