"""Asking carriers what became of segments: those without a receipt, and uncertain ones.

Only carriers whose driver says that it can be asked (``capabilities.query``), and only segments
whose id at the carrier is known. An uncertain segment has one where the driver chose it; with SMPP
the id stands in the answer that never came, and a receipt may bring it.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog
import trio

from risala.engine.delivery.lane import Lane
from risala.engine.journal.messages import reads as messages
from risala.engine.model.errors import Unavailable
from risala.engine.model.ids import first_id
from risala.engine.model.states import SegmentState
from risala.plugins.contract import Receipt

log = structlog.get_logger(__name__)

ASK_AFTER_S: Final = (3600.0, 6 * 3600.0, 24 * 3600.0)
"""From the carrier's yes to each question: most receipts come in seconds, and a phone that is
switched off comes back within a day."""
WAITING_MAX: Final = 50_000
"""Segments that may wait for each question (about 10 MiB); further ones are not asked for."""
RECALLED_MESSAGES_S: Final = 2 * ASK_AFTER_S[-1]
"""After a restart, segments of messages that are not older than this are asked for."""
RECALL_ROWS: Final = 500
"""Rows looked at in one go while that is found out: a millisecond's worth."""
UNCERTAIN_BATCH: Final = 64
_SEGMENTS: Final = (
    "SELECT message_id, number, state, carrier, carrier_id, updated_at FROM segments"
    " WHERE (message_id, number) > (?, ?) ORDER BY message_id, number LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class _Question:
    due_s: float
    message_id: str
    number: int
    carrier_id: str


class Queries:
    """The questions of one lane. They are held in memory, and found again after a restart."""

    def __init__(self, lane: Lane, reader: sqlite3.Connection) -> None:
        self._lane = lane
        self._reader = reader
        self._waiting = tuple(deque[_Question]() for _ in ASK_AFTER_S)
        self._changed = trio.Event()

    def expect(self, message_id: str, number: int, carrier_id: str) -> None:
        """A segment was accepted: its receipt should come."""
        if carrier_id:
            self._put(0, message_id, number, carrier_id)

    async def run(self) -> None:
        """Ask when it is time, one after another, for life."""
        await self._recall()
        while True:
            self._changed = trio.Event()
            for step, waiting in enumerate(self._waiting):
                while waiting and waiting[0].due_s <= trio.current_time():
                    await self._ask(step, waiting.popleft())
            due_s = min((one[0].due_s for one in self._waiting if one), default=float("inf"))
            with trio.move_on_at(due_s):
                await self._changed.wait()

    async def _recall(self) -> None:
        """The segments that were accepted before this start and have no final receipt yet."""
        now_ms, now_s = self._lane.recorder.clock.now_ms(), trio.current_time()
        found = tuple(list[_Question]() for _ in ASK_AFTER_S)
        at = (first_id("sms", now_ms - round(RECALLED_MESSAGES_S * 1000)), 0)
        while rows := self._reader.execute(_SEGMENTS, (*at, RECALL_ROWS)).fetchall():
            for message_id, number, state, carrier, carrier_id, updated_at in rows:
                mine = carrier == self._lane.name and state == SegmentState.ACCEPTED
                if not mine or not carrier_id or updated_at > now_ms:
                    continue
                age_s = (now_ms - updated_at) / 1000
                step = bisect_right(ASK_AFTER_S, age_s)
                if step < len(ASK_AFTER_S) and len(found[step]) < WAITING_MAX:
                    due_s = now_s + ASK_AFTER_S[step] - age_s
                    found[step].append(_Question(due_s, message_id, number, carrier_id))
            at = rows[-1][:2]
            await trio.lowlevel.checkpoint()
        for waiting, recalled in zip(self._waiting, found, strict=True):
            # Before those that were accepted meanwhile: they fall due sooner.
            waiting.extendleft(sorted(recalled, key=lambda one: one.due_s, reverse=True))

    def _put(self, step: int, message_id: str, number: int, carrier_id: str) -> None:
        waiting = self._waiting[step]
        if len(waiting) >= WAITING_MAX:
            return
        before_s = ASK_AFTER_S[step - 1] if step else 0.0
        due_s = trio.current_time() + ASK_AFTER_S[step] - before_s
        waiting.append(_Question(due_s, message_id, number, carrier_id))
        if len(waiting) == 1:
            self._changed.set()

    async def _ask(self, step: int, question: _Question) -> None:
        if not self._is_open(question):
            return
        row = messages.row(self._reader, question.message_id)
        if row is None:
            return
        receipt = await ask(self._lane, question.carrier_id, row.sender)
        if receipt is not None:
            await _record(self._lane, receipt)
            if receipt.state.is_final:
                return
        if step + 1 < len(ASK_AFTER_S):
            self._put(step + 1, question.message_id, question.number, question.carrier_id)

    def _is_open(self, question: _Question) -> bool:
        """Still without a final receipt, and of the attempt that was asked about."""
        row = self._reader.execute(
            "SELECT 1 FROM segments WHERE message_id = ? AND number = ? AND state = ?"
            " AND carrier_id = ?",
            (question.message_id, question.number, SegmentState.ACCEPTED, question.carrier_id),
        ).fetchone()
        return row is not None


async def ask(lane: Lane, carrier_id: str, sender: str) -> Receipt | None:
    """What the carrier says of this id; None where it says nothing."""
    try:
        receipt: object = await lane.question(lambda: lane.driver.query(carrier_id, sender=sender))
    except Exception:  # a driver's bug must not end the one who asks
        log.exception("driver.query_failed", carrier=lane.name)
        return None
    if receipt is None or isinstance(receipt, Receipt):
        return receipt
    log.error("driver.wrong_receipt", carrier=lane.name, type=type(receipt).__name__)
    return None


async def ask_uncertain(lanes: Mapping[str, Lane], reader: sqlite3.Connection, now_ms: int) -> None:
    """Ask for uncertain segments whose wait is over, before the carrier's policy decides."""
    rows = reader.execute(
        "SELECT s.carrier, s.carrier_id, m.sender"
        " FROM messages m JOIN segments s ON s.message_id = m.id"
        " WHERE m.resolve_at <= ? AND s.state = 'uncertain' AND s.carrier_id <> ''"
        " ORDER BY m.resolve_at LIMIT ?",
        (now_ms, UNCERTAIN_BATCH),
    ).fetchall()
    for carrier, carrier_id, sender in rows:
        lane = lanes.get(carrier)
        if lane is None or not lane.driver.capabilities.query:
            continue
        receipt = await ask(lane, carrier_id, sender)
        if receipt is not None:  # the carrier knows it: so it was accepted
            await _record(lane, receipt)


async def _record(lane: Lane, receipt: Receipt) -> None:
    try:
        await lane.recorder.receipt(lane.name, receipt)
    except Unavailable as error:
        log.warning("query.storage", carrier=lane.name, reason=str(error))
