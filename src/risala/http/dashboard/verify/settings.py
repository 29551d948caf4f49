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
from risala.http.web.languages import N_
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
    "client_ip_per_hour": N_("For one user’s address"),
    "app_hashes": N_("Hashes of Android apps"),
    "origins": N_("Hosts of web pages"),
}
"""The labels of the fields; the texts by language use the language's own name."""
_TICKED: Final = ("own_codes", "never_share")
_LISTS: Final = ("app_hashes", "origins")
_SHOWN_CODE: Final = "482193712"
"""The code of the preview: as many digits of it as a code has."""


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_PAGE, await _values(request, *await _config(request)))


async def _config(request: PageRequest) -> Versioned[CodeConfiguration]:
    return await request.ask_to_edit(CONFIG, organization_id=request.organization_id)


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    stored = await request.ask_here(CONFIG)
    try:
        await request.ask_here(CONFIG, **_asked(form, stored))
    except Refusal as error:
        configuration, version = await _config(request)
        values = await _values(request, configuration, version, error)
        return await request.wrong(_PAGE, _faults(request, error, configuration), values)
    return request.go(request.at("verify/settings"), SAVED)


async def choose_language(request: PageRequest) -> TrioResponse:
    """The default language of codes, with one button."""
    language = request.form.text("language")
    await request.ask_here(CONFIG, language=language)
    back = "start" if request.form.text("back") == "start" else "verify/settings"
    return request.go(request.at(back), SAVED)


def offers_language(request: PageRequest, settings: CodeSettings) -> bool:
    """Whether no language of codes was chosen (they are in English), and the reader may choose."""
    return request.may("developer") and not (settings.language or settings.template)


def _asked(form: SentForm, stored: CodeConfiguration) -> dict[str, object]:
    """The settings of a form; a text equal to the built-in one is not a setting."""
    # As typed: the engine reads them, and refuses a text that is no number under its name. A page
    # that was opened before an upgrade has no field for a newer setting, which stays as it is.
    arguments: dict[str, object] = {
        name: form.text(name) for name in stored.bounds if name in form.fields
    }
    kept = {ANY_LANGUAGE: stored.settings.template, **stored.settings.templates}
    own = {
        name: form.text(field) if (field := _field_of(name)) in form.fields else kept.get(name)
        for name in stored.built_in
    }
    own = {name: text for name, text in own.items() if text != stored.built_in[name]}
    arguments["template"] = own.pop(ANY_LANGUAGE, None) or None
    arguments["templates"] = {name: text for name, text in own.items() if text}
    arguments["language"] = form.text("language") or None
    arguments["sender"] = form.text("sender") or None
    arguments |= {name: form.ticked(name) for name in _TICKED}
    for name in _LISTS:
        arguments[name] = form.lines(name)
    return {**arguments, **as_seen(form)}


def _field_of(language: str) -> str:
    return "template" if language == ANY_LANGUAGE else f"template_{language}"


def _faults(request: PageRequest, error: Refusal, stored: CodeConfiguration) -> dict[str, Markup]:
    """The engine's faults under the fields of the form, in the reader's words."""
    if not isinstance(error, Invalid):
        return faults_of(request.words, error, request.plan)
    words, faults = request.words, {}
    entries = request.formats.num(stored.entries_max)
    for fault in error.faults:
        name, _, rest = fault.path.partition(".")
        if bounds := stored.bounds.get(name):
            low, high = request.formats.nums((bounds.low, bounds.high))
            faults[name] = words("Write a whole number from {low} to {high}.", low=low, high=high)
        elif name in ("template", "templates"):
            faults[_field_of(rest or ANY_LANGUAGE)] = words(
                "The text must contain {code}. It may contain {minutes}, nothing else in braces,"
                " and has at most {count} characters.",
                code=request.code("{{code}}"),
                minutes=request.code("{{expiry_minutes}}"),
                count=request.formats.num(stored.template_max),
            )
        elif name == "sender":
            faults[name] = words("This sender is not approved. Choose another one.")
        elif name == "app_hashes":
            faults[name] = words(
                "An app hash has 11 letters and digits. At most {count}, one a line.", count=entries
            )
        elif name == "origins":
            faults[name] = words(
                "A host looks like {example}, without a path. At most {count}, one a line.",
                count=entries,
                example=request.code("shop.example"),
            )
    return faults or faults_of(words, error, request.plan)


def _fault_fields(error: Refusal | None) -> set[str]:
    """The fields of texts that an error is about."""
    faults = error.faults if isinstance(error, Invalid) else ()
    return {_field_of(each.path.partition(".")[2]) for each in faults}


