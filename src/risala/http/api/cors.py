"""CORS: publishable keys are used in browsers, so pages of other origins may use two paths; all
other paths are closed to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from risala.engine.model.commands import Principal
from risala.engine.model.errors import Forbidden
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest, PlainRoutes

MAX_AGE_S: Final = 7200
"""How long a browser may go without asking again; Chromium heeds no more than this."""
_PREFLIGHT: Final = (
    ("access-control-allow-methods", "POST"),
    ("access-control-allow-headers", "content-type, x-api-key, authorization"),
    ("access-control-max-age", str(MAX_AGE_S)),
)


def open_to_browsers(paths: PlainRoutes, path: str, handler: Handler) -> None:
    """Serve POST of ``path``, answer its preflights without a key, let pages read all its answers.

    Pages of any origin may read them: which origins are served is decided by the key
    (:func:`check_origin`), which a preflight does not have. Cookies are never looked at, so that a
    page can do nothing in its visitor's name.
    """

    async def preflight(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(b"", 204, _PREFLIGHT)

    paths.add(path, {"POST": handler, "OPTIONS": preflight})


def check_origin(principal: Principal, origins: Iterable[bytes]) -> None:
    """Check that a key may be used from where it is used.

    Args:
        origins: the request's ``Origin`` headers: one from a browser, none from a server.

    Raises:
        Forbidden: the key is not for pages of this origin.
    """
    allowed = principal.allowed_origins
    if allowed is not None and not all(each.decode("latin-1") in allowed for each in origins):
        raise Forbidden("This API key may not be used from this origin.")
