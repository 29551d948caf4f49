"""Responses: JSON, and nothing computed that is not needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from risala.http.common.plain import JSON
from risala.http.common.problems import Problem

if TYPE_CHECKING:
    from quart_trio.wrappers import TrioResponse

# Made once, because json.dumps with any argument makes an encoder at each call.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_bytes(value: Mapping[str, Any]) -> bytes:
    return _encode(value).encode()


def json_response(body: bytes, status: int = 200) -> TrioResponse:
    """A response whose body is JSON already."""
    from quart_trio.wrappers import TrioResponse

    return TrioResponse(body, status, content_type=JSON)


def problem_response(problem: Problem, request_id: str) -> TrioResponse:
    response = json_response(problem.body(request_id), problem.status)
    for name, value in problem.headers.items():
        response.headers[name] = value
    return response
