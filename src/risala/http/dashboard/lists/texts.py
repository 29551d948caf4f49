"""Saved texts: what an organization writes often, in the languages of its recipients."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import SavedText
from risala.engine.features.tables.records import NAME_MAX
from risala.engine.model.errors import Refusal
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX

SAVED: Final = N_("The text is saved.")
DELETED: Final = N_("The text is deleted.")
LANGUAGES: Final = (("fr", "Français"), ("ar", "العربية"), ("en", "English"))
"""The languages of texts, each by its own name."""
_ALL: Final = "texts/all.html"
_ONE: Final = "texts/one.html"
_FIELDS: Final = ("name", "language", "text")


def _offered(request: PageRequest) -> dict[str, object]:
    """What the fields of a text offer."""
    words = request.words
    return {
        "languages": LANGUAGES,
        "name_max": NAME_MAX,
        "text_max": TEXT_CHARACTERS_MAX,
        "labels": {"name": words("Name"), "language": words("Language"), "text": words("Text")},
    }


async def _values(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(recipient_lists.TEXT_LIST)
    shown = {name: request.form.text(name) for name in _FIELDS}
    shown["language"] = shown["language"] or request.words.language.value
    return {
        "texts": listed.texts,
        "titles": dict(LANGUAGES),
        "shown": shown,
        **_offered(request),
    }


async def create(request: PageRequest) -> TrioResponse:
    arguments = {name: request.form.text(name) for name in _FIELDS}
    try:
        await request.ask_here(recipient_lists.TEXT_CREATE, **arguments)
    except Refusal as error:
        return await request.again(_ALL, error, await _values(request))
    return request.go(request.at("texts"), SAVED)


def id_of(request: PageRequest) -> str:
    """The text that the address names."""
    return request.arguments.get("saved_text_id", "")


async def _one(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    versioned = await request.ask_to_edit(recipient_lists.TEXT_SHOW, saved_text_id=id_of(request))
    stored = _stored(request, versioned.value)
    typed = None if error is None else request.form
    return {
        "saved": versioned.value,
        "here": f"texts/{versioned.value.id}",
        "title": dict(LANGUAGES).get(versioned.value.language, versioned.value.language),
        "shown": {
            name: each.value if typed is None else typed.text(name) for name, each in stored.items()
        },
        **_offered(request),
        **edit(error, typed, versioned.version or 0, stored),
    }


def _stored(request: PageRequest, text: SavedText) -> dict[str, StoredField]:
    words = request.words
    return {
        "name": StoredField(words("Name"), text.name),
        "language": StoredField(
            words("Language"), text.language, dict(LANGUAGES).get(text.language)
        ),
        "text": StoredField(words("Text"), text.text),
    }


async def change(request: PageRequest) -> TrioResponse:
    arguments = {name: request.form.text(name) for name in _FIELDS}
    try:
        await request.ask(
            recipient_lists.TEXT_SET,
            saved_text_id=id_of(request),
            **arguments,
            **as_seen(request.form),
        )
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request, error))
    return request.go(request.at("texts"), SAVED)


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(recipient_lists.TEXT_DELETE, saved_text_id=id_of(request))
    return request.go(request.at("texts"), DELETED)


_TEXTS: Final = "/app/<org>/texts"
_TEXT: Final = f"{_TEXTS}/<saved_text_id>"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=_TEXTS,
        view=shows(_ALL, _values),
        access=PageAccess.VIEWER,
        entry=NavItem("texts", "texts", N_("Texts"), key="x", after="lists"),
    ),
    PageRoute(path=_TEXTS, view=create, access=_DEVELOPER, method="POST", once=True),
    PageRoute(path=_TEXT, view=shows(_ONE, _one), access=PageAccess.VIEWER),
    PageRoute(path=_TEXT, view=change, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_TEXT}/delete", view=shows("texts/delete.html", _one), access=_DEVELOPER),
    PageRoute(path=f"{_TEXT}/delete", view=delete, access=_DEVELOPER, method="POST"),
)
