"""One message: where it is, its history, and the possible actions."""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.request_log import records as requests
from risala.engine.model.errors import Refusal
from risala.engine.model.records import messages, webhooks
from risala.engine.model.records.messages import MessageStory, MessageView
from risala.engine.model.states import Mode
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.messages.journey import came_by, pieces, story, story_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.segment import count, part_capacity, whole_capacity

CANCELED: Final = N_("The message is canceled, and its price refunded.")
SENT_AGAIN: Final = N_("It is sent again: this is the new message.")


async def show(request: PageRequest) -> TrioResponse:
    shown = await story(request)
    if shown.message.mode is not request.mode:  # a test message is shown in test mode
        mode = "?mode=test" if shown.message.mode is Mode.TEST else ""
        return request.go(f"{request.http.path}{mode}")
    return await request.page("messages/show.html", await _whole(request, shown))


async def live(request: PageRequest) -> TrioResponse:
    # By time too: the arrival of a webhook causes no event.
    return await pieces(request, partial(_whole, request), by_time=True)


async def ask_again(request: PageRequest) -> TrioResponse:
    """The question as a page: for browsers without script."""
    values = _values(request, await story(request))
    return await request.page("messages/again.html", values)


async def send_again(request: PageRequest) -> TrioResponse:
    shown = await story(request)
    message = shown.message
    if not _may_repeat(shown):
        return request.go(request.at(f"messages/{message.id}"))
    try:
        sent = await request.ask_here(
            messages.SEND,
            to=message.to,
            body=message.body,
            **{"from": message.sender, "mode": message.mode.value},
        )
    except Refusal as error:
        values = _values(request, shown)
        return await request.again("messages/again.html", error, values)
    return request.go(request.at(f"messages/{sent.message_id}"), SENT_AGAIN)


async def cancel(request: PageRequest) -> TrioResponse:
    message_id = request.arguments["message_id"]
    await request.ask(messages.CANCEL, message_id=message_id)
    return request.go(request.at(f"messages/{message_id}"), CANCELED)


async def _whole(request: PageRequest, shown: MessageStory) -> dict[str, object]:
    """The values of its page, including those from other tables."""
    way = await came_by(request, shown.message)
    request_id = None if way.get("key") is None else await _request(request, shown.message.id)
    return {
        **_values(request, shown),
        **await _about(request, shown),
        **way,
        **await request.of_features("story", shown),
        "request_id": request_id,
    }


def _values(request: PageRequest, shown: MessageStory) -> dict[str, object]:
    message, part = shown.message, shown.part
    is_code = message.kind == "code"
    text = message.body if part is None else part.text
    return {
        **story_of(request.formats, message, shown.timeline),
        "text": None if is_code else text,
        "part": part,
        "curl": _curl(request, message) if _may_repeat(shown) else None,
        "may_cancel": message.status == "pending",
        "may_repeat": _may_repeat(shown),
        "size": None if is_code or message.body is None else _size(message.body),
        "live_at": request.at(f"messages/{message.id}/live"),
    }


def _may_repeat(shown: MessageStory) -> bool:
    """Whether its text can be sent again. A single part would be the middle of a sentence, and of a
    flash message would come an ordinary one."""
    message = shown.message
    is_whole = message.body is not None and shown.part is None
    return message.kind != "code" and is_whole and message.message_class is None


def _size(text: str) -> dict[str, int]:
    """How much of its parts a text uses."""
    size = count(text)
    one, part = whole_capacity(size.alphabet), part_capacity(size.alphabet)
    return {"units": size.units, "room": one if size.segments == 1 else part * size.segments}


async def _about(request: PageRequest, shown: MessageStory) -> dict[str, object]:
    """The events of the message and their endpoints; those of codes are on the session's page."""
    message = shown.message
    if message.kind == "code":
        return {"events": None, "endpoints": {}}
    answer = await request.ask(messages.EVENTS, message_id=request.arguments["message_id"])
    endpoints = (await request.ask_here(webhooks.LIST)).endpoints
    return {
        "events": answer.events,
        "endpoints": {each.id: each.url for each in endpoints if each.mode == message.mode},
    }


async def _request(request: PageRequest, message_id: str) -> str | None:
    """The id of the request that made a message; None if the log does not have it, or no longer.

    Repeated requests with its idempotency key are later ones.
    """
    logged = (await request.ask_here(requests.LIST, made=message_id)).requests
    return logged[-1].request_id if logged else None


def _curl(request: PageRequest, message: MessageView) -> str:
    """The request that sends such a message; the key itself is not shown."""
    body: dict[str, object] = {"to": message.to, "body": message.body}
    body["from"] = message.sender
    text = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f'curl {request.base_url}/api/sms -H "x-api-key: $RISALA_KEY"'
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
