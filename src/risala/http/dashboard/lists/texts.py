"""Saved texts: what an organization writes often, in the languages of its recipients."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import SavedText
from risala.engine.features.tables.records import NAME_MAX
from risala.engine.model.errors import Refusal
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX

SAVED: Final = N_("The text is saved.")
DELETED: Final = N_("The text is deleted.")
LANGUAGES: Final = (("fr", "Français"), ("ar", "العربية"), ("en", "English"))
"""Of texts, in their own words."""
_ALL: Final = "texts/all.html"
_ONE: Final = "texts/one.html"
_FIELDS: Final = ("name", "language", "text")


def _offered(visit: PageRequest) -> dict[str, object]:
    """What the fields of a text offer."""
    words = visit.words
    return {
        "languages": LANGUAGES,
        "name_max": NAME_MAX,
        "text_max": TEXT_CHARACTERS_MAX,
        "labels": {"name": words("Name"), "language": words("Language"), "text": words("Text")},
    }


async def _values(visit: PageRequest) -> dict[str, object]:
    found = await visit.ask_here(recipient_lists.TEXT_LIST)
    shown = {name: visit.form.text(name) for name in _FIELDS}
    shown["language"] = shown["language"] or visit.words.language.value
    return {
        "texts": found.texts,
        "titles": dict(LANGUAGES),
        "shown": shown,
        **_offered(visit),
    }


async def create(visit: PageRequest) -> TrioResponse:
    asked = {name: visit.form.text(name) for name in _FIELDS}
    try:
        await visit.ask_here(recipient_lists.TEXT_CREATE, **asked)
    except Refusal as error:
        return await visit.again(_ALL, error, await _values(visit))
    return visit.go(visit.at("texts"), SAVED)


def id_of(visit: PageRequest) -> str:
    """The text that the address names."""
    return visit.arguments.get("saved_text_id", "")


async def _one(visit: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    found = await visit.ask_to_edit(recipient_lists.TEXT_SHOW, saved_text_id=id_of(visit))
    stored = _stored(visit, found.value)
    typed = None if error is None else visit.form
    return {
        "saved": found.value,
        "here": f"texts/{found.value.id}",
        "title": dict(LANGUAGES).get(found.value.language, found.value.language),
        "shown": {
            name: each.value if typed is None else typed.text(name) for name, each in stored.items()
        },
        **_offered(visit),
        **edit(error, typed, found.version or 0, stored),
    }


def _stored(visit: PageRequest, text: SavedText) -> dict[str, StoredField]:
    words = visit.words
    return {
        "name": StoredField(words("Name"), text.name),
        "language": StoredField(
            words("Language"), text.language, dict(LANGUAGES).get(text.language)
        ),
        "text": StoredField(words("Text"), text.text),
    }


async def change(visit: PageRequest) -> TrioResponse:
    asked = {name: visit.form.text(name) for name in _FIELDS}
    try:
        await visit.ask(
            recipient_lists.TEXT_SET,
            saved_text_id=id_of(visit),
            **asked,
            **as_seen(visit.form),
        )
    except Refusal as error:
        return await visit.again(_ONE, error, await _one(visit, error))
    return visit.go(visit.at("texts"), SAVED)


async def delete(visit: PageRequest) -> TrioResponse:
    await visit.ask(recipient_lists.TEXT_DELETE, saved_text_id=id_of(visit))
    return visit.go(visit.at("texts"), DELETED)


_TEXTS: Final = "/app/<org>/texts"
_TEXT: Final = f"{_TEXTS}/<saved_text_id>"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(path=_TEXTS, view=shows(_ALL, _values), access=PageAccess.VIEWER),
    PageRoute(path=_TEXTS, view=create, access=_DEVELOPER, method="POST", once=True),
    PageRoute(path=_TEXT, view=shows(_ONE, _one), access=PageAccess.VIEWER),
    PageRoute(path=_TEXT, view=change, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_TEXT}/delete", view=shows("texts/delete.html", _one), access=_DEVELOPER),
    PageRoute(path=f"{_TEXT}/delete", view=delete, access=_DEVELOPER, method="POST"),
)
