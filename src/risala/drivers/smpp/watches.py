"""What a carrier does that an operator should know: receipts that end nothing, silence. Pure.

A receipt without an id is dropped; one whose word nobody knows, and one that says "still trying",
end nothing. If many are so, messages stay ``sent`` though the carrier says what became of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from risala.drivers.smpp.protocol.receipt_words import clean_word
from risala.sms.receipt import Receipt
from risala.sms.values import is_round_count

WORDS_MAX: Final = 50
"""Different unknown words that are counted; further ones count as one."""
TOLD_AFTER: Final = 10
"""Receipts of an hour that end nothing, from which on the operator is told whatever their share."""
SHARE: Final = 10
"""As the divisor: told too where one of so many receipts of the hour ends nothing."""
HOUR_S: Final = 3600.0
_WORDS_SHOWN: Final = 3
_OTHER: Final = "(OTHER WORDS)"
_NO_WORD: Final = "(NO WORD)"


class ReceiptWatch:
    """Counts the receipts of one carrier.

    Args:
        on_news: called with a sentence after each discovery; :attr:`attention` and
            :attr:`details` already contain it.
    """

    def __init__(self, on_news: Callable[[str], None]) -> None:
        self._on_news = on_news
        self._dropped = 0
        self._unfinal = 0
        self._words: Counter[str] = Counter()
        self._since_s = -HOUR_S
        self._hour: Counter[str] = Counter()
        self.attention = ""
        """A sentence for the operator; empty without a problem."""

    @property
    def details(self) -> Mapping[str, str | int]:
        """Facts for the carrier's health: nothing while every receipt ends a message."""
        counts: dict[str, str | int] = {}
        if self._dropped:
            counts["receipts_dropped"] = self._dropped
        if self._unfinal:
            counts["receipts_unfinal"] = self._unfinal
        return counts

    def dropped(self, now_s: float) -> None:
        """A receipt named no message."""
        self._dropped += 1
        self._count("dropped", now_s)
        if not self.attention and is_round_count(self._dropped):
            self._on_news("A receipt named no message and was dropped.")

    def took(self, receipt: Receipt, now_s: float) -> None:
        """A receipt names a message."""
        if receipt.state.is_final:
            # Nearly all receipts: one that says the end is no news while there is no problem.
            if self.attention or now_s - self._since_s >= HOUR_S:
                self._count("final", now_s)
            else:
                self._hour["final"] += 1
            return
        self._unfinal += 1
        if receipt.is_understood:
            self._count("unfinal", now_s)
            return
        word = clean_word(receipt.raw.split(" ", 1)[0].partition(":")[0]) or _NO_WORD
        if word not in self._words and len(self._words) >= WORDS_MAX:
            word = _OTHER
        self._words[word] += 1
        self._count("unknown", now_s, is_news=is_round_count(self._words[word]))

    def _count(self, kind: str, now_s: float, *, is_news: bool = False) -> None:
        if now_s - self._since_s >= HOUR_S:
            self._since_s, self._hour = now_s, Counter()
        self._hour[kind] += 1
        before, self.attention = self.attention, self._sentence()
        is_other = _beginning(before) != _beginning(self.attention)
        if self.attention and (is_other or is_news):
            self._on_news(self.attention)
        elif is_other:
            self._on_news("The carrier's receipts end messages again.")

    def _sentence(self) -> str:
        hour = self._hour
        if hour["unknown"]:
            most = self._words.most_common(_WORDS_SHOWN)
            words = ", ".join(f"{word} ({count})" for word, count in most)
            return (
                f"Receipts have words that nobody knows, so their messages stay sent: {words}. "
                "Ask the carrier what they mean, and set receipt_states."
            )
        if _is_many(hour["dropped"], hour.total()):
            return (
                f"Receipts name no message, and were dropped in this hour: {hour['dropped']}. "
                "Ask the carrier where they have the message's id."
            )
        if not hour["final"] and hour["unfinal"] >= TOLD_AFTER:
            return (
                f"Receipts of this hour only say that messages are under way: {hour['unfinal']}. "
                "Ask the carrier for those that say the end."
            )
        return ""


def _is_many(count: int, of_all: int) -> bool:
    return count >= TOLD_AFTER or (count > 0 and count * SHARE >= of_all)


def _beginning(sentence: str) -> str:
    """A sentence without its figures."""
    return sentence.partition(":")[0]


# Notices that a carrier sends nothing, though its links answer. Pure.
#
# Some SMSCs forget that a bind receives: it answers ``enquire_link`` and submits, and no receipt or
# message comes over it until it is bound again.

_LONGER_MAX: Final = 6
"""How often the wait doubles: 64 times the first one, which is more than a day by default."""
_TOLD_FROM: Final = 2
"""Binds in vain before the operator is warned: one phone that is off is no reason to look."""


class QuietWatch:
    """Decides when the receiving links of a carrier are to be bound again.

    Args:
        after_s: seconds without receipt or message while receipts are awaited; 0: never.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._since_s: float | None = None
        """When the wait began; None: nothing is awaited."""
        self._in_vain = 0

    def accepted(self, now_s: float) -> None:
        """A submit was accepted that asks for a receipt."""
        if self._since_s is None:
            self._since_s = now_s

    def came(self) -> bool:
        """A receipt or message came; True if the operator had been warned of the silence."""
        was_told = bool(self.attention)
        self._since_s, self._in_vain = None, 0
        return was_told

    def is_due(self, now_s: float) -> bool:
        if not self._after_s or self._since_s is None:
            return False
        return now_s - self._since_s >= self._after_s * (1 << self._in_vain)

    def bound_again(self, now_s: float) -> None:
        """The links are bound again: wait twice as long for the next time."""
        self._since_s = now_s
        self._in_vain = min(self._in_vain + 1, _LONGER_MAX)

    @property
    def attention(self) -> str:
        """A sentence for the operator; empty without a problem."""
        if self._in_vain < _TOLD_FROM:
            return ""
        return (
            "Messages are accepted, but no receipts or messages come over this carrier's links, "
            "even after binding again. Ask the carrier where it sends them."
        )
