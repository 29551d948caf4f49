"""Settings that owners change: name, time zone, encoding of texts, daily limit."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.money import money
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.people.key_age import GRACE_MS
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, Words
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.sms.typed import Purpose, typed

SAVED: Final = N_("The settings are saved, and apply at once.")
_PAGE: Final = "settings/show.html"


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    try:
        await request.ask_here(
            organizations.SET,
            name=form.text("name"),
            time_zone=form.text("time_zone"),
            smart_encoding=form.ticked("smart_encoding"),
            lean_answers=form.ticked("lean_answers"),
            factor_required=form.ticked("factor_required"),
            key_age_days=_days(form.text("key_age_days")),
            owner_spend_cap=form.amount("owner_spend_cap") or None,
            **as_seen(form),
        )
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("settings"), SAVED)


def _days(text: str) -> int | str | None:
    """The days that were typed; what is no number is refused by the engine."""
    days = typed(text, Purpose.NUMBER)
    return int(days) if days.isascii() and days.isdigit() else days or None


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused form."""
    form = None if error is None else request.form
    here = {"organization_id": request.organization_id}
    organization, version = await request.ask_to_edit(organizations.SHOW, **here)
    stored = _stored(request, organization)
    return {
        "organization": organization,
        "stored": stored,
        "earliest": request.formats.now_ms + GRACE_MS,
        "form": form,
        **edit(error, form, version, stored),
    }


def _stored(request: PageRequest, organization: Organization) -> dict[str, StoredField]:
    """The fields of the form, as they are stored."""
    words, cap = request.words, organization.owner_spend_cap
    return {
        "name": StoredField(words("Name"), organization.name),
        "time_zone": StoredField(words("Time zone"), organization.time_zone),
        "owner_spend_cap": StoredField(
            words("Spend at most a day"),
            "" if cap is None else money(cap),
            None if cap is None else request.formats.money(cap),
            is_amount=True,
        ),
        "key_age_days": StoredField(
            words("Days that a key works at most"),
            "" if organization.key_age_days is None else str(organization.key_age_days),
        ),
        "smart_encoding": _box(
            words,
            words("Replace characters that would make a text Unicode and more expensive"),
            is_ticked=organization.smart_encoding,
        ),
        "lean_answers": _box(
            words,
            words("Reduced answers for programs written for another service"),
            is_ticked=organization.lean_answers,
        ),
        "factor_required": _box(
            words, words("Members need a second factor"), is_ticked=organization.factor_required
        ),
    }


def _box(words: Words, label: Markup, *, is_ticked: bool) -> StoredField:
    shown = words("yes") if is_ticked else words("no")
    return StoredField(label, "yes" if is_ticked else "", shown)


ROUTES: Final = (
    PageRoute(path="/app/<org>/settings", view=shows(_PAGE, _values), access=PageAccess.OWNER),
    PageRoute(path="/app/<org>/settings", view=save, access=PageAccess.OWNER, method="POST"),
)
