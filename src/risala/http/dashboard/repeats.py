"""Mailings that repeat: all of them, the form of each, its next runs and those that were due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.repeats import records
from risala.engine.features.repeats.records import (
    COUNT_MAX,
    DAYS,
    EVERY_MAX,
    NAME_MAX,
    REPEATS_MAX,
    MailingRepeat,
    MomentNote,
    RepeatReason,
    RepeatRun,
    RepeatState,
    RepeatUnit,
    RunOutcome,
)
from risala.engine.model.errors import Conflict, Invalid, Refusal
from risala.engine.model.records.asks import Ask
from risala.engine.model.states import Mode
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, NC_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import refusal_sentence
from risala.http.web.routes import PageRoute, PageView, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX

SAVED: Final = N_("The changes are saved.")
MADE: Final = N_("It is saved, and begins by itself at the time below.")
DONE: Final = {
    "pause": N_("It is paused: runs that come due meanwhile do not take place."),
    "go-on": N_("It goes on with the next run."),
    "end": N_("It has ended. Mailings that have begun go on."),
}
DELETED: Final = N_("It is deleted. Its mailings stay.")
BADGES: Final[Mapping[RepeatState, tuple[str, str]]] = {
    RepeatState.ACTIVE: ("sent", NC_("state of a repeat", "active")),
    RepeatState.PAUSED: ("paused", NC_("state of a repeat", "paused")),
    RepeatState.ENDED: ("canceled", NC_("state of a repeat", "ended")),
}
REASONS: Final[Mapping[RepeatReason, str]] = {
    RepeatReason.HAND: N_("by hand"),
    RepeatReason.RESTORED: N_(
        "The service was restored from a backup. Look what was sent, then let it go on."
    ),
    RepeatReason.UNTIL: N_("Its last day is over."),
    RepeatReason.COUNT: N_("It took place as often as it was to."),
    RepeatReason.LIST_GONE: N_("Its list is deleted."),
    RepeatReason.NO_MONEY: N_("The balance was not enough for two runs in a row."),
    RepeatReason.OWNER_LEFT: N_("Who made it is no member any more, or its key does not work."),
}
OUTCOMES: Final[Mapping[RunOutcome, str]] = {
    RunOutcome.MADE: N_("The people are being checked."),
    RunOutcome.STARTED: N_("sent to the list"),
    RunOutcome.MISSED: N_("skipped: the service was not there for an hour"),
    RunOutcome.NO_MONEY: N_("skipped: the mailing before still waited for money"),
    RunOutcome.EMPTY: N_("skipped: nobody on the list could be written to"),
    RunOutcome.REFUSED: N_("skipped"),
}
NOTES: Final[Mapping[MomentNote, str]] = {
    MomentNote.SHORT_MONTH: N_("This month has no such day: it is its last one."),
    MomentNote.SKIPPED_HOUR: N_("The clocks skip this hour: it is as much later."),
    MomentNote.SECOND_HOUR: N_("This hour comes twice: it is the first."),
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
UNITS: Final = {
    RepeatUnit.DAYS: N_("days"),
    RepeatUnit.WEEKS: N_("weeks"),
    RepeatUnit.MONTHS: N_("months"),
}
LABELS: Final = {
    "name": N_("Name"),
    "list_id": N_("List"),
    "text": N_("Text"),
    "sender": N_("Sender"),
    "every": N_("Every"),
    "unit": N_("Days, weeks or months"),
    "days": N_("Days"),
    "month_days": N_("Days of the month"),
    "time": N_("Time"),
    "starts_on": N_("First day"),
    "until": N_("Last day"),
    "count": N_("How often"),
    "from_hour": N_("From"),
    "to_hour": N_("Until"),
    "pace": N_("Messages a minute"),
}
_ALL: Final = "repeats/all.html"
_NEW: Final = "repeats/new.html"
_ONE: Final = "repeats/one.html"
_TEXTS: Final = ("name", "list_id", "text", "unit", "time", "starts_on", "until")
_NUMBERS: Final = ("every", "count", "from_hour", "to_hour", "pace")
_EDITED: Final = (*_TEXTS[:5], "until", *_NUMBERS, "sender", "month_days")


# -- the list


async def _list(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(records.LIST)
    names = await _lists(request)
    return {
        "repeats": [
            (each, _badge(request, each), _when(request, each), names.get(each.list_id, ""))
            for each in listed.repeats
            if (each.mode is Mode.TEST) == (request.mode == "test")
        ],
        "repeats_max": REPEATS_MAX,
        "lists": names,
    }


async def _lists(request: PageRequest) -> dict[str, str]:
    """The names of the organization's lists, by their ids."""
    listed = await request.ask_here(recipient_lists.LIST)
    return {each.id: each.name for each in listed.lists}


