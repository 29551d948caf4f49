"""Trying an account: one bind, and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import trio

from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.settings import SmppSettings
from risala.plugins.contract import (
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
)

_SPARE_S = 2.0
"""Seconds beyond the driver's own limits."""


async def check_bind(settings: SmppSettings) -> str | None:
    """Bind once, and leave. What the carrier brings meanwhile is refused, so that it comes again.

    Returns:
        The driver's sentence about what is wrong; None: the carrier let us in.
    """
    context = _CheckContext()
    patience_s = settings.connect_timeout_s + settings.response_timeout_s + _SPARE_S
    with trio.move_on_after(patience_s):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(SmppDriver("check", settings).run, context)
            await context.known.wait()
            nursery.cancel_scope.cancel()
    health = context.latest
    if health is None:
        return f"No bind with {settings.host}:{settings.port}: no answer within {patience_s:g} s."
    return None if health.state is HealthState.UP else health.text


class _CheckContext:
    """Knows how the first try went, and stores nothing."""

    carrier = "check"

    def __init__(self) -> None:
        self.known = trio.Event()
        self.latest: Health | None = None

    def health(self, health: Health) -> None:
        # Until the first try has ended, a link is down without a time of the next one.
        is_under_way = health.state is HealthState.DOWN and "again_s" not in health.details
        if not is_under_way and not self.known.is_set():
            self.latest = health
            self.known.set()

    async def receipt(self, receipt: Receipt) -> None:
        raise NotStoredError

    def receipt_soon(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        raise NotStoredError

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        raise NotStoredError

    async def call(self, number: str | None) -> None:
        raise NotStoredError

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        raise NotStoredError

    def recall(self, prefix: str = "") -> dict[str, str]:
        return {}

    async def remember_secret(
        self, secrets: Mapping[str, str | None], *, notes: Mapping[str, str | None] | None = None
    ) -> None:
        raise NotStoredError

    def recall_secret(self, prefix: str = "") -> dict[str, str]:
        return {}

    def hops(self, message_id: str) -> tuple[str, ...]:
        return ()

    async def fetched(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        return ()

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        """Nothing is ever submitted."""

    async def reachable(self, number: str) -> None:
        """Ignored: a check sends nothing to numbers."""

    def trace(self, text: str) -> None:
        """The latest health says enough."""

    def traffic(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        """Nobody watches."""
