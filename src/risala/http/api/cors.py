"""CORS: publishable keys live in browsers, so two paths are open to them; all others are closed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.commands import Principal
from risala.engine.model.errors import Forbidden
from risala.http.common.base import JsonApp

MAX_AGE_S: Final = 7200
"""How long a browser may go without asking again; Chromium heeds no more than this."""
_PREFLIGHT: Final = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type, x-api-key, authorization",
    "access-control-max-age": str(MAX_AGE_S),
}


def open_to_browsers(app: JsonApp, paths: Iterable[str]) -> None:
    """Answer preflights of ``paths`` without a key, and let pages read all their answers.

    Pages of whatever origin: the key decides whose requests are served (:func:`check_origin`),
    and it is not in a preflight. No cookie is ever looked at, so that nothing else is let in.
    """
    opened = frozenset(paths)

    async def preflight() -> TrioResponse:
        response = TrioResponse(status=204, headers=_PREFLIGHT)
        del response.headers["content-type"]
        return response

    for path in opened:
        app.add_url_rule(
            path, f"preflight {path}", preflight, methods=["OPTIONS"],
            provide_automatic_options=False,
        )  # fmt: skip
    app.open_paths |= opened


def check_origin(principal: Principal, origins: Iterable[str]) -> None:
    """``origins`` are the request's ``Origin`` headers: one from a browser, none from a server.

    Raises:
        Forbidden: the key is not for pages of this origin.
    """
    allowed = principal.allowed_origins
    if allowed is not None and not all(origin in allowed for origin in origins):
        raise Forbidden("This API key must not be used from this origin.")
