"""Verify: the text of the code messages, the rules of a code, and how often one is sent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Invalid, Refusal
from risala.engine.model.records import senders
from risala.http.web.access import PageAccess
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

SAVED: Final = N_("Saved. Codes that are sent from now on follow it.")
_PAGE: Final = "verify/settings.html"
LABELS: Final = {
    "language": N_("Language where none is asked for"),
    "template": N_("Text without a language"),
    "sender": N_("Sender"),
    "code_length": N_("Digits"),
    "expiry_minutes": N_("Good for"),
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
_CENTS: Final = 100


async def show(visit: PageRequest) -> TrioResponse:
    found = await visit.perform_here("verify.config")
    return await visit.page(_PAGE, await _values(visit, found))


async def save(visit: PageRequest) -> TrioResponse:
    form = visit.form
    stored = await visit.perform_here("verify.config")
    try:
        await visit.perform_here("verify.config", **_asked(form, stored))
    except Refusal as error:
        found = await visit.perform_here("verify.config")
        values = await _values(visit, found, error)
        return await visit.wrong(_PAGE, _faults(visit, error, found), values)
    return visit.go(visit.at("verify/settings"), SAVED)


async def choose_language(visit: PageRequest) -> TrioResponse:
    """The default language of codes, with one button."""
    language = visit.form.text("language")
    await visit.perform_here("verify.config", language=language)
    back = "start" if visit.form.text("back") == "start" else "verify/settings"
    return visit.go(visit.at(back), SAVED)


def offers_language(visit: PageRequest, found: dict[str, Any]) -> bool:
    """Whether no language of codes was chosen (they are in English), and the reader may choose."""
    settings = found["settings"]
    return visit.may("developer") and not (settings["language"] or settings["template"])


def _asked(form: SentForm, stored: dict[str, Any]) -> dict[str, object]:
    """The settings of a form; a text equal to the built-in one is not a setting."""
    built_in = stored["builtIn"]
    # As typed: the engine reads them, and refuses a text that is no number under its name.
    asked: dict[str, object] = {name: form.text(name) for name in stored["bounds"]}
    own = {name: form.text(_field_of(name)) for name in built_in}
    own = {name: text for name, text in own.items() if text != built_in[name]}
    asked["template"] = own.pop("default", "") or None
    asked["templates"] = {name: text for name, text in own.items() if text}
    asked["language"] = form.text("language") or None
    asked["sender"] = form.text("sender") or None
    for name in _LISTS:
        asked[name] = form.lines(name)
    return {**asked, **as_seen(form)}


def _field_of(language: str) -> str:
    return "template" if language == "default" else f"template_{language}"


def _faults(visit: PageRequest, error: Refusal, stored: dict[str, Any]) -> dict[str, Markup]:
    """The engine's faults under the fields of the form, in the reader's words."""
    if not isinstance(error, Invalid):
        return faults_of(visit.words, error)
    words, found = visit.words, {}
    entries = visit.formats.num(stored["entriesMax"])
    for fault in error.faults:
        name, _, rest = fault.path.partition(".")
        if bounds := stored["bounds"].get(name):
            numbers = {each: visit.formats.num(bounds[each]) for each in ("low", "high")}
            found[name] = words("Write a whole number from {low} to {high}.", **numbers)
        elif name in ("template", "templates"):
            found[_field_of(rest or "default")] = words(
                "The text must contain {code}. It may contain {minutes}, nothing else in braces,"
                " and has at most {count} characters.",
                code=visit.code("{{code}}"),
                minutes=visit.code("{{expiry_minutes}}"),
                count=visit.formats.num(stored["templateMax"]),
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
    return found or faults_of(words, error)


def _stored(visit: PageRequest, found: dict[str, Any]) -> dict[str, StoredField]:
    """The settings by the fields of the form, as they are stored."""
    words, settings = visit.words, found["settings"]
    own = {"default": settings["template"], **settings["templates"]}
    stored = {_field_of(name): own.get(name) or text for name, text in found["builtIn"].items()}
    stored |= {name: str(settings[name]) for name in found["bounds"]}
    stored |= {name: "\n".join(settings[name]) for name in _LISTS}
    stored["language"] = settings["language"] or ""
    stored["sender"] = settings["sender"] or ""
    labels = {_field_of(name): OWN_NAMES[name] for name in found["builtIn"] if name != "default"}
    labels |= {name: words(label) for name, label in LABELS.items()}
    fields = {name: StoredField(labels.get(name, name), value) for name, value in stored.items()}
    chosen = stored["language"]
    fields["language"] = StoredField(labels["language"], chosen, OWN_NAMES.get(chosen))
    return fields


async def _values(
    visit: PageRequest, found: dict[str, Any], error: Refusal | None = None
) -> dict[str, Any]:
    """The values of the page: the stored ones, or those of a refused form."""
    names = (await visit.ask_here(senders.LIST)).senders
    settings = found["settings"]
    approved = [each.name for each in names if each.status == "approved"]
    stored = _stored(visit, found)
    given = SentForm() if error is None else visit.form
    size = found["sizes"]["default"]
    digits, minutes = settings["code_length"], settings["expiry_minutes"]
    return {
        **edit(error, None if error is None else given, found["version"], stored),
        "labels": {name: each.label for name, each in stored.items()},
        "bounds": found["bounds"],
        "texts": [
            {
                "name": _field_of(name),
                "language": None if name == "default" else name,
                "label": None if name == "default" else OWN_NAMES[name],
                "text": (text := given.text(_field_of(name), stored[_field_of(name)].value)),
                "preview": text.replace("{{code}}", _SHOWN_CODE[:digits]).replace(
                    "{{expiry_minutes}}", str(minutes)
                ),
                "size": found["sizes"][name],
            }
            for name in found["builtIn"]
        ],
        "numbers": {name: given.text(name, stored[name].value) for name in found["bounds"]},
        "lists": {name: given.text(name, stored[name].value) for name in _LISTS},
        "offers_language": error is None and offers_language(visit, found),
        "chosen_language": given.text("language", stored["language"].value),
        "language_choices": [
            ("", visit.words("None: the text without a language")),
            *((name, OWN_NAMES[name]) for name in found["builtIn"] if name != "default"),
        ],
        "sender": given.text("sender", stored["sender"].value),
        "sender_choices": [(name, name) for name in approved],
        "code": _SHOWN_CODE[:digits],
        "minutes": minutes,
        "price_minor": int(Decimal(size["price"]) * _CENTS) // size["segments"],
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
