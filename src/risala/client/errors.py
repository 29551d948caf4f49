"""Everything that a call may raise: a closed tree.

::

    RisalaError                        whatever the client raises
    ├── RefusedError                   the service answered, and said no
    │   ├── RequestFaultError          your program's fault: again, it is refused again
    │   │   ├── BadRequestError        400: `issues` names every fault of the body
    │   │   │   ├── SenderNotApprovedError   the sender was denied, or is not on the account
    │   │   │   ├── RecipientOptedOutError   the recipient wants no messages of yours
    │   │   │   └── NotCancelableError       the message has left already
    │   │   ├── UnauthorizedError      401: no such key, or a disabled one
    │   │   │   └── KeyExpiredError          the key was valid until a time that is over
    │   │   ├── KeyForbiddenError      403: not with this key, or the organization is not active
    │   │   │   ├── AddressForbiddenError    this key is not for this address
    │   │   │   ├── CountryNotOpenError      the operator opens the recipient's country
    │   │   │   └── ChallengeRequiredError   a challenge has to be solved first
    │   │   └── UnknownIdError         404: no such message, verification, endpoint
    │   ├── PaymentRequiredError       402: the organization must top up
    │   │   └── SpendCapError          or wait for tomorrow: the day's spending is capped
    │   ├── TooManyRequestsError       429: a limit; `limit` says which, `retry_after_s` how long
    │   └── ServiceFaultError          5xx: the service's fault, or that of what stands before it
    │       └── UnavailableError       503: again in a moment
    │           └── OutcomeUnknownError      its disk failed: whether it is stored is not known
    ├── UnansweredError                no answer came, or none that can be read
    │   ├── NotReachedError            the request never left: nothing happened
    │   ├── LostAnswerError            it left: whether it was carried out is not known
    │   └── UnreadableAnswerError      what came is not of this service: a proxy's page, say
    └── SignatureError                 a webhook that the service did not sign

Each class says in ``fault`` whose fault it is and in ``is_passing`` whether the same call may pass
later. An error of a send carries ``idempotency_key`` (of a batch ``idempotency_keys``): with it the
send can be made again, and is made once, whatever became of the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

Fault = Literal["caller", "organization", "service", "network"]


@dataclass(frozen=True, slots=True)
class FieldIssue:
    """One fault of a request's body."""

    path: tuple[str | int, ...]
    """The place: ``("to",)``; in a batch ``("messages", 3, "to")``. Empty: the body as a whole."""
    code: str
    """A stable word, such as ``invalid_phone_number``."""
    message: str


class RisalaError(Exception):
    """Whatever a call raises."""

    fault: ClassVar[Fault] = "network"
    """The one at fault: you, the organization (money), the service, or the network."""
    is_passing: ClassVar[bool] = False
    """Whether the same call may pass later."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.idempotency_key: str | None = None
        """The key of the message that was to be sent, yours or the one that was made for it."""
        self.idempotency_keys: tuple[str, ...] = ()
        """The key of each message of a batch, in order."""
        self.is_maybe_done = False
        """Whether this call, or an attempt of it, may have been carried out nevertheless."""


class RefusedError(RisalaError):
    """The service answered with an error."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        data: Mapping[str, Any],
        request_id: str | None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}" if code else f"{status}: {message}")
        self.status = status
        self.code = code
        """The API's word for the status, ``BAD_REQUEST``; empty where a proxy answered."""
        self.message = message
        """A sentence for people. It may change; `code` and `data` do not."""
        self.data = data
        self.request_id = request_id
        """Quote it when you ask the operator about the request."""
        word = data.get("code")
        self.word = word if isinstance(word, str) else None
        """A narrower word than `code`, where there is one, such as ``DELIVERY_PENDING``."""
        self.retry_after_s = retry_after_s
        """How long to wait before the next try, where the service says so."""

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.status, self.code, self.message, self.data, self.request_id)
        return type(self), (*values, self.retry_after_s), self.__dict__


class RequestFaultError(RefusedError):
    """Your program's fault: the same request is refused again."""

    fault: ClassVar[Fault] = "caller"


class BadRequestError(RequestFaultError):
    """The body is not valid."""

    @property
    def issues(self) -> tuple[FieldIssue, ...]:
        """Every fault of the body at once; empty where it is not the body's form that is wrong."""
        members = self.data.get("issues")
        if not isinstance(members, list):
            return ()
        return tuple(
            FieldIssue(tuple(each.get("path", ())), str(each.get("code")), str(each.get("message")))
            for each in members
            if isinstance(each, Mapping)
        )


class SenderNotApprovedError(BadRequestError):
    """The sender was denied, or is not on the account."""


class RecipientOptedOutError(BadRequestError):
    """The recipient wants no messages of the organization."""


class NotCancelableError(BadRequestError):
    """The message has left, or has ended: it cannot be canceled."""


