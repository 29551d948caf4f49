"""The user's own account: name, language, e-mail address, devices, and leaving an organization."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import account
from risala.engine.model.records.people.users import VersionedUser
from risala.http.web.cookie_policy import LANGUAGE_COOKIE
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.entry.devices import device_name
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved.")
SIGNED_OUT: Final = N_("The device is signed out.")
ALL_SIGNED_OUT: Final = N_("All other devices are signed out.")
ADDRESS_ASKED: Final = N_("Two codes are on their way: one to each address.")
ADDRESS_CHANGED: Final = N_("Your e-mail address is changed.")
LEFT: Final = N_("You are no longer a member.")
_PLACE: Final = "/account"
_PAGE: Final = "account/show.html"
_LEAVE: Final = "account/leave.html"
_CODE_FIELDS: Final = ("old_code", "new_code")


async def save(visit: PageRequest) -> TrioResponse:
    form = visit.form
    try:
        await visit.ask(
            account.SET,
            name=form.text("name"),
            language=form.text("language"),
            **as_seen(form),
        )
    except Refusal as error:
        return await visit.again(_PAGE, error, await _values(visit, error))
    reply = visit.go(_PLACE, SAVED)
    # This language replaces one that was chosen at the foot of a page.
    visit.cookie_policy.drop_cookie(reply, LANGUAGE_COOKIE)
    return reply


async def sign_out(visit: PageRequest) -> TrioResponse:
    assert visit.session is not None, "the route lets nobody else in"
    if session_id := visit.form.text("session_id"):
        await visit.ask(account.SIGN_OUT, session_id=session_id)
        return visit.go(_PLACE, SIGNED_OUT)
    await visit.ask(account.SIGN_OUT, but=visit.session.id)
    return visit.go(_PLACE, ALL_SIGNED_OUT)


async def change_email(visit: PageRequest) -> TrioResponse:
    try:
        await visit.ask(account.CHANGE_EMAIL, email=visit.form.text("email"))
    except Refusal as error:
        return await visit.again(_PAGE, error, await _values(visit))
    return visit.go(_PLACE, ADDRESS_ASKED)


async def confirm_email(visit: PageRequest) -> TrioResponse:
    codes = {name: code for name in _CODE_FIELDS if (code := visit.form.text(name))}
    try:
        answer = await visit.ask(account.CONFIRM_EMAIL, **codes)
    except Refusal as error:
        return await visit.again(_PAGE, error, await _values(visit))
    if answer.change is None:
        return visit.go(_PLACE, ADDRESS_CHANGED)
    wrong = visit.words.counted(
        "A code is wrong. {n} try is left.",
        "A code is wrong. {n} tries are left.",
        answer.attempts_left,
        n=answer.attempts_left,
    )
    return await visit.wrong(_PAGE, {TOP: wrong}, await _values(visit))


async def ask_leave(visit: PageRequest) -> TrioResponse:
    return await visit.page(_LEAVE)


async def leave(visit: PageRequest) -> TrioResponse:
    """As a user of this organization, so that the answer shows nothing about others."""
    try:
        await visit.ask_own(account.LEAVE, organization_id=visit.organization_id)
    except Refusal as error:
        return await visit.wrong(_LEAVE, {TOP: refusal_sentence(visit.words, error)})
    return visit.go("/app", LEFT)


async def _values(visit: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    found = await visit.ask(account.SHOW)
    return {
        "account": found,
        "form": visit.form,
        **edit(
            error,
            None if error is None else visit.form,
            found.user.version,
            _stored(visit, found.user),
        ),
        "languages_shown": [(code.value, name) for code, name in OWN_NAMES.items()],
        "devices": (await visit.ask(account.DEVICES)).devices,
        "device_name": device_name,
    }


def _stored(visit: PageRequest, user: VersionedUser) -> dict[str, StoredField]:
    """The user's name and language from the form, as stored."""
    return {
        "name": StoredField(visit.words("Name"), user.name),
        "language": StoredField(
            visit.words("Language of pages and mails"), user.language, OWN_NAMES[user.language]
        ),
    }


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
    PageRoute(path="/app/<org>/leave", view=ask_leave, access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/leave", view=leave, access=PageAccess.VIEWER, method="POST"),
)
