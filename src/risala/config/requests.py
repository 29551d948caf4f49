"""Settings of the log of requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from risala.config.kinds import Section


class RequestLogSection(Section):
    """The log of requests, by key: in a file of its own, ``requests.db``. Never a text, a code or a
    secret. It may be incomplete, and costs no send anything."""

    enabled: bool = True
    """False: no request is written down any more."""
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Days after which a request is forgotten."""
    size_max_mb: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Megabytes of the file; beyond it the oldest requests are forgotten, however old."""
    a_second_max: Annotated[int, Field(ge=1, le=10_000)] = 200
    """Requests that are written a second; further ones are dropped, and counted. It bounds what the
    log costs a loaded service."""
