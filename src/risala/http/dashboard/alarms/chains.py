"""Chains of alarms: all of them, the form of each, who is on duty, and their alarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.alarms import records
from risala.engine.features.alarms.records import (
    CHAINS_MAX,
    INTERVAL_S,
    LINE_MAX,
    NAME_MAX,
    PEOPLE_MAX,
    ROUNDS,
    ROUNDS_MAX,
    TEXT_MAX,
    WORD,
    WORD_MAX,
    AlarmChain,
    AlarmState,
    RaisedAlarm,
)
from risala.engine.features.alarms.rules import person_of
from risala.engine.model.errors import Invalid, Refusal
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, NC_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("The changes are saved. Alarms that go on take them from their next step.")
MADE: Final = N_("It is saved. Raise a trial to see it work.")
RAISED: Final = N_("The alarm is raised: the first person is being written to.")
DELETED: Final = N_("It is deleted, with its alarms. Messages that left stay.")
BADGES: Final[Mapping[AlarmState, tuple[str, str]]] = {
    AlarmState.GOING: ("waiting", NC_("state of an alarm", "goes on")),
    AlarmState.ANSWERED: ("delivered", NC_("state of an alarm", "answered")),
    AlarmState.ENDED: ("canceled", NC_("state of an alarm", "ended")),
    AlarmState.UNANSWERED: ("failed", NC_("state of an alarm", "nobody answered")),
}
DAY_NAMES: Final = {
    "mon": N_("Monday"),
    "tue": N_("Tuesday"),
    "wed": N_("Wednesday"),
    "thu": N_("Thursday"),
    "fri": N_("Friday"),
    "sat": N_("Saturday"),
    "sun": N_("Sunday"),
}
LABELS: Final = {
    "name": N_("Name"),
    "people": N_("People"),
    "interval_seconds": N_("Seconds until the next person"),
    "rounds": N_("How often each is written to"),
    "word": N_("The word that stops it"),
    "language": N_("Language"),
    "from": N_("Sender"),
    "text": N_("What has happened"),
}
_ALL: Final = "alarms/all.html"
_NEW: Final = "alarms/new.html"
_ONE: Final = "alarms/one.html"


async def _list(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(records.LIST)
    names = {each.id: each.name for each in listed.chains}
    return {
        "chains": listed.chains,
        "chains_max": CHAINS_MAX,
        "going": [(each, names.get(each.chain_id, "")) for each in listed.going],
    }


def badge_of(request: PageRequest, alarm: RaisedAlarm) -> tuple[str, object]:
    look, word = BADGES[alarm.state]
    return look, request.words.among("state of an alarm", word)


# -- its form


def _offered(request: PageRequest) -> dict[str, object]:
    """What the fields of a chain offer."""
    words = request.words
    return {
        "languages": [(code, name) for code, name in OWN_NAMES.items()],
        "bounds": {
            "name": NAME_MAX,
            "people": PEOPLE_MAX,
            "line": LINE_MAX,
            "rounds": ROUNDS_MAX,
            "word": WORD_MAX,
            "text": TEXT_MAX,
        },
        "zone": request.organization.time_zone,
        "labels": {name: words(text) for name, text in LABELS.items()},
    }


def _typed(form: SentForm) -> dict[str, str]:
    """The form as it was sent."""
    return {name: form.text(name) for name in LABELS}


def _whole(form: SentForm, name: str) -> int:
    """
    Raises:
        Invalid: it is no number.
    """
    typed = form.text(name)
    if not (typed.isascii() and typed.isdigit() and len(typed) < 6):
        raise Invalid(name, "out_of_range", "This is no number.")
    return int(typed)


def _arguments(form: SentForm) -> dict[str, Any]:
    """A form as operations have it.

    Raises:
        Invalid: a number is none.
    """
    return {
        **{name: form.text(name) for name in ("name", "word", "language")},
        "people": form.lines("people"),
        "interval_seconds": _whole(form, "interval_seconds"),
        "rounds": _whole(form, "rounds"),
        "from": form.text("from") or None,
    }


async def _new(request: PageRequest) -> dict[str, object]:
    words = request.words
    shown = {"name": "", "people": "", "interval_seconds": str(INTERVAL_S)}
    shown |= {"rounds": str(ROUNDS), "word": WORD, "language": words.language.value, "from": ""}
    if request.http.method == "POST":
        shown = _typed(request.form)
    return {"shown": shown, **_offered(request)}


async def create(request: PageRequest) -> TrioResponse:
    try:
        made = await request.ask_here(records.CREATE, **_arguments(request.form))
    except Refusal as error:
        return await request.again(_NEW, error, await _new(request))
    return request.go(request.at(f"alarms/{made.id}"), MADE)


# -- one of them


def _id(request: PageRequest) -> str:
    return request.arguments.get("chain_id", "")


async def _one(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    versioned = await request.ask_to_edit(records.SHOW, chain_id=_id(request))
    view = versioned.value
    is_raising = "interval_seconds" not in request.form.fields
    typed = None if error is None or is_raising else request.form
    return {
        "chain": view.chain,
        "here": f"alarms/{view.chain.id}",
        "people": [_person(request, line, view.on_duty) for line in view.chain.people],
        "nobody": len(view.on_duty) > 1 and _is_everybody(view.chain, view.on_duty),
        "alarms": [(each, badge_of(request, each)) for each in view.alarms],
        "wait": request.formats.lasting(1000 * view.chain.interval_seconds),
        "text": request.form.text("text"),
        "is_raising": error is not None and is_raising,
        "shown": _shown(view.chain) if typed is None else _typed(typed),
        **_offered(request),
        **edit(error, typed, versioned.version or 0, _stored(request, view.chain)),
    }


def _person(request: PageRequest, line: str, duty: tuple[str, ...]) -> dict[str, object]:
    """Somebody of a chain, in the reader's words."""
    words, person = request.words, person_of(line)
    if person is None:
        return {"number": line, "days": "", "hours": "", "is_on": False}
    return {
        "number": person.number,
        "days": ", ".join(str(words(DAY_NAMES[each])) for each in person.days),
        "hours": "" if person.begin is None else f"{person.begin}–{person.end}",
        "is_on": person.number in duty,
    }


