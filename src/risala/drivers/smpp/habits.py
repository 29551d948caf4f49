"""The habits of one carrier, learnt from its answers and receipts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from risala.drivers.smpp.protocol.pdu import SubmitSmResp
from risala.drivers.smpp.protocol.receipt import IdWatch
from risala.drivers.smpp.protocol.references import NEWS, ReferenceWatch, Repeating
from risala.drivers.smpp.protocol.tlv import CONGESTION_STATE, Tlv, find
from risala.drivers.smpp.settings import SmppSettings
from risala.sms.cause import Cause
from risala.sms.message import Segment
from risala.sms.outcome import Uncertain
from risala.sms.receipt import Receipt

_RECEIPTS_ASKED: Final = 0x03
"""Bits of ``registered_delivery`` that ask the SMSC for receipts (§5.2.17)."""
_CONGESTED_PERCENT: Final = 90
_RELIEVED_PERCENT: Final = 80
"""An SMSC's ``congestion_state`` below which it is reported as relieved. From 90 on it nears
congestion, and 80 to 89 is its best (SMPP 5.0 §4.8.4.18)."""
_UNANSWERED: Final = "The message was submitted, but no answer came back."
_NO_IDS: Final = (
    "The carrier accepts messages without giving an id: receipts find them only by recipient and"
    " user_message_reference."
)
_SAME_IDS: Final = (
    "The carrier gives every message the same id: receipts find them only by recipient and"
    " user_message_reference."
)
_SAME_IDS_MIN: Final = 3
"""Messages in a row with one id before a report: some carriers count from 0 at each bind."""


def asks_for_receipts(settings: SmppSettings) -> bool:
    return bool(settings.submit_options.registered_delivery & _RECEIPTS_ASKED)


class Habits:
    """The habits of one carrier.

    Args:
        on_news: called with a sentence after each discovery; :attr:`hint` and :attr:`details`
            already contain it.
    """

    def __init__(self, settings: SmppSettings, on_news: Callable[[str], None]) -> None:
        self.references = ReferenceWatch(
            settings.references, has_receipts=asks_for_receipts(settings)
        )
        self.hint = ""
        """Follows "Bound." in the carrier's health; empty, or a sentence with a blank before it."""
        self.gives_no_ids = False
        self.gives_same_id = False
        """Whether the latest messages, one after the other, were answered with one id."""
        self._last = ("", "")
        self._in_a_row = 0
        self._is_congested = False
        self._ids = IdWatch(settings.message_id_form)
        self._on_news = on_news

    @property
    def details(self) -> Mapping[str, str]:
        """Small facts for the carrier's health (``Health.details``)."""
        facts = {"user_message_reference": self.references.state.value}
        if self.gives_no_ids or self.gives_same_id:
            return {**facts, "attention": _NO_IDS if self.gives_no_ids else _SAME_IDS}
        return facts

    def accepted(self, response: SubmitSmResp, segment: Segment, *, has_reference: bool) -> None:
        """Learn from the answer that accepted a submit."""
        carrier_id = response.message_id
        if not carrier_id:
            if not self.gives_no_ids:
                self.gives_no_ids = True
                self._on_news(_NO_IDS)
            return
        self._ids.answered(carrier_id)
        self._watch_same_id(carrier_id, segment.message_id)
        if self._in_a_row > 1:
            self.references.shared(carrier_id)
            return
        if has_reference and self.references.state is Repeating.UNKNOWN:
            reference = segment.submit_reference
            self._watching(lambda: self.references.answered(carrier_id, reference))

    def _watch_same_id(self, carrier_id: str, message_id: str) -> None:
        last_id, last_message = self._last
        self._last = (carrier_id, message_id)
        if carrier_id != last_id:
            self._in_a_row = 1
            self.gives_same_id = False
        elif message_id != last_message:
            self._in_a_row += 1
        if self._in_a_row >= _SAME_IDS_MIN and not self.gives_same_id:
            self.gives_same_id = True
            self._on_news(_SAME_IDS)

    def load_percent(self, tlvs: tuple[Tlv, ...]) -> int | None:
        """The carrier's load in percent, by the ``congestion_state`` of an answer (SMPP 5.0
        §4.8.4.18); None if it is missing."""
        congestion = find(tlvs, CONGESTION_STATE)
        if congestion is None or len(congestion.value) != 1:
            return None
        load_percent = min(congestion.number, 100)
        # Two bounds, so that a carrier at the edge does not fill the trace.
        if load_percent >= _CONGESTED_PERCENT and not self._is_congested:
            self._is_congested = True
            self._on_news(
                f"The carrier is congested (congestion_state {load_percent}). The service slows "
                "down."
            )
        elif load_percent < _RELIEVED_PERCENT and self._is_congested:
            self._is_congested = False
            self._on_news(f"The carrier is no longer congested (congestion_state {load_percent}).")
        return load_percent

    def receipt(self, receipt: Receipt) -> Receipt:
        """Learn from a receipt. Returns it without its reference if that cannot be trusted."""
        if self.references.state is Repeating.UNKNOWN:
            self._watching(lambda: self.references.receipt(receipt))
        form = self._ids.better_form(receipt.carrier_id)
        if form is not None and not self.hint:
            news = f'Receipts match no message: set message_id_form = "{form}".'
            self.hint = f" {news}"
            self._on_news(news)
        if receipt.reference is None or self.references.is_given:
            return receipt
        # No submit of ours has a reference: this one is not ours, or always the same.
        return replace(receipt, reference=None)

    def bound(self, sc_interface_version: int | None) -> None:
        self._watching(lambda: self.references.bound(sc_interface_version))

    def tried_without_reference(self, *, is_taken: bool) -> None:
        self._watching(lambda: self.references.tried_without(is_taken=is_taken))

    def uncertain(self, raw: str, cause: Cause) -> Uncertain:
        """The outcome of a submit without an answer; its text says whether a receipt can still
        bring the result."""
        match self.references.state:
            case Repeating.REPEATED | Repeating.CUT:
                return Uncertain(
                    raw,
                    f"{_UNANSWERED} A receipt will tell what became of it, if one comes: this"
                    " carrier's name the submit.",
                    cause=cause,
                )
            case Repeating.NOT_REPEATED | Repeating.REFUSED | Repeating.TOO_OLD:
                return Uncertain(
                    raw,
                    f"{_UNANSWERED} No receipt can tell what became of it: this carrier's do not"
                    " name the submit.",
                    cause=cause,
                )
            case _:
                return Uncertain(raw, cause=cause)

    def _watching(self, learn: Callable[[], None]) -> None:
        before = self.references.state
        learn()
        after = self.references.state
        if after is not before:
            self._on_news(NEWS.get(after, f"user_message_reference: {after}."))