def _badge(request: PageRequest, repeat: MailingRepeat) -> tuple[str, object]:
    look, word = BADGES[repeat.state]
    return look, request.words.among("state of a repeat", word)


def _when(request: PageRequest, repeat: MailingRepeat) -> str:
    """When a repeat is due, in words."""
    words, every = request.words, repeat.every
    n = request.formats.num(every)
    often = {
        RepeatUnit.DAYS: words.counted("every {n} day", "every {n} days", every, n=n),
        RepeatUnit.WEEKS: words.counted("every {n} week", "every {n} weeks", every, n=n),
        RepeatUnit.MONTHS: words.counted("every {n} month", "every {n} months", every, n=n),
    }[repeat.unit]
    days = [str(words(DAY_NAMES[each])) for each in repeat.days]
    if repeat.unit is RepeatUnit.MONTHS:
        days = [str(each) for each in repeat.month_days]
    if repeat.unit is RepeatUnit.DAYS:
        days = []
    return " · ".join(filter(None, (str(often), ", ".join(days), f"\u2066{repeat.time}\u2069")))


# -- its form


def _offered(request: PageRequest, names: Mapping[str, str]) -> dict[str, object]:
    """What the fields of a repeat offer."""
    words = request.words
    return {
        "lists": [("", words("Choose a list")), *names.items()],
        "units": [(each.value, words(label)) for each, label in UNITS.items()],
        "day_names": [(each, words(DAY_NAMES[each])) for each in DAYS],
        "name_max": NAME_MAX,
        "text_max": TEXT_CHARACTERS_MAX,
        "every_max": EVERY_MAX,
        "count_max": COUNT_MAX,
        "zone": request.organization.time_zone,
        "labels": {name: words(text) for name, text in LABELS.items()},
    }


def _typed(request: PageRequest) -> dict[str, Any]:
    """The form as it was sent."""
    form = request.form
    names = (*_TEXTS, *_NUMBERS, "month_days")
    return {
        **{name: form.text(name) for name in names},
        "sender": form.text("from"),
        "days": form.all("days"),
    }


def _whole(form: SentForm, name: str) -> int | None:
    """A number of a field; None: it is empty. Raises ``Invalid``: it is no number."""
    typed = form.text(name)
    if not typed:
        return None
    if not (typed.isascii() and typed.isdigit() and len(typed) < 10):
        raise Invalid(name, "out_of_range", "This is no number.")
    return int(typed)


def _month_days(form: SentForm) -> list[int]:
    """Days with commas or spaces between. Raises ``Invalid``: one is no number."""
    typed = form.text("month_days").replace(",", " ").replace("،", " ").split()
    if any(not (each.isascii() and each.isdigit() and len(each) < 3) for each in typed):
        raise Invalid("month_days", "out_of_range", "These are no days of a month.")
    return [int(each) for each in typed]


def _arguments(form: SentForm) -> dict[str, Any]:
    """A form as operations have it. Raises ``Invalid``: a number is none."""
    numbers = {name: _whole(form, name) for name in _NUMBERS}
    return {
        **{name: form.text(name) for name in _TEXTS if form.text(name) or name == "until"},
        **{name: value for name, value in numbers.items() if value is not None},
        "count": _whole(form, "count") or 0,
        "pace": _whole(form, "pace"),
        "month_days": _month_days(form),
        "days": [*form.all("days")],
        "from": form.text("from") or None,
    }


async def _new(request: PageRequest) -> dict[str, object]:
    names = await _lists(request)
    shown: dict[str, Any] = dict.fromkeys((*_TEXTS, *_NUMBERS, "sender", "month_days"), "")
    shown |= {"unit": "weeks", "every": "1", "time": "10:00", "from_hour": "8", "to_hour": "20"}
    shown |= {"days": ("mon",), "list_id": request.form.text("list")}
    if request.http.method == "POST":
        shown = _typed(request)
    return {"shown": shown, "has_lists": bool(names), **_offered(request, names)}


async def create(request: PageRequest) -> TrioResponse:
    try:
        arguments = {**_arguments(request.form), "mode": request.mode}
        made = await request.ask_here(records.CREATE, **arguments)
    except Refusal as error:
        return await request.again(_NEW, error, await _new(request))
    return request.go(request.at(f"repeats/{made.id}"), MADE)


# -- one of them


def _id(request: PageRequest) -> str:
    return request.arguments.get("repeat_id", "")