def _is_everybody(chain: AlarmChain, duty: tuple[str, ...]) -> bool:
    """Whether all are on duty though each has a shift: it is nobody's."""
    read = [person_of(line) for line in chain.people]
    have_shifts = all(each is not None and (each.days or each.begin) for each in read)
    return have_shifts and {each.number for each in read if each is not None} == {*duty}


def _shown(chain: AlarmChain) -> dict[str, str]:
    """A chain as its form has it."""
    return {
        "name": chain.name,
        "people": "\n".join(chain.people),
        "interval_seconds": str(chain.interval_seconds),
        "rounds": str(chain.rounds),
        "word": chain.word,
        "language": chain.language.value,
        "from": chain.sender or "",
        "text": "",
    }


def _stored(request: PageRequest, chain: AlarmChain) -> dict[str, StoredField]:
    shown = _shown(chain)
    return {
        name: StoredField(request.words(label), shown[name])
        for name, label in LABELS.items()
        if name != "text"
    }


async def change(request: PageRequest) -> TrioResponse:
    try:
        arguments = _arguments(request.form) | as_seen(request.form)
        await request.ask(records.SET, chain_id=_id(request), **arguments)
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request, error))
    return request.go(request.at(f"alarms/{_id(request)}"), SAVED)


async def raise_one(request: PageRequest) -> TrioResponse:
    text, mode = request.form.text("text"), request.mode.value
    try:
        raised = await request.ask(records.RAISE, chain_id=_id(request), text=text, mode=mode)
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request, error))
    return request.go(request.at(f"alarms/raised/{raised.id}"), RAISED)


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(records.DELETE, chain_id=_id(request))
    return request.go(request.at("alarms"), DELETED)


async def of_hook(request: PageRequest) -> dict[str, object]:
    """The chains whose alarm a hook may raise."""
    listed = (await request.ask_here(records.LIST)).chains
    return {"alarm_chains": [(each.id, each.name) for each in listed]}


_PAGE: Final = "/app/<org>/alarms"
_CHAIN: Final = f"{_PAGE}/<chain_id>"
_WRITES: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_ALL, _list),
        access=PageAccess.VIEWER,
        entry=NavItem("alarms", "alert", N_("Alarms"), key="p", after="webhooks"),
    ),
    PageRoute(path=f"{_PAGE}/new", view=shows(_NEW, _new), access=_WRITES),
    PageRoute(path=f"{_PAGE}/new", view=create, access=_WRITES, method="POST", once=True),
    PageRoute(path=_CHAIN, view=shows(_ONE, _one), access=PageAccess.VIEWER),
    PageRoute(path=_CHAIN, view=change, access=_WRITES, method="POST"),
    PageRoute(path=f"{_CHAIN}/raise", view=raise_one, access=_WRITES, method="POST", once=True),
    PageRoute(path=f"{_CHAIN}/delete", view=shows("alarms/ask.html", _one), access=_WRITES),
    PageRoute(path=f"{_CHAIN}/delete", view=delete, access=_WRITES, method="POST"),
)
