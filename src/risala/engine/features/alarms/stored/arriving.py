"""What a text that comes in does to alarms, in the transaction that stores it."""

from __future__ import annotations

import sqlite3
from typing import Any

from risala.engine.features.alarms.stored.answering import ended_by
from risala.engine.model.records.inbound import PhoneArrival
from risala.engine.model.records.messages import Stamp, StoreArrival


def arrived(_: Any, arrival: PhoneArrival) -> StoreArrival | None:  # noqa: ANN401 -- SessionSources
    """What a text does in the transaction that stores it; None: nothing."""
    if not arrival.text or not arrival.number:
        return None
    number, text = arrival.number, arrival.text

    def end(conn: sqlite3.Connection, stamp: Stamp) -> None:
        ended = ended_by(conn, number, text)
        if not ended:
            return
        from risala.engine.features.alarms.records import AlarmState
        from risala.engine.features.alarms.stored.alarms import end as end_one

        for alarm_id in ended:
            end_one(conn, alarm_id, AlarmState.ANSWERED, number, stamp.now_ms)

    return end
