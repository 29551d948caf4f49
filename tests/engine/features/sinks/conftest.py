"""Events as a unit of the engine would write them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from risala.engine.journal.webhooks import outbox
from risala.engine.model.events import EventType, MessageEvent
from risala.engine.model.ids import message_id


@pytest.fixture
def happen() -> Callable[..., Awaitable[list[str]]]:
    """``await happen(house, count)``: the ids of new events."""

    async def happen_in(house, count: int) -> list[str]:
        recorder = house.gateway.services.recorder
        whose = (house.principal.organization_id, "live", message_id(1, 1))  # none that is here
        what = ("+22236123456", "RISALA", "sent", None, None, None, {}, 50, "MRU")
        event = MessageEvent(EventType.SMS_SENT, recorder.clock.now_ms(), *whose, *what)
        return await recorder.journal.commit(
            lambda conn: [outbox.write(conn, event) for _ in range(count)]
        )

    return happen_in
