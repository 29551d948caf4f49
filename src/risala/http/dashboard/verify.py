"""Verify: the text of the code messages, the rules of a code, and how often one is sent."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Invalid, Refusal
from risala.http.web.access import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute
from risala.http.web.visit import Visit

SAVED: Final = N_("Saved. Codes that are sent from now on follow it.")
_PAGE: Final = "verify/settings.html"
_NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "code_length": (4, 8),
    "expiry_minutes": (1, 60),
    "attempts_max": (1, 100),
    "per_phone_per_hour": (1, 10_000),
    "per_organization_per_hour": (1, 1_000_000),
}
"""The settings that are numbers, and between which ones: the engine judges, the page tells."""
_LISTS: Final = ("app_hashes", "origins")
_SHOWN_CODE: Final = "482193712"
"""Of the preview: as many digits of it as a code has."""
_CENTS: Final = 100


async def to_first(visit: Visit) -> TrioResponse:
    """The entry of the menu leads to the first page of Verify that there is."""
    return visit.go(visit.at("verify/settings"))


async def show(visit: Visit) -> TrioResponse:
    return await visit.page(_PAGE, await _values(visit, None))


async def save(visit: Visit) -> TrioResponse:
    form = visit.form
    stored = await visit.perform_here("verify.config")
    try:
        await visit.perform_here("verify.config", **_asked(form, stored))
    except Refusal as error:
        return await visit.wrong(_PAGE, _faults(visit, error), await _values(visit, form))
    return visit.go(visit.at("verify/settings"), SAVED)


def _asked(form: SentForm, stored: dict[str, Any]) -> dict[str, object]:
    """The settings of a form; what stands there as it is built in is no setting."""
    built_in = stored["builtIn"]
    # As they were typed: the engine reads them, and refuses under its name what is no number.
    asked: dict[str, object] = {name: form.text(name) for name in _NUMBERS}
    own = {name: form.text(_field_of(name)) for name in built_in}
    own = {name: text for name, text in own.items() if text != built_in[name]}
    asked["template"] = own.pop("default", "") or None
    asked["templates"] = {name: text for name, text in own.items() if text}
    asked["sender"] = form.text("sender") or None
    for name in _LISTS:
        asked[name] = form.lines(name)
    version = form.text("version")
    if version.isdigit():
        asked["version"] = int(version)
    return asked


def _field_of(language: str) -> str:
    return "template" if language == "default" else f"template_{language}"


def _faults(visit: Visit, error: Refusal) -> dict[str, Markup]:
    """The engine's faults under the fields of the form, in the reader's words."""
    if not isinstance(error, Invalid):
        return faults_of(visit.words, error)
    words, found = visit.words, {}
    for fault in error.faults:
        name, _, rest = fault.path.partition(".")
        if name in _NUMBERS:
            low, high = _NUMBERS[name]
            numbers = {"low": visit.formats.num(low), "high": visit.formats.num(high)}
            found[name] = words("Write a whole number from {low} to {high}.", **numbers)
        elif name in ("template", "templates"):
            found[_field_of(rest or "default")] = words(
                "The text must contain {code}. It may contain {minutes}, nothing else in braces,"
                " and has at most {count} characters.",
                code=visit.code("{{code}}"),
                minutes=visit.code("{{expiry_minutes}}"),
                count=visit.formats.num(480),
            )
        elif name == "sender":
            found[name] = words("This sender is not approved. Choose another one.")
        elif name == "app_hashes":
            found[name] = words("An app hash has 11 letters and digits. At most 20, one a line.")
        elif name == "origins":
            found[name] = words(
                "A host looks like {example}, without a path. At most 20, one a line.",
                example=visit.code("shop.example"),
            )
    return found or faults_of(words, error)


async def _values(visit: Visit, form: SentForm | None) -> dict[str, Any]:
    """What the page shows: what is stored, or what a refused form says."""
    found = await visit.perform_here("verify.config")
    senders = (await visit.perform_here("sender.list"))["senders"]
    settings = found["settings"]
    approved = [each["name"] for each in senders if each["status"] == "approved"]
    own = {"default": settings["template"], **settings["templates"]}
    given = form or SentForm()
    size = found["sizes"]["default"]
    digits, minutes = settings["code_length"], settings["expiry_minutes"]
    return {
        "version": found.get("version"),
        "texts": [
            {
                "name": _field_of(name),
                "language": None if name == "default" else name,
                "label": None if name == "default" else OWN_NAMES[name],
                "text": (text := given.text(_field_of(name), own.get(name) or built_in)),
                "preview": text.replace("{{code}}", _SHOWN_CODE[:digits]).replace(
                    "{{expiry_minutes}}", str(minutes)
                ),
                "size": found["sizes"][name],
            }
            for name, built_in in found["builtIn"].items()
        ],
        "numbers": {name: given.text(name, str(settings[name])) for name in _NUMBERS},
        "lists": {name: given.text(name, "\n".join(settings[name])) for name in _LISTS},
        "sender": given.text("sender", settings["sender"] or ""),
        "sender_choices": [(name, name) for name in approved],
        "code": _SHOWN_CODE[:digits],
        "minutes": minutes,
        "price_minor": int(Decimal(size["price"]) * _CENTS) // size["segments"],
    }


_SETTINGS: Final = "/app/<org>/verify/settings"
ROUTES: Final = (
    PageRoute(path="/app/<org>/verify", view=to_first, access=PageAccess.VIEWER),
    PageRoute(path=_SETTINGS, view=show, access=PageAccess.VIEWER),
    PageRoute(path=_SETTINGS, view=save, access=PageAccess.DEVELOPER, method="POST"),
)
