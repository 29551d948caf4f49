"""Credentials for faces other than the API: made, shown once, revoked."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.compat import records as credentials
from risala.engine.features.compat.records import CompatCredential
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records.record import shallow
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

REVOKED: Final = N_("The credential is revoked.")
FACES: Final = {"kannel": "Kannel", "twilio": "Twilio", "playsms": "playSMS", "smpp": "SMPP"}
"""The names of the built-in ones; any other is shown as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialView(CompatCredential):
    """A credential as its reader sees it."""

    system: str


async def listed(visit: PageRequest) -> list[CredentialView]:
    """An organization's credentials as shown on the page of keys; revoked ones are over."""
    found = await visit.ask_here(credentials.LIST)
    return [_view(each) for each in found.credentials if each.revoked_at is None]


async def shown_with_keys(visit: PageRequest) -> dict[str, object]:
    return {"credentials": await listed(visit)}


def _view(found: CompatCredential) -> CredentialView:
    return CredentialView(**shallow(found), system=FACES.get(found.face, found.face))


async def show_new(visit: PageRequest) -> TrioResponse:
    return await visit.page("keys/credential_new.html", form=visit.form)


async def create(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {
        "face": form.text("face", "kannel"),
        "mode": form.text("key_mode", "live"),
        **form.filled("name", "username", "from"),
    }
    if addresses := form.lines("allowed_addresses"):
        asked["allowed_addresses"] = addresses
    try:
        made = await visit.ask_here(credentials.CREATE, **asked)
    except Refusal as error:
        return await visit.again("keys/credential_new.html", error, form=form)
    return await visit.page(
        "keys/credential_made.html",
        is_secret=True,
        made=_view(made.credential),
        password=made.password,
    )


async def ask_revoke(visit: PageRequest) -> TrioResponse:
    return await visit.page("keys/credential_revoke.html", credential=await _one(visit))


async def revoke(visit: PageRequest) -> TrioResponse:
    await visit.ask(credentials.REVOKE, credential_id=visit.arguments["credential_id"])
    return visit.go(visit.at("keys"), REVOKED)


async def _one(visit: PageRequest) -> CredentialView:
    """The credential that an address names; one that is not there is 404."""
    wanted = visit.arguments["credential_id"]
    found = next((each for each in await listed(visit) if each.id == wanted), None)
    if found is None:
        raise NotFound("There is no credential of this id.")
    return found


_ALL: Final = "/app/<org>/keys/credentials"
ROUTES: Final = (
    PageRoute(path=f"{_ALL}/new", view=show_new, access=PageAccess.DEVELOPER),
    PageRoute(path=_ALL, view=create, access=PageAccess.DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_ALL}/<credential_id>/revoke", view=ask_revoke, access=PageAccess.DEVELOPER),
    PageRoute(
        path=f"{_ALL}/<credential_id>/revoke",
        view=revoke,
        access=PageAccess.DEVELOPER,
        method="POST",
    ),
)
