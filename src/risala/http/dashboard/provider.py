"""The organization's own identity provider: registered, changed and removed by its owners."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.config.oidc_defaults import ROLE_CLAIM, TWO_FACTORS, VERIFIED_CLAIM
from risala.engine.features.providers import records as providers
from risala.engine.features.providers.records import (
    SECRET_MAX,
    SESSION_HOURS,
    SESSION_HOURS_MAX,
    SETTINGS,
    IdentityProvider,
)
from risala.engine.model.errors import NotFound, Refusal
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.editing.edit_conflict import as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("The identity provider is saved.")
REMOVED: Final = N_("The identity provider is removed. Members sign in by e-mail.")
NOBODY: Final = "none"
_PAGE: Final = "members/provider.html"
_REMOVE: Final = "members/no_provider.html"
_OWN_FIELDS: Final = ("default_role", "required", "session_hours")
"""Fields that are drawn by hand: a choice, a box with a warning, a number."""
_FORM: Final = DeclaredForm(
    IdentityProvider, tuple(name for name in SETTINGS if name not in _OWN_FIELDS)
)
_ALL: Final = DeclaredForm(IdentityProvider, SETTINGS)
_DEFAULTS: Final = {
    "role_claim": ROLE_CLAIM,
    "verified_claim": VERIFIED_CLAIM,
    "two_factors": [*TWO_FACTORS],
}
"""What an empty field means."""


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused form."""
    here = {"organization_id": request.organization_id}
    state, version = await request.ask_to_edit(providers.SHOW, **here)
    provider, typed = state.provider, None if error is None else request.form
    fields = {each.name: each for each in _FORM.drawn(request.words, provider, typed)}
    stored = {} if provider is None else _ALL.stored(request.words, provider)
    return {
        "provider": provider,
        "address": state.redirect_address,
        "fields": fields,
        "labels": _ALL.labels(request.words) | {"client_secret": request.words("Client secret")},
        "secret_max": SECRET_MAX,
        "hours_max": SESSION_HOURS_MAX,
        "roles": _roles(request),
        **_shown(request, provider, is_typed=typed is not None),
        **edit(error, typed, version or 0, stored),
    }


def _roles(request: PageRequest) -> list[tuple[str, object]]:
    words = request.words
    return [
        (NOBODY, words("does not get in")),
        ("viewer", words("viewer")),
        ("developer", words("developer")),
        ("owner", words("owner")),
    ]


def _shown(
    request: PageRequest, provider: IdentityProvider | None, *, is_typed: bool
) -> dict[str, object]:
    """The fields that are drawn by hand: as they were typed, else as they are stored."""
    form = request.form
    if is_typed:
        return {
            "default_role": form.text("default_role"),
            "required": form.ticked("required"),
            "session_hours": form.text("session_hours"),
        }
    if provider is None:
        return {"default_role": NOBODY, "required": False, "session_hours": str(SESSION_HOURS)}
    return {
        "default_role": NOBODY if provider.default_role is None else provider.default_role.value,
        "required": provider.required,
        "session_hours": str(provider.session_hours),
    }


async def save(request: PageRequest) -> TrioResponse:
    form, typed = request.form, _FORM.given(request.form)
    hours = form.text("session_hours")
    arguments: dict[str, object] = {
        **{name: typed[name] or instead for name, instead in _DEFAULTS.items()},
        **{name: value for name, value in typed.items() if name not in _DEFAULTS},
        "label": form.text("label"),
        "default_role": form.text("default_role") or NOBODY,
        "required": form.ticked("required"),
        "session_hours": int(hours) if hours.isascii() and hours.isdigit() else 0,
    }
    if form.ticked("no_secret"):
        arguments["client_secret"] = ""
    elif form.text("client_secret"):
        arguments["client_secret"] = form.text("client_secret")
    try:
        await request.ask_here(providers.SET, **arguments, **as_seen(form))
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("members/sign-in"), SAVED)


async def ask_remove(request: PageRequest) -> TrioResponse:
    state = await request.ask_here(providers.SHOW)
    if state.provider is None:
        return request.go(request.at("members/sign-in"))
    return await request.page(_REMOVE, provider=state.provider)


async def remove(request: PageRequest) -> TrioResponse:
    with suppress(NotFound):  # removed already, by a double click
        await request.ask_here(providers.DELETE)
    return request.go(request.at("members"), REMOVED)


_HERE: Final = "/app/<org>/members/sign-in"
_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(path=_HERE, view=shows(_PAGE, _values), access=_OWNER),
    PageRoute(path=_HERE, view=save, access=_OWNER, method="POST"),
    PageRoute(path=f"{_HERE}/remove", view=ask_remove, access=_OWNER),
    PageRoute(path=f"{_HERE}/remove", view=remove, access=_OWNER, method="POST"),
)
