"""Verify: the text of the code messages, the rules of a code, and how often one is sent."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Invalid, Refusal
from risala.engine.model.people import Language
from risala.engine.model.records import senders
from risala.engine.model.records.asks import Versioned
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.records.verify.settings import (
    ANY_LANGUAGE,
    CONFIG,
    CodeConfiguration,
    CodeSettings,
)
from risala.http.dashboard.abroad import open_abroad
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

SAVED: Final = N_("Saved. Codes that are sent from now on follow it.")
_PAGE: Final = "verify/settings.html"
LABELS: Final = {
    "language": N_("Language if the request names none"),
    "template": N_("Text without a language"),
    "sender": N_("Sender"),
    "code_length": N_("Digits"),
    "expiry_minutes": N_("Valid for"),
    "attempts_max": N_("Wrong tries"),
    "per_phone_per_hour": N_("To one number"),
    "per_organization_per_hour": N_("To all numbers"),
    "app_hashes": N_("Hashes of Android apps"),
    "origins": N_("Hosts of web pages"),
}
"""The labels of the fields; the texts by language use the language's own name."""
_LISTS: Final = ("app_hashes", "origins")
_SHOWN_CODE: Final = "482193712"
"""The code of the preview: as many digits of it as a code has."""


async def show(visit: PageRequest) -> TrioResponse:
    return await visit.page(_PAGE, await _values(visit, *await _config(visit)))


async def _config(visit: PageRequest) -> Versioned[CodeConfiguration]:
    return await visit.ask_to_edit(CONFIG, organization_id=visit.organization_id)


async def save(visit: PageRequest) -> TrioResponse:
    form = visit.form
    stored = await visit.ask_here(CONFIG)
    try:
        await visit.ask_here(CONFIG, **_asked(form, stored))
    except Refusal as error:
        found, version = await _config(visit)
        values = await _values(visit, found, version, error)
        return await visit.wrong(_PAGE, _faults(visit, error, found), values)
    return visit.go(visit.at("verify/settings"), SAVED)


async def choose_language(visit: PageRequest) -> TrioResponse:
    """The default language of codes, with one button."""
    language = visit.form.text("language")
    await visit.ask_here(CONFIG, language=language)
    back = "start" if visit.form.text("back") == "start" else "verify/settings"
    return visit.go(visit.at(back), SAVED)


def offers_language(visit: PageRequest, settings: CodeSettings) -> bool:
    """Whether no language of codes was chosen (they are in English), and the reader may choose."""
    return visit.may("developer") and not (settings.language or settings.template)


def _asked(form: SentForm, stored: CodeConfiguration) -> dict[str, object]:
    """The settings of a form; a text equal to the built-in one is not a setting."""
    # As typed: the engine reads them, and refuses a text that is no number under its name.
    asked: dict[str, object] = {name: form.text(name) for name in stored.bounds}
    own = {name: form.text(_field_of(name)) for name in stored.built_in}
    own = {name: text for name, text in own.items() if text != stored.built_in[name]}
    asked["template"] = own.pop(ANY_LANGUAGE, "") or None
    asked["templates"] = {name: text for name, text in own.items() if text}
    asked["language"] = form.text("language") or None
    asked["sender"] = form.text("sender") or None
    for name in _LISTS:
        asked[name] = form.lines(name)
    return {**asked, **as_seen(form)}


def _field_of(language: str) -> str:
    return "template" if language == ANY_LANGUAGE else f"template_{language}"


