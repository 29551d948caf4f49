"""CORS as headers: which answers pages of other origins may read (contract §2)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

EXPOSED = "retry-after, x-request-id"


def cors_headers(
    open_paths: AbstractSet[str], path: str | None, origin: str | None
) -> list[tuple[str, str]]:
    """The headers of an answer, whoever makes it.

    ``path`` is None for a request that could not be read so far, or was not read at all. It may
    have been for an open path, and its answer tells nothing: then any page may read it.
    """
    if path is None:
        allowed: str | None = "*" if open_paths else None
    elif path in open_paths:
        allowed = origin
    else:
        return []
    vary = [("vary", "origin")] if open_paths else []
    if allowed is None:
        return vary
    return [
        *vary,
        ("access-control-allow-origin", allowed),
        ("access-control-expose-headers", EXPOSED),
    ]
