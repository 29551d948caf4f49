"""An alarm that was raised: its steps as a timeline, and a button that ends it."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.alarms import records
from risala.engine.features.alarms.records import AlarmState, AlarmStep, RaisedAlarm, StepOutcome
from risala.engine.model.errors import Conflict, Refusal
from risala.engine.model.records.messages import MessageStory
from risala.http.dashboard.alarms.chains import badge_of
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import refusal_sentence
from risala.http.web.routes import PageRoute, shows

ENDED: Final = N_("The alarm has ended: nobody is written to any more.")
RESTORE: Final = "restore"
"""The name for who ended an alarm that went on when the backup of a restored database was made."""
_ALARM: Final = "alarms/alarm.html"


def _line(state: str, text: Markup, at: int | None) -> dict[str, object]:
    """An entry as ``parts.timeline`` draws it."""
    return {"state": state, "text": text, "at": at, "raws": ()}


async def _one(request: PageRequest, _: Refusal | None = None) -> dict[str, object]:
    view = await request.ask(records.STEPS, alarm_id=request.arguments.get("alarm_id", ""))
    alarm = view.alarm
    raised = request.words("Raised by {who}.", who=_who(request, alarm.raised_by))
    begun = _line("pending", raised, alarm.raised_at)
    return {
        "alarm": alarm,
        "chain_name": view.chain_name,
        "here": f"alarms/raised/{alarm.id}",
        "badge_of": badge_of(request, alarm),
        "entries": [
            begun,
            *(_entry(request, alarm, each) for each in view.past),
            *_end(request, alarm),
        ],
    }


def _who(request: PageRequest, who: str) -> Markup:
    """A member, a program's key, or a hook."""
    if who.startswith("hok_"):
        return Markup('<a href="{}">{}</a>').format(
            request.at(f"connect/{who}"), request.words("a hook")
        )
    if who.startswith("key_"):
        return Markup('<a href="{}">{}</a>').format(
            request.at(f"keys/{who}"), request.words("an API key")
        )
    return request.done_by(who)


def _tel(request: PageRequest, number: str) -> Markup:
    return request.formats.tel(number) if number else request.words("an erased number")


def _entry(request: PageRequest, alarm: RaisedAlarm, step: AlarmStep) -> dict[str, object]:
    words, number = request.words, _tel(request, step.number)
    n = request.formats.num(step.step)
    if step.outcome is StepOutcome.REFUSED:
        text = words("Step {n}: {number} could not be written to.", n=n, number=number)
        why = refusal_sentence(words, Conflict(step.why or ""))
        return _line("failed", Markup("{} {}").format(text, why), step.at)
    text = words("Step {n}: {number} was written to.", n=n, number=number)
    if step.message_id is not None:
        mode = "?mode=test" if alarm.mode == "test" else ""
        place = f"/app/{request.organization_id}/messages/{step.message_id}{mode}"
        link = Markup('<a href="{}">{}</a>').format(place, words("The message"))
        text = Markup("{} {}").format(text, link)
    return _line("sent", text, step.at)


def _end(request: PageRequest, alarm: RaisedAlarm) -> list[dict[str, object]]:
    """The last entry; while the alarm goes on, when the next step is."""
    words, by = request.words, alarm.ended_by or ""
    match alarm.state:
        case AlarmState.GOING:
            text = words("The next person is written to then, if nobody answers.")
            return [_line("next", text, alarm.next_at)]
        case AlarmState.ANSWERED:
            text = words("{number} answered.", number=_tel(request, by))
            return [_line("delivered", text, alarm.ended_at)]
        case AlarmState.UNANSWERED:
            text = words("Everybody was written to, and nobody answered.")
            return [_line("failed", text, alarm.ended_at)]
        case _:
            text = words("Ended by {who}.", who=_who(request, by))
            if by == RESTORE:
                text = words(
                    "It went on when the backup was made that the service was restored "
                    "from, and has ended with that."
                )
            return [_line("canceled", text, alarm.ended_at)]


async def end(request: PageRequest) -> TrioResponse:
    alarm_id = request.arguments.get("alarm_id", "")
    try:
        await request.ask(records.END, alarm_id=alarm_id)
    except Refusal as error:
        return await request.again(_ALARM, error, await _one(request))
    return request.go(request.at(f"alarms/raised/{alarm_id}"), ENDED)


async def of_story(_: PageRequest, story: MessageStory) -> dict[str, object]:
    """The alarm, and the step of it, that a message is of; empty: of none."""
    values = story.timeline[0].values if story.timeline else {}
    if values.get("face") != "alarm":
        return {}
    alarm_id, _colon, step = str(values.get("credential", "")).partition(":")
    return {"alarm_id": alarm_id, "alarm_step": step}


_RAISED: Final = "/app/<org>/alarms/raised/<alarm_id>"
ROUTES: Final = (
    PageRoute(path=_RAISED, view=shows(_ALARM, _one), access=PageAccess.VIEWER),
    PageRoute(path=f"{_RAISED}/end", view=end, access=PageAccess.DEVELOPER, method="POST"),
)