def _faults(visit: PageRequest, error: Refusal, stored: CodeConfiguration) -> dict[str, Markup]:
    """The engine's faults under the fields of the form, in the reader's words."""
    if not isinstance(error, Invalid):
        return faults_of(visit.words, error, visit.plan)
    words, found = visit.words, {}
    entries = visit.formats.num(stored.entries_max)
    for fault in error.faults:
        name, _, rest = fault.path.partition(".")
        if bounds := stored.bounds.get(name):
            low, high = visit.formats.nums((bounds.low, bounds.high))
            found[name] = words("Write a whole number from {low} to {high}.", low=low, high=high)
        elif name in ("template", "templates"):
            found[_field_of(rest or ANY_LANGUAGE)] = words(
                "The text must contain {code}. It may contain {minutes}, nothing else in braces,"
                " and has at most {count} characters.",
                code=visit.code("{{code}}"),
                minutes=visit.code("{{expiry_minutes}}"),
                count=visit.formats.num(stored.template_max),
            )
        elif name == "sender":
            found[name] = words("This sender is not approved. Choose another one.")
        elif name == "app_hashes":
            found[name] = words(
                "An app hash has 11 letters and digits. At most {count}, one a line.", count=entries
            )
        elif name == "origins":
            found[name] = words(
                "A host looks like {example}, without a path. At most {count}, one a line.",
                count=entries,
                example=visit.code("shop.example"),
            )
    return found or faults_of(words, error, visit.plan)


def _stored(visit: PageRequest, found: CodeConfiguration) -> dict[str, StoredField]:
    """The settings by the fields of the form, as they are stored."""
    settings = found.settings
    own = {ANY_LANGUAGE: settings.template, **settings.templates}
    stored = {_field_of(name): own.get(name) or text for name, text in found.built_in.items()}
    stored |= {name: str(getattr(settings, name)) for name in found.bounds}
    stored |= {name: "\n".join(getattr(settings, name)) for name in _LISTS}
    chosen = settings.language or ""
    stored |= {"language": chosen, "sender": settings.sender or ""}
    languages = own_names(found)
    labels = {_field_of(name): own for name, own in languages.items()}
    labels |= {name: visit.words(label) for name, label in LABELS.items()}
    names = {"language": languages.get(chosen)}
    return {
        name: StoredField(labels.get(name, name), value, names.get(name))
        for name, value in stored.items()
    }


def own_names(found: CodeConfiguration) -> dict[str, str]:
    """The languages of codes, and the name of each in itself."""
    return {each: OWN_NAMES[Language(each)] for each in found.built_in if each != ANY_LANGUAGE}


async def _values(
    visit: PageRequest,
    found: CodeConfiguration,
    version: int | None,
    error: Refusal | None = None,
) -> dict[str, Any]:
    """The values of the page: the stored ones, or those of a refused form."""
    names = (await visit.ask_here(senders.LIST)).senders
    settings, stored = found.settings, _stored(visit, found)
    given = SentForm() if error is None else visit.form
    size, code = found.sizes[ANY_LANGUAGE], _SHOWN_CODE[: settings.code_length]
    minutes, languages = settings.expiry_minutes, own_names(found)
    return {
        **edit(error, None if error is None else given, version, stored),
        "labels": {name: each.label for name, each in stored.items()},
        "bounds": found.bounds,
        "texts": [
            {
                "name": _field_of(name),
                "language": None if name == ANY_LANGUAGE else name,
                "label": languages.get(name),
                "text": (text := given.text(_field_of(name), stored[_field_of(name)].value)),
                "preview": text.replace("{{code}}", code).replace(
                    "{{expiry_minutes}}", str(minutes)
                ),
                "size": found.sizes[name],
                "with_lines": [each for each in found.autofill_sizes if each.language == name],
            }
            for name in found.built_in
        ],
        "numbers": {name: given.text(name, stored[name].value) for name in found.bounds},
        "lists": {name: given.text(name, stored[name].value) for name in _LISTS},
        "offers_language": error is None and offers_language(visit, settings),
        "chosen_language": given.text("language", settings.language or ""),
        "language_choices": [
            ("", visit.words("None: the text without a language")),
            *languages.items(),
        ],
        "sender": given.text("sender", settings.sender or ""),
        "sender_choices": [(each.name, each.name) for each in names if each.status == "approved"],
        "code": code,
        "minutes": minutes,
        "price_minor": size.price // size.segments,
        "abroad": await open_abroad(visit, CountryUse.VERIFY),
    }


_SETTINGS: Final = "/app/<org>/verify/settings"
ROUTES: Final = (
    PageRoute(path=_SETTINGS, view=show, access=PageAccess.VIEWER),
    PageRoute(path=_SETTINGS, view=save, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(
        path=f"{_SETTINGS}/language",
        view=choose_language,
        access=PageAccess.DEVELOPER,
        method="POST",
    ),
)
