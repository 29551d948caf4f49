"""The journey of a message: its state, the lines of its timeline, and its stations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.commands import LifeEvent
from risala.engine.model.following import OutboxEvent
from risala.engine.model.records import keys, messages
from risala.engine.model.records.messages import MessageStory, MessageView, StoryEntry
from risala.http.web.formats import Formats
from risala.http.web.languages import network_name
from risala.http.web.messages.sentences import cause_markup, line_sentence, raw_and_label
from risala.http.web.page_request import PageRequest
from risala.sms.numbering.countries import network_of

UNDER_WAY: Final = ("pending", "processing", "sent")
"""States that are not the last."""
_DOTS: Final = {
    "UNCERTAIN": "uncertain",
    "RESTORED_UNCERTAIN": "uncertain",
    "ACCEPTED": "pending",
    "WAITS": "pending",
    "RESENT": "processing",
    "REPEATED": "processing",
}
"""The shape next to a line, where it differs from its status."""
Timeline = Sequence[StoryEntry]


def story_of(formats: Formats, message: MessageView, timeline: Timeline) -> dict[str, object]:
    """The values ``message.html`` draws for a message; both from ``message.show``."""
    network, state = network_of(message.to), state_of(message, timeline)
    return {
        "message": message,
        "state": state,
        "network": None if network is None else network_name(network),
        "cause": cause_markup(formats, message.error_code),
        "entries": entries_of(formats, timeline),
        "odd_text": line_sentence(formats, timeline[-1]) if state == "uncertain" else None,
        "stations": stations_of(formats, message, timeline),
        "is_open": message.status in UNDER_WAY,
        "was_refunded": message.status in ("failed", "canceled"),
    }


def state_of(message: MessageView, timeline: Timeline) -> str:
    """The state shown to a reader: a message of unknown fate is no longer on its way."""
    last = timeline[-1].code if timeline else ""
    is_uncertain = message.status == "processing" and last in ("UNCERTAIN", "RESTORED_UNCERTAIN")
    return "uncertain" if is_uncertain else str(message.status)


def entries_of(formats: Formats, timeline: Timeline) -> list[dict[str, Any]]:
    """Lines of a timeline as ``parts.timeline`` draws them, the carrier's own words below."""
    return [_entry_of(formats, entry) for entry in timeline]


def _entry_of(formats: Formats, entry: StoryEntry) -> dict[str, Any]:
    raw, label = raw_and_label(formats.words, entry.raw or "")
    text = line_sentence(formats, entry)
    return {
        "state": _DOTS.get(entry.code, entry.status),
        "text": text if label is None else Markup("{} {}").format(text, label),
        "at": entry.at,
        "raws": [raw] if raw else [],
    }


def stations_of(formats: Formats, message: MessageView, timeline: Timeline) -> list[dict[str, Any]]:
    """Four at most: accepted, handed over, sent, delivered, or an earlier end."""
    words, state = formats.words, state_of(message, timeline)

    def since(at: int | None) -> Markup | str:
        if at is None:
            return ""
        later = words("+{time}", time=formats.lasting(at - message.created_at))
        return Markup('<bdi class="nowrap">{}</bdi>').format(later)

    def station(kind: str, shape: str, title: Markup, text: object = "") -> dict[str, Any]:
        return {"kind": kind, "shape": shape, "title": title, "text": text}

    attempt = next((each.at for each in timeline if each.code == "ATTEMPT"), None)
    stations = [
        station("done", "s-sent", words("Accepted"), formats.clock(message.created_at)),
    ]
    if state == "canceled":
        canceled, at = words.among("state", "Canceled"), formats.clock(message.updated_at)
        return [*stations, station("now", "s-canceled", canceled, at)]
    handed = words("Handed over")
    if state == "uncertain":
        stations.append(station("odd", "s-uncertain", words.among("state", "Uncertain")))
    elif attempt is not None:
        kind = "now" if state == "processing" else "done"
        stations.append(station(kind, "s-processing", handed, since(attempt)))
    elif state == "failed":
        return [*stations, station("bad", "s-failed", words.among("state", "Failed"))]
    else:
        stations.append(station("", "s-processing", handed))
    if state == "failed":
        return [*stations, station("bad", "s-failed", words.among("state", "Failed"))]
    sent, delivered = message.sent_at, message.delivered_at
    kind = "" if sent is None else ("now" if state == "sent" else "done")
    unknown: object = words("not known") if state == "uncertain" else ""
    stations.append(station(kind, "s-sent", words.among("state", "Sent"), since(sent) or unknown))
    if state == "undelivered":
        undelivered = words.among("state", "Undelivered")
        return [
            *stations,
            station("bad", "s-undelivered", undelivered, since(message.updated_at)),
        ]
    word = words.among("state", "Delivered")
    kind = "" if delivered is None else "done"
    return [*stations, station(kind, "s-delivered", word, since(delivered) or unknown)]


# What an organization's page of a message and the console's share.


async def story(request: PageRequest) -> MessageStory:
    """The message that the address names."""
    return await request.ask(messages.SHOW, message_id=request.arguments["message_id"])


async def pieces(
    request: PageRequest,
    values: Callable[[MessageStory], Awaitable[dict[str, object]]],
    *,
    by_time: bool = False,
) -> TrioResponse:
    """The pieces of the page, drawn again when this message changes."""
    # A missing message, or one of another organization, opens no stream.
    message_id = (await story(request)).message.id

    async def draw(changes: Sequence[LifeEvent | OutboxEvent] | None) -> str:
        if changes is not None and message_id not in {
            each.message_id for each in changes if isinstance(each, LifeEvent)
        }:
            return ""
        return await request.drawn("messages/pieces.html", await values(await story(request)))

    return request.live(draw, by_time=by_time)


async def came_by(request: PageRequest, message: MessageView) -> dict[str, object]:
    """The key that a message came by, the credential of other software, or the rule that sent it;
    None: it was written by hand, or that is deleted."""
    none = {"key": None, "credential": None, "rule": None}
    if others := await request.of_features("message", message):
        return {**none, **others}
    id_, whose = message.api_key, {"organization_id": message.organization_id}
    listed = () if id_ is None else (await request.ask(keys.LIST, **whose)).keys
    return {**none, "key": next((each for each in listed if each.id == id_), None)}
