"""The id of each request: in its answer, in the body of an error, in our log."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource

_IDS: Final = IdSource(SystemClock())
REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("risala_request_id", default=None)
"""The id of the request that is being answered; it is in each line that is logged on its behalf."""


def new_request_id() -> str:
    # The client's own x-request-id is ignored: it would let strangers write our log.
    return _IDS.new("req")