def _stored(request: PageRequest, configuration: CodeConfiguration) -> dict[str, StoredField]:
    """The settings by the fields of the form, as they are stored."""
    settings = configuration.settings
    own = {ANY_LANGUAGE: settings.template, **settings.templates}
    stored = {
        _field_of(name): own.get(name) or text for name, text in configuration.built_in.items()
    }
    stored |= {name: str(getattr(settings, name)) for name in configuration.bounds}
    stored |= {name: "\n".join(getattr(settings, name)) for name in _LISTS}
    chosen = settings.language or ""
    stored |= {"language": chosen, "sender": settings.sender or ""}
    languages = own_names(configuration)
    labels = {_field_of(name): own for name, own in languages.items()}
    labels |= {name: request.words(label) for name, label in LABELS.items()}
    names = {"language": languages.get(chosen)}
    return {
        name: StoredField(labels.get(name, name), value, names.get(name))
        for name, value in stored.items()
    }


def own_names(configuration: CodeConfiguration) -> dict[str, str]:
    """The languages of codes, those of the pages first, and the name of each in itself."""
    names = configuration.language_names
    first = {each.value: names[each.value] for each in Language}
    return {**first, **names}


def _text_of(
    configuration: CodeConfiguration,
    name: str,
    label: str | None,
    text: str,
    *,
    ends_with_line: bool,
) -> dict[str, Any]:
    """A text as the page shows it, with its preview and its parts."""
    settings, line = configuration.settings, configuration.never_share[name]
    preview = text.replace("{{code}}", _SHOWN_CODE[: settings.code_length])
    preview = preview.replace("{{expiry_minutes}}", str(settings.expiry_minutes))
    return {
        "name": _field_of(name),
        "language": None if name == ANY_LANGUAGE else name,
        "label": label,
        "text": text,
        "line": line,
        "preview": f"{preview}\n{line}" if ends_with_line else preview,
        "size": configuration.sizes[name],
        "with_lines": [each for each in configuration.autofill_sizes if each.language == name],
    }


def _is_folded(name: str, settings: CodeSettings) -> bool:
    """Whether a text is among the further languages: neither one of the pages' nor used."""
    is_first = name == ANY_LANGUAGE or name in {each.value for each in Language}
    return not is_first and name != settings.language and name not in settings.templates


async def _values(
    request: PageRequest,
    configuration: CodeConfiguration,
    version: int | None,
    error: Refusal | None = None,
) -> dict[str, Any]:
    """The values of the page: the stored ones, or those of a refused form."""
    names = (await request.ask_here(senders.LIST)).senders
    settings, stored = configuration.settings, _stored(request, configuration)
    form = SentForm() if error is None else request.form
    size, languages = configuration.sizes[ANY_LANGUAGE], own_names(configuration)
    warns = settings.never_share if error is None else form.ticked("never_share")
    texts = {
        name: _text_of(
            configuration,
            name,
            languages.get(name),
            form.text(_field_of(name), stored[_field_of(name)].value),
            ends_with_line=warns,
        )
        for name in (ANY_LANGUAGE, *languages)
    }
    folded = [name for name in texts if _is_folded(name, settings)]
    return {
        **edit(error, None if error is None else form, version, stored),
        "labels": {name: each.label for name, each in stored.items()},
        "bounds": configuration.bounds,
        "texts": [each for name, each in texts.items() if name not in folded],
        "more_texts": [texts[name] for name in folded],
        "opens_more": any(_field_of(name) in _fault_fields(error) for name in folded),
        "numbers": {name: form.text(name, stored[name].value) for name in configuration.bounds},
        "lists": {name: form.text(name, stored[name].value) for name in _LISTS},
        "offers_language": error is None and offers_language(request, settings),
        "own_codes": settings.own_codes if error is None else form.ticked("own_codes"),
        "never_share": warns,
        "chosen_language": form.text("language", settings.language or ""),
        "language_choices": [
            ("", request.words("None: the text without a language")),
            *languages.items(),
        ],
        "sender": form.text("sender", settings.sender or ""),
        "sender_choices": [(each.name, each.name) for each in names if each.status == "approved"],
        "code": _SHOWN_CODE[: settings.code_length],
        "minutes": settings.expiry_minutes,
        "price_minor": size.price // size.segments,
        "abroad": await open_abroad(request, CountryUse.VERIFY),
        **await request.of_features("verify_settings"),
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
