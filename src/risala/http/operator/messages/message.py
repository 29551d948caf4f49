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
from risala.http.web.messages.journey import story_of
from risala.http.web.messages.one import came_by, pieces, story
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

_PAGE: Final = "messages/show.html"
_ASK: Final = "messages/ask.html"


async def live(visit: PageRequest) -> TrioResponse:
    return await pieces(visit, partial(_values, visit))


async def ask_text(visit: PageRequest) -> TrioResponse:
    """The question for the reason, as a page: for browsers without script."""
    return await visit.page(_ASK, await _values(visit, await story(visit)), form=visit.form)


async def show_text(visit: PageRequest) -> TrioResponse:
    """The text, in this answer and nowhere else; the reason is on disk before."""
    message_id, reason = visit.arguments["message_id"], visit.form.text("reason")
    try:
        read = await visit.ask(messages.BODY, message_id=message_id, reason=reason)
    except Refusal as error:
        return await visit.again(
            _ASK, error, await _values(visit, await story(visit)), form=visit.form
        )
    values = {**await _whole(visit), "text": read.body, "reason": reason}
    return await visit.page(_PAGE, values, is_secret=True)


async def _values(visit: PageRequest, found: MessageStory) -> dict[str, object]:
    message = found.message
    return {
        **story_of(visit.formats, message, found.timeline),
        "may_read": found.body_hidden and message.kind != "code",
        "live_at": visit.at(f"messages/{message.id}/live"),
    }


async def _whole(visit: PageRequest) -> dict[str, object]:
    """The values of its page, including those from other tables."""
    found = await story(visit)
    message = found.message
    whose = {"organization_id": message.organization_id}
    told = await visit.ask(messages.EVENTS, message_id=message.id)
    endpoints = (await visit.ask(webhooks.LIST, **whose)).endpoints
    return {
        **await _values(visit, found),
        "organization": await visit.ask(SHOW, **whose),
        **await came_by(visit, message),
        "events": told.events,
        # Their paths may hold a customer's secrets.
        "endpoints": {each.id: urlsplit(each.url).netloc for each in endpoints},
        "text": None,
        "reason": None,
        "form": visit.form,
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
