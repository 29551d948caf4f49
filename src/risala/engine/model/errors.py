"""What the engine may refuse, and whose fault it is.

::

    EngineError
    ├── Refusal                    the caller's matter; nothing was stored, charged or queued
    │   ├── Unauthorized           missing, unknown or disabled key                  401
    │   │   └── KeyExpired         the key's time is over
    │   ├── Forbidden              key type, origin, or organization not active      403
    │   │   ├── AddressNotAllowed  the key is not for the client's address
    │   │   ├── ChallengeRequired  the key's challenge is not answered, or not rightly
    │   │   ├── CountryNotOpen     the number's country is not open to the organization
    │   │   ├── AccountClosed      a session by an organization's provider reaches no account
    │   │   └── IdentityRefused    an identity provider's word lets nobody in
    │   ├── Invalid                a field is wrong, or several                      400
    │   ├── SenderNotApproved      ``from`` is rejected or not on the account        400
    │   ├── PolicyRefused          a policy of the operator's forbids it            400
    │   ├── RecipientOptedOut      the recipient wants no messages                   400
    │   ├── ClassNotPossible       no carrier of the number can send a flash text   400
    │   ├── NoChannelLeft          a code cannot be brought once more                400
    │   ├── VerifyRefused          no way to verify in this manner                   400
    │   ├── MessageLoop            it came through this service, or too many         400
    │   ├── NotFound               no such thing for this caller                     404
    │   ├── InsufficientBalance    the balance does not cover the price              402
    │   ├── SpendCapReached        the organization's cap of the day is in the way   402
    │   ├── RateLimited            a bucket is empty; ``retry_after_s``              429
    │   └── Conflict               the thing is not in a state that allows it        409 (operator)
    │       └── ApprovalNeeded     another operator must confirm it
    ├── ProviderNeeded             a person has to sign in by the organization's provider first
    ├── FactorNeeded               a person has to set up a second factor first
    ├── NotFresh                   a person has to show once more who they are
    └── Unavailable                ours; ask again after ``retry_after_s``           503
        ├── Overloaded             an intake or a queue is full
        ├── Draining               the service is stopping
        ├── PolicyFailed           a policy of the operator's is no help
        ├── SecretLost             a secret is sealed with a key that is not here
        ├── LogSilent              the machine that answers wait for does not answer
        └── StorageFailed          the disk is full or broken
            └── OutcomeUnknown     it failed in the commit: it is stored, or it is not; or the
                                   machine that answers wait for has not answered in time
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass


class EngineError(Exception):
    """Root of all errors that the engine raises on purpose."""


class Refusal(EngineError):
    """A refusal that the caller can act on; ``str()`` is a sentence for the caller."""


class FactorNeeded(EngineError):
    """The caller has to set up a second factor first."""

    def __init__(self) -> None:
        super().__init__("You need a second factor here. Set one up in your account.")


class ProviderNeeded(EngineError):
    """The organization is entered by its identity provider alone."""

    def __init__(self, organization_id: str) -> None:
        super().__init__("Members enter this organization by its identity provider.")
        self.organization_id = organization_id


class NotFresh(EngineError):
    """The caller has to show again who they are, for something important."""

    def __init__(self) -> None:
        super().__init__("Show once more who you are, then do this again.")


class Unauthorized(Refusal):
    """The key is missing, unknown or disabled."""

    def __init__(self, message: str = "The API key is missing or not valid.") -> None:
        super().__init__(message)


class KeyExpired(Unauthorized):
    """The key was valid until a time that is over."""

    def __init__(self) -> None:
        super().__init__(
            "The API key has expired. Use another key, or have this one's expiry changed."
        )


class Forbidden(Refusal):
    """The caller is known, but may not do this."""


class AddressNotAllowed(Forbidden):
    """The key may not be used from the client's address."""

    def __init__(self, address: str | None) -> None:
        where = "an unknown address" if address is None else f"the address {address}"
        super().__init__(f"This API key must not be used from {where}.")


class ChallengeRequired(Forbidden):
    """The key asks for a challenge to be answered first."""

    def __init__(self, challenge: Mapping[str, Any], *, has_failed: bool) -> None:
        """
        Args:
            challenge: a new one, as the API answers it.
            has_failed: whether an answer was there, and does not count.
        """
        why = "This key sends a code only after a challenge is answered."
        if has_failed:
            why = "The challenge's answer does not count: it is wrong, late, used or another's."
        super().__init__(
            f"{why} Solve data.challenge, and send the same body with its answer as `challenge`."
        )
        self.challenge = challenge


