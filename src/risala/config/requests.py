"""Settings of the log of requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from risala.config.kinds import Section


class RequestLogSection(Section):
    """The log of requests, by key: in a separate file, ``requests.db``, without texts, codes or
    secrets. It may be incomplete, and slows down no send."""

    enabled: bool = True
    """False: requests are no longer logged."""
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Days after which a request is deleted."""
    size_max_mb: Annotated[int, Field(ge=1, le=100_000)] = 256
    """The largest size of the file in megabytes; beyond it the oldest requests are deleted."""
    a_second_max: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The most requests logged in a second; further ones are counted and dropped. It bounds the
    log's cost for a loaded service."""
