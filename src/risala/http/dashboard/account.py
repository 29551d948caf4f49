"""The user's own account: name, language, e-mail address, devices, its end; and leaving an
organization."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import account
from risala.engine.model.records.people.users import VersionedUser
from risala.http.web.cookie_policy import LANGUAGE_COOKIE
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.entry.reader import device_name
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute, shows, shows_form
from risala.sms.typed import Purpose, typed

SAVED: Final = N_("Saved.")
SIGNED_OUT: Final = N_("The device is signed out.")
ALL_SIGNED_OUT: Final = N_("All other devices are signed out.")
ADDRESS_ASKED: Final = N_("Two codes are on their way: one to each address.")
ADDRESS_CHANGED: Final = N_("Your e-mail address is changed.")
ACCOUNT_DELETED: Final = N_("Your account is deleted.")
LEFT: Final = N_("You are no longer a member.")
_PLACE: Final = "/account"
_PAGE: Final = "account/show.html"
_LEAVE: Final = "account/leave.html"
_END: Final = "endings/account.html"
_CODE_FIELDS: Final = ("old_code", "new_code")


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    try:
        await request.ask(
            account.SET,
            name=form.text("name"),
            language=form.text("language"),
            **as_seen(form),
        )
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    reply = request.go(_PLACE, SAVED)
    # This language replaces one that was chosen at the foot of a page.
    request.cookie_policy.drop_cookie(reply, LANGUAGE_COOKIE)
    return reply


async def sign_out(request: PageRequest) -> TrioResponse:
    assert request.session is not None, "the route lets nobody else in"
    if session_id := request.form.text("session_id"):
        await request.ask(account.SIGN_OUT, session_id=session_id)
        return request.go(_PLACE, SIGNED_OUT)
    await request.ask(account.SIGN_OUT, but=request.session.id)
    return request.go(_PLACE, ALL_SIGNED_OUT)


async def change_email(request: PageRequest) -> TrioResponse:
    try:
        await request.ask(account.CHANGE_EMAIL, email=request.form.text("email"))
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    return request.go(_PLACE, ADDRESS_ASKED)


async def confirm_email(request: PageRequest) -> TrioResponse:
    codes = {name: code for name in _CODE_FIELDS if (code := request.form.text(name))}
    try:
        answer = await request.ask(account.CONFIRM_EMAIL, **codes)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    if answer.change is None:
        return request.go(_PLACE, ADDRESS_CHANGED)
    wrong = request.words.counted(
        "A code is wrong. {n} try is left.",
        "A code is wrong. {n} tries are left.",
        answer.attempts_left,
        n=answer.attempts_left,
    )
    return await request.wrong(_PAGE, {TOP: wrong}, await _values(request))


async def leave(request: PageRequest) -> TrioResponse:
    """As a user of this organization, so that the answer shows nothing about others."""
    try:
        await request.ask_own(account.LEAVE, organization_id=request.organization_id)
    except Refusal as error:
        return await request.wrong(_LEAVE, {TOP: refusal_sentence(request.words, error)})
    return request.go("/app", LEFT)


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    own = await request.ask(account.SHOW)
    return {
        "account": own,
        "form": request.form,
        **edit(
            error,
            None if error is None else request.form,
            own.user.version,
            _stored(request, own.user),
        ),
        "languages_shown": [(code.value, name) for code, name in OWN_NAMES.items()],
        "devices": (await request.ask(account.DEVICES)).devices,
        "device_name": device_name,
    }


def _stored(request: PageRequest, user: VersionedUser) -> dict[str, StoredField]:
    """The user's name and language from the form, as stored."""
    return {
        "name": StoredField(request.words("Name"), user.name),
        "language": StoredField(
            request.words("Language of pages and mails"), user.language, OWN_NAMES[user.language]
        ),
    }


async def delete_account(request: PageRequest) -> TrioResponse:
    address = typed(request.form.text("email"), Purpose.ADDRESS)
    if address.casefold() != request.user.email.casefold():
        faults = {"email": request.words("This is not the address of your account.")}
        return await request.wrong(_END, faults, await _ended(request))
    try:
        await request.ask(account.DELETE)
    except Refusal as error:
        faults = {TOP: refusal_sentence(request.words, error)}
        return await request.wrong(_END, faults, await _ended(request))
    reply = request.go("/sign-in", ACCOUNT_DELETED)
    request.cookie_policy.drop_cookie(reply, request.cookie_policy.session_cookie)
    return reply


async def _ended(request: PageRequest) -> dict[str, Any]:
    return {"account": await request.ask(account.SHOW)}


ROUTES: Final = (
    PageRoute(path=_PLACE, view=shows(_PAGE, _values), access=PageAccess.SIGNED_IN),
    PageRoute(path=_PLACE, view=save, access=PageAccess.SIGNED_IN, method="POST"),
    PageRoute(path=f"{_PLACE}/sign-out", view=sign_out, access=PageAccess.SIGNED_IN, method="POST"),
    PageRoute(
        path=f"{_PLACE}/email",
        view=change_email,
        access=PageAccess.SIGNED_IN,
        method="POST",
        once=True,
    ),
    PageRoute(
        path=f"{_PLACE}/email/confirm",
        view=confirm_email,
        access=PageAccess.SIGNED_IN,
        method="POST",
    ),
    PageRoute(path="/app/<org>/leave", view=shows_form(_LEAVE), access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/leave", view=leave, access=PageAccess.VIEWER, method="POST"),
    PageRoute(path="/account/delete", view=shows(_END, _ended), access=PageAccess.SIGNED_IN),
    PageRoute(
        path="/account/delete", view=delete_account, access=PageAccess.SIGNED_IN, method="POST"
    ),
)
