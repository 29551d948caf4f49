"""Why a modem that answers cannot send."""

from __future__ import annotations

from risala.plugins.contract import HealthState


class Unready(Exception):
    """``str()`` is one sentence for the operator; ``retry_s`` is when to look again."""

    def __init__(self, state: HealthState, text: str, retry_s: float | None = None) -> None:
        super().__init__(text)
        self.state = state
        self.retry_s = retry_s
