"""Credentials for faces other than the API: made, shown once, revoked."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound, Refusal
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

REVOKED: Final = N_("The credential is revoked.")
FACES: Final = {"kannel": "Kannel", "twilio": "Twilio", "smpp": "SMPP"}
"""The names of the built-in ones; any other is shown as it is."""


async def listed(visit: PageRequest) -> list[dict[str, Any]]:
    """An organization's credentials as shown on the page of keys; revoked ones are over."""
    found = await visit.perform_here("credential.list")
    return [_view(each) for each in found["credentials"] if each["revokedAt"] is None]


def _view(credential: dict[str, Any]) -> dict[str, Any]:
    return {**credential, "system": FACES.get(credential["face"], credential["face"])}


async def show_new(visit: PageRequest) -> TrioResponse:
    return await visit.page("keys/credential_new.html", form=visit.form)


async def create(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {
        "face": form.text("face", "kannel"),
        "mode": form.text("key_mode", "live"),
    }
    for name in ("name", "username", "from"):
        if text := form.text(name):
            asked[name] = text
    if addresses := form.lines("allowed_addresses"):
        asked["allowed_addresses"] = addresses
    try:
        made = await visit.perform_here("credential.create", **asked)
    except Refusal as error:
        return await visit.again("keys/credential_new.html", error, form=form)
    return await visit.page(
        "keys/credential_made.html",
        is_secret=True,
        made={**_view(made["credential"]), "password": made["password"]},
    )


async def ask_revoke(visit: PageRequest) -> TrioResponse:
    return await visit.page("keys/credential_revoke.html", credential=await _one(visit))


async def revoke(visit: PageRequest) -> TrioResponse:
    await visit.perform("credential.revoke", credential_id=visit.arguments["credential_id"])
    return visit.go(visit.at("keys"), REVOKED)


async def _one(visit: PageRequest) -> dict[str, Any]:
    """The credential that an address names; one that is not there is 404."""
    wanted = visit.arguments["credential_id"]
    found = next((each for each in await listed(visit) if each["id"] == wanted), None)
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
