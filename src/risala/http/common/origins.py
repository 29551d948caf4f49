"""CORS as headers: which answers pages of other origins may read (contract §2)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from risala.http.common.unknown_members import HEADER

EXPOSED = f"retry-after, x-request-id, {HEADER}"


def cors_headers(
    open_paths: AbstractSet[str], path: str | None, origin: str | None
) -> list[tuple[str, str]]:
    """The CORS headers of an answer from any source.

    Args:
        open_paths: the paths whose answers pages of any origin may read.
        path: the request's path; None if the request could not be read so far. It may have been
            for an open path, and its answer reveals nothing: so any page may read it.
        origin: the request's ``Origin`` header.
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