class UnauthorizedError(RequestFaultError):
    """No key, an unknown or a disabled one."""


class KeyExpiredError(UnauthorizedError):
    """The key was valid until a time that is over: use another, or have its expiry changed."""


class KeyForbiddenError(RequestFaultError):
    """The key is not for this call, or its organization is not active."""


class AddressForbiddenError(KeyForbiddenError):
    """The key is not for the address that the request came from."""


class CountryNotOpenError(KeyForbiddenError):
    """The recipient's country is not open to the organization. The operator opens it."""


class ChallengeRequiredError(KeyForbiddenError):
    """The key sends a code only after a challenge is answered: `solve_challenge(error.challenge)`
    is the ``challenge`` of the same call."""

    @property
    def challenge(self) -> Mapping[str, Any]:
        """What is asked, as the API says it."""
        challenge = self.data.get("challenge")
        return challenge if isinstance(challenge, Mapping) else {}


class UnknownIdError(RequestFaultError):
    """The key has no such message, verification or endpoint."""


class PaymentRequiredError(RefusedError):
    """The balance does not cover the price."""

    fault: ClassVar[Fault] = "organization"
    is_passing = True


class SpendCapError(PaymentRequiredError):
    """The price would go beyond what the organization may spend in a day."""


class TooManyRequestsError(RefusedError):
    """A limit is reached."""

    fault: ClassVar[Fault] = "caller"
    is_passing = True

    @property
    def limit(self) -> str | None:
        """Which: ``sms``, ``phone``, ``organization``, ``ip``, ``network`` or ``cooldown``."""
        word = self.data.get("limit")
        return word if isinstance(word, str) else None


class ServiceFaultError(RefusedError):
    """The service's fault, or that of a proxy before it."""

    fault: ClassVar[Fault] = "service"
    is_passing = True


class UnavailableError(ServiceFaultError):
    """The service is full, stopping, or cannot write."""


class OutcomeUnknownError(UnavailableError):
    """The service's disk failed in the middle of a commit. The same call with the same
    ``idempotency_key`` gives the truth."""


class UnansweredError(RisalaError):
    """No answer came, or none that can be read."""


class NotReachedError(UnansweredError):
    """The request never left: nothing happened."""

    is_passing = True


class LostAnswerError(UnansweredError):
    """The request left, and no answer came. Whether it was carried out is not known."""

    is_passing = True


class UnreadableAnswerError(UnansweredError):
    """What came is no answer of this service. Whether it was asked is not known."""


class SignatureError(RisalaError):
    """What came to the webhook was not signed by the service, or is too old."""

    fault: ClassVar[Fault] = "caller"


BY_STATUS: Final[Mapping[int, type[RefusedError]]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    402: PaymentRequiredError,
    403: KeyForbiddenError,
    404: UnknownIdError,
    429: TooManyRequestsError,
    503: UnavailableError,
}
"""The error of a status: any other below 500 is `RequestFaultError`, above `ServiceFaultError`."""
BY_WORD: Final[Mapping[str, type[RefusedError]]] = {
    "SENDER_NOT_APPROVED": SenderNotApprovedError,
    "RECIPIENT_OPTED_OUT": RecipientOptedOutError,
    "NOT_CANCELABLE": NotCancelableError,
    "KEY_EXPIRED": KeyExpiredError,
    "ADDRESS_NOT_ALLOWED": AddressForbiddenError,
    "COUNTRY_NOT_OPEN": CountryNotOpenError,
    "CHALLENGE_REQUIRED": ChallengeRequiredError,
    "SPEND_CAP": SpendCapError,
    "OUTCOME_UNKNOWN": OutcomeUnknownError,
}
"""By ``data.code``, where there is one."""


def refusal(status: int, body: object, retry_after_s: float | None = None) -> RefusedError:
    """The error that an answer is: by its status and by ``data.code``.

    A body that is not of this service (a proxy's page) gives an error without a code.
    """
    members = body if isinstance(body, Mapping) else {}
    data = members.get("data")
    if not isinstance(data, Mapping):
        data = {}
    usual = RequestFaultError if status < 500 else ServiceFaultError
    kind = BY_STATUS.get(status, usual)
    word = data.get("code")
    derived = BY_WORD.get(word) if isinstance(word, str) else None
    if derived is not None and issubclass(derived, kind):
        kind = derived
    code, request_id = members.get("code"), members.get("requestId")
    return kind(
        status,
        code if isinstance(code, str) else "",
        str(members.get("message") or "The service refused the request, without saying why."),
        data,
        request_id if isinstance(request_id, str) else None,
        retry_after_s,
    )


def keyed(error: RisalaError, keys: Sequence[str], *, is_batch: bool) -> RisalaError:
    """The error with the keys of the messages that were to be sent."""
    if is_batch:
        error.idempotency_keys = tuple(keys)
    elif keys:
        error.idempotency_key = keys[0]
    return error