class AccountClosed(Forbidden):
    """The session is by an organization's identity provider: it enters this organization alone."""

    def __init__(self) -> None:
        super().__init__(
            "You signed in by your organization's identity provider, for this organization alone."
            " For your own account, sign in by a code by e-mail."
        )


class CountryNotOpen(Forbidden):
    """The number's country is not open to the organization, or has no price."""

    def __init__(self, country: str) -> None:
        super().__init__(
            f"{country} is not open to your organization. Ask the operator of this service to open"
            " it."
        )
        self.country = country
        """The country's name in English."""


class IdentityFault(StrEnum):
    """Why a sign-in at an identity provider lets nobody in here."""

    CANCELLED = "cancelled"
    """The person stopped it at the provider."""
    NOT_BEGUN = "not_begun"
    """The sign-in was begun in another browser, too long ago, or used already."""
    UNREACHABLE = "unreachable"
    """The provider does not answer, or says that it cannot now."""
    MISSET = "misset"
    """The provider knows no such client, or is not what the settings say."""
    INVALID = "invalid"
    """The provider's answer is not valid: signature, audience, issuer, nonce."""
    CLOCK = "clock"
    """The provider's clock and ours differ."""
    NOT_VERIFIED = "not_verified"
    """The provider has not verified the person's e-mail address, or gives none."""
    DOMAIN = "domain"
    """The address is of a domain that it cannot vouch for."""
    NO_ROLE = "no_role"
    """The provider gives the person no role here."""
    NOT_OPERATOR = "not_operator"
    """The person is no operator."""
    OTHER_ACCOUNT = "other_account"
    """The address belongs to a user whose account at the provider is another one."""
    OTHER_PERSON = "other_person"
    """The person who signed in is not the one whose session it is."""
    STALE = "stale"
    """The provider did not ask the person anew."""
    ONE_FACTOR = "one_factor"
    """The organization demands two factors, and the provider says nothing of two."""


class IdentityRefused(Forbidden):
    """A sign-in at an identity provider lets nobody in here."""

    def __init__(self, fault: IdentityFault, detail: str = "", *, email: str = "") -> None:
        super().__init__(f"The sign-in at the identity provider failed: {fault}.")
        self.fault = fault
        self.detail = detail
        """For the log; never shown."""
        self.email = email
        """The person's address, which the provider verified; empty: none is known."""


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field."""

    path: str
    code: str
    """Stable: clients may depend on it."""
    message: str


class Invalid(Refusal):
    """Fields are wrong; names every fault."""

    def __init__(self, path: str, code: str, message: str) -> None:
        super().__init__(message)
        self.faults: tuple[FieldFault, ...] = (FieldFault(path, code, message),)

    @property
    def path(self) -> str:
        """The path of the first fault."""
        return self.faults[0].path

    @property
    def code(self) -> str:
        """The code of the first fault."""
        return self.faults[0].code

    @classmethod
    def of(cls, faults: Sequence[FieldFault]) -> Invalid:
        """One refusal for all of them; there is at least one."""
        error = cls("", "", " ".join(fault.message for fault in faults))
        error.faults = tuple(faults)
        return error


class SenderNotApproved(Refusal):
    """The sender was denied, or is not on the account."""

    def __init__(self, sender: str) -> None:
        super().__init__(
            f"The sender {sender!r} is not approved for your organization. "
            "Request it in the dashboard, or leave the sender out to use the default one."
        )
        self.sender = sender


class ClassNotPossible(Refusal):
    """No carrier of the number can send a flash message."""

    def __init__(self) -> None:
        super().__init__(
            "No carrier of this number can send a flash message. Send an ordinary one, or ask the "
            "operator."
        )


class RecipientOptedOut(Refusal):
    """The recipient wants no messages of this organization."""

    def __init__(self) -> None:
        super().__init__(
            "The recipient has opted out of your messages. They can opt in again by replying START."
        )


class MessageLoop(Refusal):
    """A message came back from another Risala, or passed through too many."""


class NoChannelLeft(Refusal):
    """A code cannot be brought by another channel."""


class VerifyRefused(Refusal):
    """A verification cannot be begun or checked in this way."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        """Stable, for programs."""


class PolicyRefused(Refusal):
    """A policy of the operator's forbids the message."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """Stable, for programs: the policy's own code."""


class NotFound(Refusal):
    """The thing does not exist, or not for this caller."""


class InsufficientBalance(Refusal):
    """The balance does not cover the price."""

    def __init__(
        self, message: str = "The balance does not cover the price. Top up, then send again."
    ) -> None:
        super().__init__(message)


class SpendCapReached(Refusal):
    """The organization has reached its daily cap."""

    def __init__(self) -> None:
        super().__init__(
            "Your organization has reached its spend cap for today. Raise the cap, or send "
            "after midnight."
        )


class RateLimited(Refusal):
    """A limit is reached; ``retry_after_s`` is the time to wait."""

    def __init__(self, limit: str, retry_after_s: int, message: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.retry_after_s = retry_after_s


class Conflict(Refusal):
    """The thing is not in a state that allows this."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        """Stable, for programs; None: only people see it."""


class ApprovalNeeded(Conflict):
    """One operator may not do it alone: it is asked for, and another one confirms it."""

    def __init__(self, approval_id: str, until: str) -> None:
        super().__init__(
            f"Another operator must confirm this. It waits as {approval_id} until {until}.",
            "APPROVAL_NEEDED",
        )
        self.approval_id = approval_id


class EditConflict(Conflict):
    """The object was changed after the editor had read it."""

    def __init__(self, who: str) -> None:
        super().__init__(
            f"This was changed in the meantime by {who}. Reload it, then make your change again."
        )
        self.who = who
        """As the audit trail names them."""


class Unavailable(EngineError):
    """Our own fault or state; ask again after ``retry_after_s``."""

    retry_after_s: int = 1


class Overloaded(Unavailable):
    """An intake or a queue is full."""

    def __init__(self, message: str = "The service is busy. Send again in a moment.") -> None:
        super().__init__(message)


class Draining(Unavailable):
    """The service is stopping."""

    retry_after_s = 5

    def __init__(self, message: str = "The service is stopping. Send again in a moment.") -> None:
        super().__init__(message)


class PolicyFailed(Unavailable):
    """An operator's policy did not decide whether the message may be sent."""

    retry_after_s = 5

    def __init__(
        self, message: str = "The service cannot take messages right now. Send again in a moment."
    ) -> None:
        super().__init__(message)


