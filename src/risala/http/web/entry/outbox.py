"""The mails of a service that writes them into a file: to try Risala on this machine.

They hold codes and links, so the page is only for browsers on this machine, and does not exist
where mails are sent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.http.common.problems import plain
from risala.http.web.cookie_policy import Way
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

_OUTBOX: Final = "outbox"
"""The mailer that writes into a file."""
_TAIL_BYTES: Final = 256 * 1024
"""How much of the file's end is read: a hundred mails or more."""
_SHOWN_MAX: Final = 50


def has_outbox(request: PageRequest) -> bool:
    """Whether this reader may see the mails."""
    mail = request.site.settings.mail
    return (
        mail.mailer == _OUTBOX
        and mail.outbox is not None
        and request.cookie_policy.way is Way.LOCAL
    )


async def show(request: PageRequest) -> TrioResponse:
    path = request.site.settings.mail.outbox
    if path is None or not has_outbox(request):
        raise plain(404)
    return await request.page("outbox.html", mails=await trio.to_thread.run_sync(_last, path))


def _last(path: Path) -> list[dict[str, Any]]:
    """The newest mails, newest first."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - _TAIL_BYTES))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    if end > _TAIL_BYTES:
        del lines[0]  # cut in two
    return [json.loads(line) for line in reversed(lines[-_SHOWN_MAX:])]


def routes(root: str) -> tuple[PageRoute, ...]:
    """The address below ``root``."""
    return (PageRoute(path=f"{root}/outbox", view=show, access=PageAccess.PUBLIC),)
