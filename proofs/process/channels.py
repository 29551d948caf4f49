"""Codes that go by several channels: a chat's vendor beside the service, and the books of them.

The last digit of a number says what becomes of its codes at the chat, so that each way of going on
comes in each load.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from risala.config.channels import SMS
from risala.lab.channels.telegram import TelegramGateway
from risala.lab.channels.vendor import Json

if TYPE_CHECKING:
    from proofs.process.books import Books, Row, Tally

CHAT: Final = "chat"
PRICE: Final = 30
"""Of a code by the chat, in minor units."""
TABLE: Final = """
[channels.chat]
channel = "telegram"
price = "0.30"
rate_per_s = 1000
[channels.chat.telegram]
token = "token-of-the-account"
callback_url = "http://127.0.0.1/carriers/chat"
ttl_s = 30
url = "{url}"
"""
_WAYS: Final = 4
_STRANGER, _UNREACHED, _, _ASKS_AGAIN = range(_WAYS)
_CODE: Final = re.compile(r"\d{6}")
_REFUNDED: Final = ("failed", "canceled")
_THERE: Final = ("sent", "delivered")


def _way(number: str) -> int:
    return int(number[-4:]) % _WAYS


def asks_again(number: str) -> bool:
    """Whether its user asks for the code by SMS too, at once."""
    return _way(number) == _ASKS_AGAIN


@dataclass
class Chat(TelegramGateway):
    """A chat that knows three of four numbers, and does not reach one of these in time."""

    def has(self, number: str) -> bool:
        return _way(number) != _STRANGER

    def become(self, request_id: str, word: str) -> Json:
        number = str(self.statuses[request_id]["phone_number"])
        return super().become(request_id, "expired" if _way(number) == _UNREACHED else word)

    def taken(self, number: str) -> list[str]:
        """The codes that it got for a number."""
        return [code for to, code in self.codes if to == number]

    def shown(self, number: str) -> str | None:
        """The last code that its user sees in the chat."""
        codes = [] if _way(number) == _UNREACHED else self.taken(number)
        return codes[-1] if codes else None


@dataclass
class ChannelBooks:
    """One look at the codes that go by several channels: one session, one code, one approval, and
    each delivery charged by its channel's price."""

    books: Books
    tally: Tally
    _there: dict[str, list[tuple[str, str | None]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """The channel and the message of each delivery, by the session."""

    def look(self, known: Mapping[str, tuple[str, str]], rows: Mapping[str, Row]) -> None:
        """
        Args:
            known: the status and the number of each session in the file.
            rows: the messages in the file, by their ids.
        """
        query = (
            "SELECT d.verification_id, d.channel, k.id FROM channel_deliveries d"
            " LEFT JOIN message k ON k.key = d.message ORDER BY d.verification_id, d.n"
        )
        for verification, channel, message_id in self.books.house.service.rows(query):
            self._there[verification].append((channel, message_id))
        for verification, to in self.books.told.by_channels.items():
            self._session(verification, to, known.get(verification, ("missing", to)), rows)

    def _session(
        self, verification: str, to: str, known: tuple[str, str], rows: Mapping[str, Row]
    ) -> None:
        status, recipient = known
        found = [
            (channel, rows.get(str(message_id)))
            for channel, message_id in self._there[verification]
        ]
        if recipient != to or not found:
            self._lost(f"{verification}: {status}, and its deliveries are missing")
            return
        if verification in self.books.told.approved and status != "approved":
            self._lost(f"{verification}: approved, and {status} in the file")
        by_channel: dict[str, list[Row]] = {CHAT: [], SMS: []}
        for channel, row in found:
            if row is None:
                self._lost(f"{verification}: its delivery by {channel} has no message")
                continue
            by_channel[channel].append(row)
            self._delivery(f"{verification} by {channel}", channel, row)
        chat, carrier = self.books.house.chat, self.books.house.carrier
        self._arrived(f"{verification} by {CHAT}", by_channel[CHAT], len(chat.taken(to)))
        self._arrived(f"{verification} by {SMS}", by_channel[SMS], carrier.taken(to))
        codes = {*chat.taken(to), *_CODE.findall(carrier.text(to) or "")}
        if len(codes) > 1:
            self._lost(f"{verification}: its user got {len(codes)} codes that differ")

    def _delivery(self, what: str, channel: str, row: Row) -> None:
        """Its end, and its money."""
        self.tally.uncertain += row.uncertain
        is_sent = row.status == "sent" and self.books.forgotten
        self.tally.unreported += is_sent
        if row.status in ("queued", "sending", "sent") and not is_sent:
            self._lost(f"{what}: {row.status}, and nothing moves it on")
        elif row.status == "failed" and channel == SMS and not row.uncertain:
            self._lost(f"{what}: failed, and no carrier had refused it: {row.timeline}")
        self.books.money(what, row, PRICE if channel == CHAT else self.books.price, self.tally)

    def _arrived(self, what: str, rows: list[Row], times: int) -> None:
        """What its user has, against what the file says of it."""
        if not times and any(row.status in _THERE for row in rows):
            self._lost(f"{what}: {rows[-1].status}, and its user has no code")
        if times > 1:
            self.tally.doubled += 1
        if times > len(rows) and not any(self.books.says_again(row) for row in rows):
            self.books.fault(f"{what}: {times} times for {len(rows)} deliveries, and not a word")
            self.tally.unsaid += 1

    def _lost(self, text: str) -> None:
        self.books.fault(text)
        self.tally.lost += 1