class SecretLost(Unavailable):
    """A stored secret cannot be opened: its sealing key is not here, or it was changed."""

    retry_after_s = 60

    def __init__(self, purpose: str, identity: str) -> None:
        super().__init__(
            "A secret that is needed here cannot be opened. The operator of this service has to"
            " bring its sealing key back, or the secret has to be made anew."
        )
        self.purpose = purpose
        self.identity = identity
        """The id of its row."""


class LogSilent(Unavailable):
    """Answers wait for another machine, which has not answered for long. Nothing was done."""

    retry_after_s = 5

    def __init__(
        self,
        message: str = "The service cannot store anything on its second machine right now. "
        "Try again in a moment.",
    ) -> None:
        super().__init__(message)


class StorageFailed(Unavailable):
    """The disk is full or broken, or the database is not the one that was opened."""

    retry_after_s = 10

    def __init__(
        self, message: str = "The service cannot store messages right now. Try again in a moment."
    ) -> None:
        super().__init__(message)


class OutcomeUnknown(StorageFailed):
    """The disk failed during a commit: it is unknown whether it is on disk.

    As long as the service runs, the commit does not count; after a crash before the next commit it
    may turn out to be stored. Or the second machine has not answered in time: then it is done as
    soon as that one answers, if this machine lives until then.
    """

    def __init__(
        self,
        message: str = "The disk failed while this was being stored, so it may or may not be "
        "stored. Check before you do it again.",
        keys: tuple[str | None, ...] = (),
        *,
        of_batch: bool = False,
    ) -> None:
        super().__init__(message)
        self.of_batch = of_batch
        self.keys = keys
        """The idempotency key of each message, in order, including generated ones: a message sent
        again with its key is answered with the result of the first. None for a refused message."""


UNCONFIRMED: Final = (
    "The second machine has not confirmed this in time, so it may or may not be done. Check before "
    "you do it again."
)
"""The words of an :class:`OutcomeUnknown` where answers wait for another machine."""


def machine_lacks(error: BaseException) -> str | None:
    """The resource that the machine has run out of, if that is the only fault; else None."""
    if isinstance(error, MemoryError):
        return "memory"
    # Python has neither a class nor a number for it.
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return "threads"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "descriptors"
    return None


@dataclass(frozen=True, slots=True)
class Failed:
    """The error of one of several things that were written together."""

    error: BaseException


class StorageUnusable(Exception):
    """The data directory or its database cannot be opened. ``str()`` is one sentence for people."""


class DataDirectoryBusy(StorageUnusable):
    """The data directory is held by another process."""

    def __init__(self, directory: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"The data directory {directory} is in use by {holder}.")
        self.pid = pid
        """For display only: it may be stale or not yet written."""


class NotTheSender(Exception):
    """The service does not begin, because another machine may send; ``str()`` is one sentence."""


class StoppedEarly(Exception):
    """A stop was ordered before the service had begun."""
