"""A context that looks at all that a driver tells it, for the conformance suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from risala.plugins.contract import (
    NOTE_KEY_CHARACTERS_MAX,
    NOTE_TEXT_CHARACTERS_MAX,
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
)
from risala.plugins.fits import fault_of, fault_of_receipt
from risala.plugins.testing.context import RecordingContext


class CheckedContext(RecordingContext):
    """Records, and keeps what was wrong with it.

    Args:
        earlier: the carrier's ids that earlier checks were given, and by which check: what is told
            of them comes late, and is nothing of this check's.
    """

    def __init__(self, earlier: Mapping[str, str]) -> None:
        super().__init__("conformance")
        self._earlier = earlier
        self.wrong: list[str] = []
        """What the driver told that is not as the contract says, each a sentence."""
        self.late_from: dict[str, str] = {}
        """Ids of earlier checks of which something was told now, and those checks. A carrier that
        counts its ids from the start may have given one to this check, too."""
        self.is_over = False
        """``run`` has ended: whatever comes now is nobody's."""
        self.after_end: list[str] = []
        """What was told all the same."""
        self.refuses_each = False
        """Refuse each receipt and inbound message once."""
        self.refused_once: set[str] = set()
        """Those that were refused: ids of receipts, texts of messages."""

    def own(self, ids: Iterable[str]) -> list[Receipt]:
        """The receipts for what this check submitted."""
        mine = set(ids)
        return [one for one in self.receipts if mine & {one.carrier_id, *one.also_known_as}]

    def strangers(self, ids: Iterable[str]) -> list[str]:
        """Ids in receipts that were given for nothing, neither here nor in earlier checks."""
        known = {*ids, *self.late_from}
        return [
            one.carrier_id
            for one in self.receipts
            if not known & {one.carrier_id, *one.also_known_as}
        ]

    async def receipt(self, receipt: Receipt) -> None:
        if self._is_wrong("receipt", fault_of_receipt(receipt)):
            return
        if receipt.carrier_id in self._earlier:
            self.late_from[receipt.carrier_id] = self._earlier[receipt.carrier_id]
        self._refuse_once(receipt.carrier_id)
        await super().receipt(receipt)

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        fits = isinstance(message, Inbound) and isinstance(message.text, str)
        fault = None if fits else f"a {type(message).__name__} is no Inbound with a text"
        if self._is_wrong("inbound", fault):
            return
        self._refuse_once(message.text)
        await super().inbound(message, forget=forget)

    def _refuse_once(self, what: str) -> None:
        if self.refuses_each and what not in self.refused_once:
            self.refused_once.add(what)
            self._change()
            raise NotStoredError

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        for key, text in notes.items():
            if len(key) > NOTE_KEY_CHARACTERS_MAX or len(text or "") > NOTE_TEXT_CHARACTERS_MAX:
                self._is_wrong("remember", "a key or a text is too long")
                raise ValueError("a key or a text is too long")
        self._is_wrong("remember", None)
        await super().remember(notes)

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        fits = isinstance(segment, Segment)
        if self._is_wrong(
            "late_outcome", fault_of(outcome) if fits else "its segment is no Segment"
        ):
            return
        await super().late_outcome(segment, outcome)

    async def reachable(self, number: str) -> None:
        fault = None if isinstance(number, str) else "its number is no text"
        if not self._is_wrong("reachable", fault):
            await super().reachable(number)

    def health(self, health: Health) -> None:
        if not self._is_wrong("health", _fault_of_health(health)):
            super().health(health)

    def trace(self, text: str) -> None:
        if not self._is_wrong("trace", None if isinstance(text, str) else "its text is none"):
            super().trace(text)

    def traffic(self, sent: bool, tell: Callable[..., str], *given: object) -> None:
        line = tell(*given)
        if not self._is_wrong("traffic", _fault_of_line(line)):
            self.wire.append((sent, line))

    def _is_wrong(self, call: str, fault: str | None) -> bool:
        """Keep what is wrong with a call, and that it came after the end; True: it is wrong."""
        if fault is not None:
            self.wrong.append(f"context.{call}: {fault}")
        if self.is_over:
            self.after_end.append(f"context.{call}")
        return fault is not None


def _fault_of_line(line: object) -> str | None:
    return None if isinstance(line, str) else "its line is no text"


def _fault_of_health(health: object) -> str | None:
    if not isinstance(health, Health):
        return f"a {type(health).__name__} is no Health"
    state: object = getattr(health, "state", None)
    if not isinstance(state, HealthState):
        return "state of the Health is no HealthState"
    if not isinstance(health.text, str) or not health.text:
        return "the Health has no text: one sentence for the operator"
    wrong = [
        key
        for key, value in health.details.items()
        if not isinstance(key, str) or not (value is None or isinstance(value, str | int | float))
    ]
    return f"details[{wrong[0]!r}] of the Health is neither text nor number" if wrong else None
