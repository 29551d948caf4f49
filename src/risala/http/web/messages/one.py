"""What an organization's page of a message and the console's share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from quart_trio.wrappers import TrioResponse

from risala.engine.model.commands import LifeEvent
from risala.engine.model.following import OutboxEvent
from risala.engine.model.records import keys, messages
from risala.engine.model.records.messages import MessageStory, MessageView
from risala.http.web.page_request import PageRequest


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
    """The key that a message came by, or the credential of other software; None: it was written by
    hand, or that is deleted."""
    if others := await request.of_features("message", message):
        return {"key": None, **others}
    id_, whose = message.api_key, {"organization_id": message.organization_id}
    listed = () if id_ is None else (await request.ask(keys.LIST, **whose)).keys
    return {"key": next((each for each in listed if each.id == id_), None), "credential": None}
