"""One message of a customer: its history, and its text, for a reason that is logged."""

from __future__ import annotations

from functools import partial
from typing import Final
from urllib.parse import urlsplit

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import messages, webhooks
from risala.engine.model.records.messages import MessageStory
from risala.engine.model.records.people.organizations import SHOW
from risala.http.web.face import PageAccess
from risala.http.web.messages.journey import came_by, pieces, story, story_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

_PAGE: Final = "messages/show.html"
_ASK: Final = "messages/ask.html"


async def live(request: PageRequest) -> TrioResponse:
    return await pieces(request, partial(_values, request))


async def ask_text(request: PageRequest) -> TrioResponse:
    """The question for the reason, as a page: for browsers without script."""
    return await request.page(_ASK, await _values(request, await story(request)), form=request.form)


async def show_text(request: PageRequest) -> TrioResponse:
    """The text, in this answer and nowhere else; the reason is on disk before."""
    message_id, reason = request.arguments["message_id"], request.form.text("reason")
    try:
        read = await request.ask(messages.BODY, message_id=message_id, reason=reason)
    except Refusal as error:
        return await request.again(
            _ASK, error, await _values(request, await story(request)), form=request.form
        )
    values = {**await _whole(request), "text": read.body, "reason": reason}
    return await request.page(_PAGE, values, is_secret=True)


async def _values(request: PageRequest, shown: MessageStory) -> dict[str, object]:
    message = shown.message
    return {
        **story_of(request.formats, message, shown.timeline),
        "may_read": shown.body_hidden and message.kind != "code",
        "live_at": request.at(f"messages/{message.id}/live"),
    }


async def _whole(request: PageRequest) -> dict[str, object]:
    """The values of its page, including those from other tables."""
    shown = await story(request)
    message = shown.message
    whose = {"organization_id": message.organization_id}
    answer = await request.ask(messages.EVENTS, message_id=message.id)
    endpoints = (await request.ask(webhooks.LIST, **whose)).endpoints
    return {
        **await _values(request, shown),
        "organization": await request.ask(SHOW, **whose),
        **await came_by(request, message),
        "events": answer.events,
        # Their paths may hold a customer's secrets.
        "endpoints": {each.id: urlsplit(each.url).netloc for each in endpoints},
        "text": None,
        "reason": None,
        "form": request.form,
    }


_ONE: Final = "/operator/messages/<message_id>"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(path=_ONE, view=shows(_PAGE, _whole), access=_OPERATOR, needs=messages.SHOW),
    PageRoute(path=f"{_ONE}/live", view=live, access=_OPERATOR, needs=messages.SHOW),
    PageRoute(path=f"{_ONE}/text", view=ask_text, access=_OPERATOR, needs=messages.BODY),
    PageRoute(
        path=f"{_ONE}/text",
        view=show_text,
        access=_OPERATOR,
        needs=messages.BODY,
        method="POST",
        once=True,
    ),
)
