"""What becomes of a message that is written to many people: the draft of a mailing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.mailings import records as mailings
from risala.engine.model.errors import Refusal
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest

WITHOUT_TIME: Final = N_("The draft is made, but it cannot begin at that time. Choose another one.")


async def draft(
    request: PageRequest, arguments: Mapping[str, object], send_at: str | None
) -> TrioResponse:
    """Make it, and go to its page.

    Args:
        asked: the arguments of ``mailing.create``.
        send_at: when it begins, as operations take it; None: when its sender says so.
    """
    made = await request.ask_here(mailings.CREATE, **arguments)
    notice = None
    if send_at is not None:
        try:
            await request.ask(mailings.SET, mailing_id=made.id, send_at=send_at)
        except Refusal:
            notice = WITHOUT_TIME
    return request.go(request.at(f"mailings/{made.id}"), notice)


async def columns(request: PageRequest, upload: str) -> tuple[str, ...]:
    """The columns of an uploaded file that a text can name.

    Raises:
        Invalid: it is no table of people; nothing of it is left.
    """
    sheet = await request.ask_here(mailings.COLUMNS, upload=upload)
    return tuple(name for place, name in enumerate(sheet.columns) if place != sheet.number_column)
