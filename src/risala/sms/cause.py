"""Causes of messages' states: a closed list of words, the same for every carrier and driver.

A driver maps its carrier's codes to these; the carrier's own word is kept too, as ``raw``. The
words are the ``errorCode`` of the API (contract §3) and are stored in the timeline, so none is ever
renamed or removed. Sentences in three languages: :mod:`risala.engine.model.cause_sentences`; each
word explained: ``docs/reference/error-codes.md``.
"""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """A cause. Any may end a message except those under "for the moment"."""

    # -- the recipient
    UNKNOWN_NUMBER = "UNKNOWN_NUMBER"
    """Nobody has this number, or it cannot be a number."""
    ABSENT = "ABSENT"
    """The phone is switched off or out of reach."""
    PHONE_FULL = "PHONE_FULL"
    """The phone has no room for another message, or refused it."""
    BARRED = "BARRED"
    """The recipient may not receive messages, or not from here."""

    # -- the carrier gave up, or refused
    EXPIRED = "EXPIRED"
    """The carrier accepted it, and tried until its validity was over."""
    DELETED = "DELETED"
    """The carrier accepted it, and deleted it undelivered."""
    UNDELIVERABLE = "UNDELIVERABLE"
    """The carrier accepted it, and gave up without a reason."""
    UNTRACED = "UNTRACED"
    """The carrier accepted it, and no longer has its state."""
    REJECTED = "REJECTED"
    """The carrier refused it without a reason."""
    RECIPIENT_REFUSED = "RECIPIENT_REFUSED"
    """The carrier does not accept the recipient's address: the number, or how it is written."""
    SENDER_REFUSED = "SENDER_REFUSED"
    """The carrier does not allow the sender."""
    CONTENT_REFUSED = "CONTENT_REFUSED"
    """The carrier does not allow the content of the message, or takes it for unwanted."""
    DUPLICATE = "DUPLICATE"
    """The carrier treated it as a duplicate of a message that it already has."""
    NOT_ALLOWED = "NOT_ALLOWED"
    """Our account or SIM may not do this."""
    NO_CREDIT = "NO_CREDIT"
    """Our account or SIM has no credit left at the carrier."""
    QUOTA_USED = "QUOTA_USED"
    """The line has sent as much as the operator lets it in this day or month."""
    UNSUPPORTED = "UNSUPPORTED"
    """The carrier or the modem does not take a request of this form."""
    NOT_ENCODABLE = "NOT_ENCODABLE"
    """The carrier's alphabet cannot carry the text."""
    TOO_LONG = "TOO_LONG"
    """The text has more parts than the carrier takes."""

    # -- us
    VALIDITY_OVER = "VALIDITY_OVER"
    """The message expired before a carrier accepted it."""
    RETRIES_EXHAUSTED = "RETRIES_EXHAUSTED"
    """Carriers refused the message temporarily as often as the settings allow."""
    UNCERTAIN = "UNCERTAIN"
    """The message left, and whether the carrier took it could not be found out."""
    RESTORED = "RESTORED"
    """The message was under way when the backup was made that has been restored."""
    DRIVER_FAULT = "DRIVER_FAULT"
    """The carrier's driver failed while it submitted."""

    # -- for the moment: it is tried again
    THROTTLED = "THROTTLED"
    """The carrier asks to slow down."""
    CARRIER_FAULT = "CARRIER_FAULT"
    """The carrier has a technical fault."""
    NO_SERVICE = "NO_SERVICE"
    """The line has no network."""
    DEVICE_FAULT = "DEVICE_FAULT"
    """The modem or its SIM has a fault, or waits for the operator."""
    LINK_DOWN = "LINK_DOWN"
    """The carrier's link is down; nothing was sent."""
    BUSY = "BUSY"
    """The line is busy with something else; nothing was sent."""

    # -- it left, and the answer is missing
    NO_ANSWER = "NO_ANSWER"
    """The link is up, and no answer came in time."""
    LINK_LOST = "LINK_LOST"
    """The link was lost before the answer came."""
    NOT_ACKNOWLEDGED = "NOT_ACKNOWLEDGED"
    """The carrier reports that the network did not acknowledge it in time."""
    SERVICE_STOPPED = "SERVICE_STOPPED"
    """Our service stopped before the answer came."""


def cause_of(word: str | None, otherwise: Cause) -> Cause:
    """The cause of a stored word; ``otherwise`` if this version does not have the word."""
    try:
        return Cause(word or "")
    except ValueError:
        return otherwise
