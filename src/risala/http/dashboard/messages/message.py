"""One message: where it is, its history, and the possible actions."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import messages, requests, webhooks
from risala.engine.model.records.messages import MessageStory, MessageView
from risala.engine.model.states import Mode
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.messages.journey import story_of
from risala.http.web.messages.one import came_by, pieces, story
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.segment import count, part_capacity, whole_capacity

CANCELED: Final = N_("The message is canceled, and its price refunded.")
SENT_AGAIN: Final = N_("It is sent again: this is the new message.")


async def show(visit: PageRequest) -> TrioResponse:
    found = await story(visit)
    if found.message.mode is not visit.mode:  # a test message is shown in test mode
        mode = "?mode=test" if found.message.mode is Mode.TEST else ""
        return visit.go(f"{visit.http.path}{mode}")
    return await visit.page("messages/show.html", await _whole(visit, found))


async def live(visit: PageRequest) -> TrioResponse:
    # By time too: the arrival of a webhook causes no event.
    return await pieces(visit, partial(_whole, visit), by_time=True)


async def ask_again(visit: PageRequest) -> TrioResponse:
    """The question as a page: for browsers without script."""
    values = _values(visit, await story(visit))
    return await visit.page("messages/again.html", values)


async def send_again(visit: PageRequest) -> TrioResponse:
    found = await story(visit)
    message = found.message
    if not _may_repeat(found):
        return visit.go(visit.at(f"messages/{message.id}"))
    try:
        sent = await visit.ask_here(
            messages.SEND,
            to=message.to,
            body=message.body,
            **{"from": message.sender, "mode": message.mode.value},
        )
    except Refusal as error:
        values = _values(visit, found)
        return await visit.again("messages/again.html", error, values)
    return visit.go(visit.at(f"messages/{sent.message_id}"), SENT_AGAIN)


async def cancel(visit: PageRequest) -> TrioResponse:
    message_id = visit.arguments["message_id"]
    await visit.ask(messages.CANCEL, message_id=message_id)
    return visit.go(visit.at(f"messages/{message_id}"), CANCELED)


async def _whole(visit: PageRequest, found: MessageStory) -> dict[str, object]:
    """The values of its page, including those from other tables."""
    way = await came_by(visit, found.message)
    request_id = None if way.get("key") is None else await _request(visit, found.message.id)
    return {**_values(visit, found), **await _about(visit, found), **way, "request_id": request_id}


def _values(visit: PageRequest, found: MessageStory) -> dict[str, object]:
    message, part = found.message, found.part
    is_code = message.kind == "code"
    text = message.body if part is None else part.text
    return {
        **story_of(visit.formats, message, found.timeline),
        "text": None if is_code else text,
        "part": part,
        "curl": _curl(visit, message) if _may_repeat(found) else None,
        "may_cancel": message.status == "pending",
        "may_repeat": _may_repeat(found),
        "size": None if is_code or message.body is None else _size(message.body),
        "live_at": visit.at(f"messages/{message.id}/live"),
    }


def _may_repeat(found: MessageStory) -> bool:
    """Whether its text can be sent again. A single part would be the middle of a sentence."""
    message = found.message
    return message.kind != "code" and message.body is not None and found.part is None


def _size(text: str) -> dict[str, int]:
    """How much of its parts a text uses."""
    size = count(text)
    one, part = whole_capacity(size.alphabet), part_capacity(size.alphabet)
    return {"units": size.units, "room": one if size.segments == 1 else part * size.segments}


async def _about(visit: PageRequest, found: MessageStory) -> dict[str, object]:
    """The events of the message and their endpoints; those of codes are on the session's page."""
    message = found.message
    if message.kind == "code":
        return {"events": None, "endpoints": {}}
    told = await visit.ask(messages.EVENTS, message_id=visit.arguments["message_id"])
    endpoints = (await visit.ask_here(webhooks.LIST)).endpoints
    return {
        "events": told.events,
        "endpoints": {each.id: each.url for each in endpoints if each.mode == message.mode},
    }


async def _request(visit: PageRequest, message_id: str) -> str | None:
    """The id of the request that made a message; None if the log does not have it, or no longer.

    Repeated requests with its idempotency key are later ones.
    """
    found = (await visit.ask_here(requests.LIST, made=message_id)).requests
    return found[-1].request_id if found else None


def _curl(visit: PageRequest, message: MessageView) -> str:
    """The request that sends such a message; the key itself is not shown."""
    body: dict[str, object] = {"to": message.to, "body": message.body}
    body["from"] = message.sender
    text = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f'curl {visit.base_url}/api/sms -H "x-api-key: $RISALA_KEY"'
        f' -H "content-type: application/json" -d {text}'
    )


_MESSAGE: Final = "/app/<org>/messages/<message_id>"
ROUTES: Final = (
    PageRoute(path=_MESSAGE, view=show, access=PageAccess.VIEWER),
    PageRoute(path=f"{_MESSAGE}/live", view=live, access=PageAccess.VIEWER),
    PageRoute(path=f"{_MESSAGE}/again", view=ask_again, access=PageAccess.DEVELOPER),
    PageRoute(
        path=f"{_MESSAGE}/again",
        view=send_again,
        access=PageAccess.DEVELOPER,
        method="POST",
        once=True,
    ),
    PageRoute(path=f"{_MESSAGE}/cancel", view=cancel, access=PageAccess.DEVELOPER, method="POST"),
)
