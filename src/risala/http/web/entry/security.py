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


async def show(request: PageRequest) -> TrioResponse:
    enrolled = await request.ask_own(factors.LIST)
    values = {
        **_addresses(request),
        "found": enrolled,
        "has_site": passkey_site(request) is not None,
    }
    return await request.page(_PAGE, values)


async def begin_app(request: PageRequest) -> TrioResponse:
    return await request.page(_APP, await _app_values(request), is_secret=True)


async def add_app(request: PageRequest) -> TrioResponse:
    form, session = request.form, request.session
    assert session is not None, "the route lets nobody else in"
    nonce = form.text("nonce")
    try:
        added = await request.ask_own(
            factors.ADD_APP,
            nonce=nonce,
            code=form.text("code"),
            name=form.text("name"),
            but=session.id,
        )
    except Refusal as error:
        return await request.again(_APP, error, await _app_values(request, nonce))
    return await _added(request, added)


async def begin_passkey(request: PageRequest) -> TrioResponse:
    site = passkey_site(request)
    if site is None:
        return request.go(security_path(request.face.root))
    return await request.page(_PASSKEY, await _passkey_values(request, site))


async def add_passkey(request: PageRequest) -> TrioResponse:
    site, session = passkey_site(request), request.session
    assert session is not None, "the route lets nobody else in"
    if site is None:
        return request.go(security_path(request.face.root))
    try:
        added = await request.ask_own(
            factors.ADD_PASSKEY,
            **_of(site, request),
            answer=request.form.text(ANSWER_FIELD),
            name=request.form.text("name"),
            but=session.id,
        )
    except Refusal as error:
        return await request.again(_PASSKEY, error, await _passkey_values(request, site))
    return await _added(request, added)


async def ask_remove(request: PageRequest) -> TrioResponse:
    """What the removal of a factor means; the list, where it is gone."""
    values = await _remove_values(request)
    if values is None:
        return request.go(security_path(request.face.root))
    return await request.page(_REMOVE, values)


async def remove(request: PageRequest) -> TrioResponse:
    try:
        await request.ask_own(factors.REMOVE, factor_id=request.form.text("factor_id"))
    except Conflict as error:
        return await request.again(_REMOVE, error, await _remove_values(request))
    return request.go(security_path(request.face.root), REMOVED)


async def _remove_values(request: PageRequest) -> dict[str, Any] | None:
    """The factor and what is left without it; None: it is gone."""
    enrolled = await request.ask_own(factors.LIST)
    factor_id = request.form.text("factor_id")
    for each in enrolled.factors:
        if each.id == factor_id:
            left = len(enrolled.factors) - 1
            return {
                **_addresses(request),
                "factor": each,
                "left": left,
                "is_needed": enrolled.is_needed,
            }
    return None


async def renew_codes(request: PageRequest) -> TrioResponse:
    made = await request.ask_own(factors.RENEW_CODES)
    return await _codes_page(request, made.recovery_codes)


async def _added(request: PageRequest, added: AddedFactor) -> TrioResponse:
    if added.recovery_codes:
        return await _codes_page(request, added.recovery_codes)
    return request.go(security_path(request.face.root), ADDED)


async def _codes_page(request: PageRequest, codes: tuple[str, ...]) -> TrioResponse:
    return await request.page(_CODES, {**_addresses(request), "codes": codes}, is_secret=True)


async def _app_values(request: PageRequest, nonce: str = "") -> dict[str, Any]:
    begun = await request.ask_own(factors.BEGIN_APP, nonce=nonce or None)
    return {
        **_addresses(request),
        "begun": begun,
        "form": request.form,
        "qr": qr_code(begun.address),
        "secret": " ".join(begun.secret[at : at + 4] for at in range(0, len(begun.secret), 4)),
    }


async def _passkey_values(request: PageRequest, site: PasskeySite) -> dict[str, Any]:
    begun = await request.ask_own(factors.BEGIN_PASSKEY, **_of(site, request))
    return {**_addresses(request), "question": begun.question, "form": request.form}


def _of(site: PasskeySite, request: PageRequest) -> dict[str, str]:
    return {"host": site.host, "origin": site.origin, "cookie": request.cookie}


def _addresses(request: PageRequest) -> dict[str, str]:
    root = request.face.root
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
