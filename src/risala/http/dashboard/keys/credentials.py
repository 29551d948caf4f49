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
from risala.http.web.routes import PageRoute, shows_form

REVOKED: Final = N_("The credential is revoked.")
FACES: Final = {
    "kannel": "Kannel",
    "twilio": "Twilio",
    "playsms": "playSMS",
    "smsgate": "SMSGate",
    "smpp": "SMPP",
}
"""The names of the built-in ones; any other is shown as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialView(CompatCredential):
    """A credential as its reader sees it."""

    system: str


async def listed(request: PageRequest) -> list[CredentialView]:
    """An organization's credentials as shown on the page of keys; revoked ones are over."""
    answer = await request.ask_here(credentials.LIST)
    return [_view(each) for each in answer.credentials if each.revoked_at is None]


async def shown_with_keys(request: PageRequest) -> dict[str, object]:
    return {"credentials": await listed(request)}


def _view(credential: CompatCredential) -> CredentialView:
    return CredentialView(**shallow(credential), system=FACES.get(credential.face, credential.face))


async def create(request: PageRequest) -> TrioResponse:
    form = request.form
    arguments: dict[str, object] = {
        "face": form.text("face", "kannel"),
        "mode": form.text("key_mode", "live"),
        **form.filled("name", "username", "from"),
    }
    if addresses := form.lines("allowed_addresses"):
        arguments["allowed_addresses"] = addresses
    try:
        made = await request.ask_here(credentials.CREATE, **arguments)
    except Refusal as error:
        return await request.again(_NEW, error, form=form)
    return await request.page(
        "keys/credential_made.html",
        is_secret=True,
        made=_view(made.credential),
        password=made.password,
    )


async def ask_revoke(request: PageRequest) -> TrioResponse:
    return await request.page("keys/credential_revoke.html", credential=await _one(request))


async def revoke(request: PageRequest) -> TrioResponse:
    await request.ask(credentials.REVOKE, credential_id=request.arguments["credential_id"])
    return request.go(request.at("keys"), REVOKED)


async def _one(request: PageRequest) -> CredentialView:
    """The credential that an address names; one that is not there is 404."""
    credential_id = request.arguments["credential_id"]
    credential = next((each for each in await listed(request) if each.id == credential_id), None)
    if credential is None:
        raise NotFound("There is no credential of this id.")
    return credential


_NEW: Final = "keys/credential_new.html"
_ALL: Final = "/app/<org>/keys/credentials"
ROUTES: Final = (
    PageRoute(path=f"{_ALL}/new", view=shows_form(_NEW), access=PageAccess.DEVELOPER),
    PageRoute(path=_ALL, view=create, access=PageAccess.DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_ALL}/<credential_id>/revoke", view=ask_revoke, access=PageAccess.DEVELOPER),
    PageRoute(
        path=f"{_ALL}/<credential_id>/revoke",
        view=revoke,
        access=PageAccess.DEVELOPER,
        method="POST",
    ),
)