async def _one(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    versioned = await request.ask_to_edit(records.SHOW, repeat_id=_id(request))
    view = versioned.value
    repeat, names = view.repeat, await _lists(request)
    typed = None if error is None else request.form
    return {
        "repeat": repeat,
        "here": f"repeats/{repeat.id}",
        "badge_of": _badge(request, repeat),
        "reason": None if repeat.reason is None else request.words(REASONS[repeat.reason]),
        "when": _when(request, repeat),
        "list_name": names.get(repeat.list_id),
        "upcoming": [
            (
                request.formats.weekday(each.at),
                each.at,
                None if each.note is None else request.words(NOTES[each.note]),
            )
            for each in view.upcoming
        ],
        "past": [(each, _outcome(request, each)) for each in view.past],
        "shown": _shown(repeat) if typed is None else _typed(request),
        **_offered(request, names),
        **edit(error, typed, versioned.version or 0, _stored(request, repeat)),
    }


def _outcome(request: PageRequest, run: RepeatRun) -> str:
    words = request.words
    if run.why is not None and run.outcome is RunOutcome.REFUSED:
        return str(refusal_sentence(words, Conflict(run.why)))
    sentence = str(words(OUTCOMES[run.outcome]))
    if run.missed > 1:
        many = words.counted(
            "{n} run was missed", "{n} runs were missed", run.missed, n=str(run.missed)
        )
        return f"{sentence} ({many})"
    return sentence


def _shown(repeat: MailingRepeat) -> dict[str, Any]:
    """A repeat as its form has it."""
    return {
        **{name: getattr(repeat, name) or "" for name in _TEXTS},
        **{name: "" if (v := getattr(repeat, name)) is None else str(v) for name in _NUMBERS},
        "unit": repeat.unit.value,
        "sender": repeat.sender or "",
        "month_days": ", ".join(map(str, repeat.month_days)),
        "days": repeat.days,
    }


def _stored(request: PageRequest, repeat: MailingRepeat) -> dict[str, StoredField]:
    words, shown = request.words, _shown(repeat)
    stored = {name: StoredField(words(LABELS[name]), shown[name]) for name in _EDITED}
    days = ", ".join(str(words(DAY_NAMES[each])) for each in repeat.days)
    stored["days"] = StoredField(words(LABELS["days"]), "\n".join(repeat.days), days)
    return stored


async def change(request: PageRequest) -> TrioResponse:
    try:
        arguments = _arguments(request.form) | as_seen(request.form)
        arguments.pop("starts_on", None)  # weeks and months are counted from there: it stays
        await request.ask(records.SET, repeat_id=_id(request), **arguments)
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request, error))
    return request.go(request.at(f"repeats/{_id(request)}"), SAVED)


def _acts(name: str, ask: Ask[MailingRepeat]) -> PageView:
    async def act(request: PageRequest) -> TrioResponse:
        try:
            await request.ask(ask, repeat_id=_id(request))
        except Refusal as error:
            return await request.again(_ONE, error, await _one(request))
        return request.go(request.at(f"repeats/{_id(request)}"), DONE[name])

    return act


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(records.DELETE, repeat_id=_id(request))
    return request.go(request.at("repeats"), DELETED)


_PAGE: Final = "/app/<org>/repeats"
_REPEAT: Final = f"{_PAGE}/<repeat_id>"
_WRITES: Final = PageAccess.DEVELOPER
_ASKED: Final = "repeats/ask.html"
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_ALL, _list),
        access=PageAccess.VIEWER,
        entry=NavItem("repeats", "replay", N_("Repeating mailings"), key="j", after="mailings"),
    ),
    PageRoute(path=f"{_PAGE}/new", view=shows(_NEW, _new), access=_WRITES),
    PageRoute(path=f"{_PAGE}/new", view=create, access=_WRITES, method="POST", once=True),
    PageRoute(path=_REPEAT, view=shows(_ONE, _one), access=PageAccess.VIEWER),
    PageRoute(path=_REPEAT, view=change, access=_WRITES, method="POST"),
    PageRoute(
        path=f"{_REPEAT}/pause",
        view=_acts("pause", records.PAUSE),
        access=_WRITES,
        method="POST",
    ),
    PageRoute(
        path=f"{_REPEAT}/go-on",
        view=_acts("go-on", records.GO_ON),
        access=_WRITES,
        method="POST",
    ),
    PageRoute(path=f"{_REPEAT}/end", view=_acts("end", records.END), access=_WRITES, method="POST"),
    PageRoute(path=f"{_REPEAT}/delete", view=shows(_ASKED, _one), access=_WRITES),
    PageRoute(path=f"{_REPEAT}/delete", view=delete, access=_WRITES, method="POST"),
)
