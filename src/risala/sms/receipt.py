"""The carrier's later word on a segment: a delivery receipt, or that it does not have it."""

from __future__ import annotations

from enum import StrEnum

from risala.dataclass import dataclass
from risala.sms.cause import Cause


class ReceiptState(StrEnum):
    """Message states of SMPP 3.4 §5.2.28; other protocols map to the nearest."""

    ENROUTE = "ENROUTE"
    """The carrier is still trying."""
    DELIVERED = "DELIVERED"
    """The phone has it."""
    EXPIRED = "EXPIRED"
    """The carrier tried until its validity was over."""
    DELETED = "DELETED"
    """The carrier deleted it, undelivered."""
    UNDELIVERABLE = "UNDELIVERABLE"
    """The carrier gave up."""
    ACCEPTED = "ACCEPTED"
    """Read on the phone's behalf by the carrier's service; not final."""
    UNKNOWN = "UNKNOWN"
    """The carrier no longer knows."""
    REJECTED = "REJECTED"
    """The carrier refused it after all."""

    @property
    def is_final(self) -> bool:
        """True where the carrier will not try any more. ``ACCEPTED`` is not a delivery."""
        return self not in (ReceiptState.ENROUTE, ReceiptState.ACCEPTED)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one accepted segment."""

    carrier_id: str
    """The id in the receipt, as it stood there."""
    state: ReceiptState
    """What became of it, or what is being done."""
    raw: str
    """The carrier's own word: ``UNDELIV err:027``, ``TP-ST 46``. No message text."""
    cause: Cause | None = None
    """Why it was not delivered, where the carrier's code tells more than ``state`` does."""
    also_known_as: tuple[str, ...] = ()
    """The id in its other forms by the carrier's configured rule (hex for decimal and the
    reverse)."""
    recipient: str | None = None
    """The number that the message was for, where the receipt says so. A message for another number
    never gets this receipt, even under the same carrier's id."""
    sender: str | None = None
    """The sender that the message had, where the receipt says so: some carriers write the two the
    wrong way round, and either may be the recipient then."""
    reference: int | None = None
    """The submit's own reference (:attr:`Segment.submit_reference`), where the carrier repeats it:
    it names a submit whose answer, and with it the carrier's id, never came."""
    recipient_tells: bool = False
    """True from a line that submits one message after the other and whose receipts carry no usable
    id (a modem). Where exactly one submit to the recipient has no answer, the receipt is taken to
    be that submit's."""

    is_understood: bool = True
    """False: nobody knows what the carrier's word means; ``state`` is not final then."""
    label: str | None = None
    """How the carrier labelled the receipt and how it was read, where these differ, as in
    :attr:`Inbound.label`."""

    @property
    def in_timeline(self) -> str:
        """The carrier's own word, and how the receipt was labelled if that was wrong: for the
        message's timeline alone."""
        return self.raw if self.label is None else f"{self.raw} ({self.label})"

    @property
    def why(self) -> Cause:
        """Why the segment was not delivered; of no meaning where ``state`` is ``DELIVERED``."""
        return self.cause or _BY_STATE.get(self.state, Cause.UNDELIVERABLE)


@dataclass(frozen=True, slots=True)
class NotTaken:
    """The carrier surely does not have a submit: it was asked by the submit's id, and says that it
    knows no such id."""

    raw: str = ""
    """The carrier's own word, such as ``404``."""


_BY_STATE = {
    ReceiptState.EXPIRED: Cause.EXPIRED,
    ReceiptState.DELETED: Cause.DELETED,
    ReceiptState.UNKNOWN: Cause.UNTRACED,
    ReceiptState.REJECTED: Cause.REJECTED,
}
