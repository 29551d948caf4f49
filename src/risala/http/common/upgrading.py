"""The apps at all our addresses while the service cannot serve yet: its database is being migrated
to this version, or it waits for something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from quart import request
from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.upkeep.service import Upgrading
from risala.http.common.base import JsonApp
from risala.http.common.problems import Problem
from risala.http.common.respond import json_bytes, json_response

AGAIN_MAX_S: Final = 60
"""The longest ``Retry-After``, in seconds: the pace of the migration may change."""
AGAIN_UNKNOWN_S: Final = 5
_ALIVE: Final = json_bytes({"status": "ok"})
_BODY_BYTES_MAX: Final = 1024
_BODY_TIMEOUT_S: Final = 1.0
"""Seconds that a body may take to come; its content is ignored."""


def create_upgrading(look: Callable[[], Upgrading]) -> JsonApp:
    """An app that answers the probes (alive, not ready) and refuses all else with 503.

    Args:
        look: returns the progress of the migration.
    """
    return _alive_only(lambda: _upgrading(look()))


def create_waiting(reason: Callable[[], str]) -> JsonApp:
    """An app that answers ``/healthz`` with 200 and all else with 503.

    Args:
        reason: returns the reason in a sentence.
    """
    return _alive_only(lambda: _waiting(reason()))


def _alive_only(problem: Callable[[], Problem]) -> JsonApp:
    app = JsonApp(
        "risala.http.common.upgrading",
        body_bytes_max=_BODY_BYTES_MAX,
        body_timeout_s=_BODY_TIMEOUT_S,
    )

    async def alive() -> TrioResponse:
        return json_response(_ALIVE)

    @app.before_request
    async def refuse() -> None:
        if request.path != "/healthz":
            raise problem()

    app.route_to("/healthz", alive, method="GET")
    return app


def _waiting(reason: str) -> Problem:
    again = {"Retry-After": str(AGAIN_UNKNOWN_S)}
    return Problem(503, reason, {"reasons": [reason[0].lower() + reason[1:].rstrip(".")]}, again)


def _upgrading(now: Upgrading) -> Problem:
    left_s = AGAIN_UNKNOWN_S if now.left_s is None else now.left_s
    data: dict[str, Any] = {"reasons": [_reason(now)], "upgrading": now.wire()}
    again = {"Retry-After": str(min(max(left_s, 1), AGAIN_MAX_S))}
    return Problem(503, now.sentence, data, again)


def _reason(now: Upgrading) -> str:
    """The reason for ``/readyz``, written as all of them: without a capital and a full stop."""
    return now.sentence[0].lower() + now.sentence[1:].removesuffix(".")
