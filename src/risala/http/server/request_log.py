"""Requests whose ids are in all that is logged on their behalf."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from hypercorn.typing import ASGISendCallable as Send
from quart.wrappers import Request

from risala.http.common.base import Connection

REQUEST_SCOPE: ContextVar[Mapping[str, Any] | None] = ContextVar("risala_request", default=None)
"""Of the request that is being answered; its id is given to it a moment later."""


class LoggedConnection(Connection):
    """A request whose id is in all that is logged on its behalf."""

    async def respond(self, request: Request, send: Send) -> None:
        token = REQUEST_SCOPE.set(self.scope)
        try:
            await super().respond(request, send)
        finally:
            REQUEST_SCOPE.reset(token)
