"""What customers' servers reply to texts: each text gets one reply at most, whatever is killed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from proofs.process.hooks import REPLY

MODEM: Final = "sim-1"

if TYPE_CHECKING:
    from proofs.process.books import Books, Row, Tally


@dataclass(frozen=True, slots=True)
class ReplyBooks:
    """Replies, as the file, the phones and the servers know them."""

    books: Books
    tally: Tally

    def queue(self) -> dict[str, str]:
        """Texts that have a reply, and its message; empty: it did not leave."""
        return dict(
            self.books.house.service.rows("SELECT text_id, coalesce(message_id, '') FROM answers")
        )

    def look(self, before: dict[str, str], rows: dict[str, list[Row]]) -> None:
        """Hold them against each other: phones write on meanwhile.

        Args:
            before: the queue before the messages were read.
            rows: all messages, by their texts.
        """
        by_text: dict[str, list[tuple[str, Row]]] = {}
        for body, messages in rows.items():
            if body.startswith(REPLY):
                text_id = body.removeprefix(REPLY).partition(" ")[0]
                by_text.setdefault(text_id, []).extend((body, each) for each in messages)
        replied = self._replied()
        queue = self.queue()
        self.tally.asked = len(queue)
        for text_id in replied:
            self.tally.owed += 1
            self.tally.told += text_id in queue
            if text_id not in queue:
                self.tally.lost += 1
                self.books.fault(f"{text_id}: its event was answered, and the reply is nowhere")
        for text_id, replies in by_text.items():
            self.tally.accepted += 1
            if len(replies) > 1 or queue.get(text_id) != replies[0][1].id:
                self.tally.doubled += 1
                self.tally.unsaid += 1
                ids = [row.id for _, row in replies]
                self.books.fault(f"{text_id}: replied to by {ids}, noted {queue.get(text_id)}")
            for body, row in replies:
                self._message(body, row)
        for text_id, message_id in before.items():
            if message_id and text_id not in by_text:
                self.tally.lost += 1
                self.books.fault(f"{text_id}: noted as replied to by {message_id}, which is not")

    def _replied(self) -> set[str]:
        """Texts whose event a server has answered with a reply, as the file says."""
        delivered = {
            event
            for (event,) in self.books.house.service.rows(
                "SELECT event_id FROM webhook_deliveries WHERE state = 'delivered'"
                " AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE may_reply)"
            )
        }
        bodies = (
            json.loads(each.body)
            for each in self.books.house.service.events()
            if each.id in delivered
        )
        return {each["messageId"] for each in bodies if each["type"] == "sms.received"}

    def _message(self, body: str, row: Row) -> None:
        books = self.books
        self.tally.uncertain += row.uncertain
        books.money(body, row, books.price, self.tally)
        came = books.house.carrier.came(body)
        if came > 1:
            self.tally.doubled += 1
            if not books.says_again(row):
                self.tally.unsaid += 1
                books.fault(f"{body}: {came} times at its phone, and not a word: {row.timeline}")
        if row.status in ("sent", "delivered") and not came and row.carrier != MODEM:
            self.tally.lost += 1
            books.fault(f"{body}: {row.status}, and no phone has it")
