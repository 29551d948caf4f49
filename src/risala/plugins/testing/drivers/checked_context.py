"""A context for the conformance suite, which checks all that a driver reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from risala.plugins.contract import (
    NOTE_KEY_CHARACTERS_MAX,
    NOTE_TEXT_CHARACTERS_MAX,
    SECRET_CHARACTERS_MAX,
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
    """Records what a driver reports, and what is wrong with it.

    Args:
        earlier: the carrier's ids that earlier checks got, each with its check: reports about these
            ids are late, and do not count for this check.
    """

    def __init__(self, earlier: Mapping[str, str]) -> None:
        super().__init__("conformance")
        self._earlier = earlier
        self.wrong: list[str] = []
        """What the driver reported against the contract, a sentence each."""
        self.late_from: dict[str, str] = {}
        """Ids of earlier checks that are reported on now, each with its check. A carrier that
        counts its ids from the start again may have given this check the same id."""
        self.is_over = False
        """``run`` has ended: the driver may not report any more."""
        self.after_end: list[str] = []
        """Calls of the context after the end."""
        self.noted: set[str] = set()
        """What stood in the clear: texts of notes, and keys of sealed ones."""
        self.sealed: set[str] = set()
        """Texts of sealed notes, ever."""
        self.refuses_each = False
        """Refuse each receipt and inbound message once."""
        self.refused_once: set[str] = set()
        """What was refused once: ids of receipts, texts of messages."""

    def own(self, ids: Iterable[str]) -> list[Receipt]:
        """The receipts for what this check submitted."""
        mine = set(ids)
        return [one for one in self.receipts if mine & {one.carrier_id, *one.also_known_as}]

    def strangers(self, ids: Iterable[str]) -> list[str]:
        """Ids in receipts that no submit returned, here or in earlier checks."""
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
        fault = None if fits else f"a {type(message).__name__} is not an Inbound with a text"
        if self._is_wrong("inbound", fault):
            return
        self._refuse_once(message.text)
        await super().inbound(message, forget=forget)

    async def call(self, number: str | None) -> None:
        fits = number is None or (isinstance(number, str) and bool(number))
        if not self._is_wrong("call", None if fits else "its number is neither a text nor None"):
            await super().call(number)

    def _refuse_once(self, what: str) -> None:
        if self.refuses_each and what not in self.refused_once:
            self.refused_once.add(what)
            self._change()
            raise NotStoredError

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        self._refuse_long("remember", notes, NOTE_TEXT_CHARACTERS_MAX)
        self.noted.update(text for text in notes.values() if text)
        await super().remember(notes)

    async def remember_secret(
        self, secrets: Mapping[str, str | None], *, notes: Mapping[str, str | None] | None = None
    ) -> None:
        self._refuse_long("remember_secret", secrets, SECRET_CHARACTERS_MAX)
        self._refuse_long("remember_secret", notes or {}, NOTE_TEXT_CHARACTERS_MAX)
        self.noted.update(text for text in (notes or {}).values() if text)
        self.noted.update(secrets)
        self.sealed.update(text for text in secrets.values() if text)
        await super().remember_secret(secrets, notes=notes)

    def _refuse_long(self, call: str, notes: Mapping[str, str | None], characters: int) -> None:
        for key, text in notes.items():
            if not 0 < len(key) <= NOTE_KEY_CHARACTERS_MAX or len(text or "") > characters:
                fault = "a key is empty, or a key or a text is too long"
                self._is_wrong(call, fault)
                raise ValueError(fault)
        self._is_wrong(call, None)

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        fits = isinstance(segment, Segment)
        if self._is_wrong(
            "late_outcome", fault_of(outcome) if fits else "its segment is not a Segment"
        ):
            return
        await super().late_outcome(segment, outcome)

    async def reachable(self, number: str) -> None:
        fault = None if isinstance(number, str) else "its number is not a text"
        if not self._is_wrong("reachable", fault):
            await super().reachable(number)

    def health(self, health: Health) -> None:
        if not self._is_wrong("health", _fault_of_health(health)):
            super().health(health)

    def trace(self, text: str) -> None:
        if not self._is_wrong("trace", None if isinstance(text, str) else "it is not a text"):
            super().trace(text)

    def traffic(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        line = tell(*values)
        if not self._is_wrong("traffic", _fault_of_line(line)):
            self.wire.append((sent, line))

    def _is_wrong(self, call: str, fault: str | None) -> bool:
        """Record a call's fault, and that it came after the end; True: it has a fault."""
        if fault is not None:
            self.wrong.append(f"context.{call}: {fault}")
        if self.is_over:
            self.after_end.append(f"context.{call}")
        return fault is not None


def _fault_of_line(line: object) -> str | None:
    return None if isinstance(line, str) else "its line is not a text"


def _fault_of_health(health: object) -> str | None:
    if not isinstance(health, Health):
        return f"a {type(health).__name__} is not a Health"
    state: object = getattr(health, "state", None)
    if not isinstance(state, HealthState):
        return "the state of the Health is not a HealthState"
    if not isinstance(health.text, str) or not health.text:
        return "the Health lacks its text, a sentence for the operator"
    wrong = [
        key
        for key, value in health.details.items()
        if not isinstance(key, str) or not (value is None or isinstance(value, str | int | float))
    ]
    return f"details[{wrong[0]!r}] of the Health is neither text nor number" if wrong else None
