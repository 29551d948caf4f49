"""*Sign-in and security*: a reader's own factors and recovery codes."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.factors import records as factors
from risala.engine.features.factors.records import AddedFactor, PasskeySite
from risala.engine.model.errors import Conflict, Refusal
from risala.http.web.entry.fresh import own_access
from risala.http.web.entry.sign_in import ANSWER_FIELD, passkey_site
from risala.http.web.face import security_path
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

ADDED: Final = N_("It is set up. From now on you are asked for it when you sign in.")
REMOVED: Final = N_("It is removed, and no longer works.")
_PAGE: Final = "security/show.html"
_APP: Final = "security/app.html"
_PASSKEY: Final = "security/passkey.html"
_REMOVE: Final = "security/remove.html"
_CODES: Final = "security/codes.html"
_QR_SCALE: Final = 5
"""Pixels of a module: large enough for a cheap phone's camera."""


async def show(visit: PageRequest) -> TrioResponse:
    found = await visit.ask_own(factors.LIST)
    values = {**_addresses(visit), "found": found, "has_site": passkey_site(visit) is not None}
    return await visit.page(_PAGE, values)


async def begin_app(visit: PageRequest) -> TrioResponse:
    return await visit.page(_APP, await _app_values(visit), is_secret=True)


async def add_app(visit: PageRequest) -> TrioResponse:
    form, session = visit.form, visit.session
    assert session is not None, "the route lets nobody else in"
    nonce = form.text("nonce")
    try:
        added = await visit.ask_own(
            factors.ADD_APP,
            nonce=nonce,
            code=form.text("code"),
            name=form.text("name"),
            but=session.id,
        )
    except Refusal as error:
        return await visit.again(_APP, error, await _app_values(visit, nonce))
    return await _added(visit, added)


async def begin_passkey(visit: PageRequest) -> TrioResponse:
    site = passkey_site(visit)
    if site is None:
        return visit.go(security_path(visit.face.root))
    return await visit.page(_PASSKEY, await _passkey_values(visit, site))


async def add_passkey(visit: PageRequest) -> TrioResponse:
    site, session = passkey_site(visit), visit.session
    assert session is not None, "the route lets nobody else in"
    if site is None:
        return visit.go(security_path(visit.face.root))
    try:
        added = await visit.ask_own(
            factors.ADD_PASSKEY,
            **_of(site, visit),
            answer=visit.form.text(ANSWER_FIELD),
            name=visit.form.text("name"),
            but=session.id,
        )
    except Refusal as error:
        return await visit.again(_PASSKEY, error, await _passkey_values(visit, site))
    return await _added(visit, added)


async def ask_remove(visit: PageRequest) -> TrioResponse:
    """What the removal of a factor means; the list, where it is gone."""
    values = await _remove_values(visit)
    if values is None:
        return visit.go(security_path(visit.face.root))
    return await visit.page(_REMOVE, values)


async def remove(visit: PageRequest) -> TrioResponse:
    try:
        await visit.ask_own(factors.REMOVE, factor_id=visit.form.text("factor_id"))
    except Conflict as error:
        return await visit.again(_REMOVE, error, await _remove_values(visit))
    return visit.go(security_path(visit.face.root), REMOVED)


async def _remove_values(visit: PageRequest) -> dict[str, Any] | None:
    """The factor and what is left without it; None: it is gone."""
    found = await visit.ask_own(factors.LIST)
    wanted = visit.form.text("factor_id")
    for each in found.factors:
        if each.id == wanted:
            left = len(found.factors) - 1
            return {**_addresses(visit), "factor": each, "left": left, "is_needed": found.is_needed}
    return None


async def renew_codes(visit: PageRequest) -> TrioResponse:
    made = await visit.ask_own(factors.RENEW_CODES)
    return await _codes_page(visit, made.recovery_codes)


async def _added(visit: PageRequest, added: AddedFactor) -> TrioResponse:
    if added.recovery_codes:
        return await _codes_page(visit, added.recovery_codes)
    return visit.go(security_path(visit.face.root), ADDED)


async def _codes_page(visit: PageRequest, codes: tuple[str, ...]) -> TrioResponse:
    return await visit.page(_CODES, {**_addresses(visit), "codes": codes}, is_secret=True)


async def _app_values(visit: PageRequest, nonce: str = "") -> dict[str, Any]:
    begun = await visit.ask_own(factors.BEGIN_APP, nonce=nonce or None)
    return {
        **_addresses(visit),
        "begun": begun,
        "form": visit.form,
        "qr": qr_code(begun.address),
        "secret": " ".join(begun.secret[at : at + 4] for at in range(0, len(begun.secret), 4)),
    }


async def _passkey_values(visit: PageRequest, site: PasskeySite) -> dict[str, Any]:
    begun = await visit.ask_own(factors.BEGIN_PASSKEY, **_of(site, visit))
    return {**_addresses(visit), "question": begun.question, "form": visit.form}


def _of(site: PasskeySite, visit: PageRequest) -> dict[str, str]:
    return {"host": site.host, "origin": site.origin, "cookie": visit.cookie}


def _addresses(visit: PageRequest) -> dict[str, str]:
    root = visit.face.root
    return {"here": security_path(root), "account": f"{root}/account"}


def qr_code(text: str) -> Markup:
    """A text as the SVG of a QR code, without styles."""
    # Imported here: an idle service needs no factor.
    import segno

    drawn = segno.make(text, error="m").svg_inline(
        scale=_QR_SCALE, dark="#000", light="#fff", omitsize=False, svgclass="qr", lineclass=None
    )
    return Markup(drawn)  # noqa: S704 -- numbers and colours of a drawing; the text is not in it


def routes(root: str) -> tuple[PageRoute, ...]:
    """The addresses below ``root``."""
    place = security_path(root)
    page = partial(PageRoute, access=own_access(root), before_factor=True)
    post = partial(page, method="POST")
    return (
        page(path=place, view=show),
        page(path=f"{place}/app", view=begin_app),
        post(path=f"{place}/app", view=add_app, once=True),
        page(path=f"{place}/passkey", view=begin_passkey),
        post(path=f"{place}/passkey", view=add_passkey, once=True),
        page(path=f"{place}/remove", view=ask_remove),
        post(path=f"{place}/remove", view=remove),
        post(path=f"{place}/codes", view=renew_codes, once=True),
    )
