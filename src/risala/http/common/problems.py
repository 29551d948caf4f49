"""Errors as the API answers them: one table, one shape.

::

    {"code": "BAD_REQUEST", "status": 400, "message": "…", "data": {…},
     "docs": "/docs/errors#BAD_REQUEST", "requestId": "req_…"}

Every status on every endpoint has that body. It never repeats what was submitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import structlog

from risala.dataclass import dataclass
from risala.engine.model import errors
from risala.http.common.error_words import STATUS_WORDS, page_of

if TYPE_CHECKING:
    from werkzeug.exceptions import HTTPException
    from werkzeug.routing import RoutingException

log = structlog.get_logger("risala.http")

CODES: Final[Mapping[int, str]] = {each.status: name for name, each in STATUS_WORDS.items()}

# An error has the status of its most derived class found here.
STATUSES: Final[Mapping[type[errors.EngineError], int]] = {
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.CountryNotOpen: 403,
    errors.Invalid: 400,
    errors.SenderNotApproved: 400,
    errors.RecipientOptedOut: 400,
    errors.PolicyRefused: 400,
    errors.NotFound: 404,
    errors.InsufficientBalance: 402,
    errors.SpendCapReached: 402,
    errors.RateLimited: 429,
    errors.Conflict: 409,
    errors.Refusal: 400,
    errors.Unavailable: 503,
    errors.EngineError: 500,
}

_CHALLENGE: Final = 'Bearer realm="risala"'
"""Required in every 401 (RFC 9110 §15.5.2): the authentication scheme; with this one no browser
shows a form."""
_SENTENCES: Final[Mapping[int, str]] = {
    400: "The request is not valid HTTP.",
    404: "This path does not exist.",
    405: "This path does not accept that method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body must be uncompressed JSON in UTF-8, with Content-Type: application/json.",
    431: "The header fields are too large.",
    500: "An error occurred in the service. Try again later.",
    503: "The service cannot answer right now. Send again in a moment.",
}
_LACKING_RETRY_S: Final = 10
"""A machine out of memory, threads or descriptors has them again when other tasks end."""


@dataclass(frozen=True, slots=True)
class BodyIssue:
    """One fault of a body: its place, a stable code, a sentence."""

    path: tuple[str | int, ...]
    code: str
    message: str

    def wire(self) -> dict[str, Any]:
        return {"path": list(self.path), "code": self.code, "message": self.message}


@dataclass(eq=False)
class Problem(Exception):
    """An error answer. Raised if this room itself refuses a request."""

    status: int
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire(self, request_id: str) -> dict[str, Any]:
        code = CODES[self.status]
        return {
            "code": code,
            "status": self.status,
            "message": self.message,
            "data": dict(self.data),
            "docs": page_of(code, self.data),
            "requestId": request_id,
        }

    def body(self, request_id: str) -> bytes:
        payload = self.wire(request_id)
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


def plain(status: int, headers: Mapping[str, str] | None = None) -> Problem:
    """The answer that refuses a request for a reason of HTTP itself, with the status's sentence."""
    return Problem(status, _SENTENCES[status], headers=headers or {})


def not_allowed(methods: Iterable[str]) -> Problem:
    """The answer 405: the path takes these methods and no other."""
    return plain(405, {"Allow": ", ".join(sorted(methods))})


def bad_body(issues: Sequence[BodyIssue]) -> Problem:
    """The answer 400 with every fault of a body."""
    if len(issues) == 1:
        message = issues[0].message
    else:
        message = f"The request has {len(issues)} faults. data.issues lists them."
    return Problem(400, message, {"issues": [issue.wire() for issue in issues]})


def with_faults(problem: Problem, faults: Iterable[errors.FieldFault]) -> Problem:
    """The answer to a bad body, plus the faults found by the engine; each member keeps at most
    one."""
    return with_issues(problem, map(_issue, faults))


def with_issues(problem: Problem, more: Iterable[BodyIssue]) -> Problem:
    """The answer to a bad body with further faults; each member keeps at most one."""
    issues = [
        BodyIssue(tuple(seen["path"]), seen["code"], seen["message"])
        for seen in problem.data["issues"]
    ]
    seen = {issue.path for issue in issues}
    return bad_body(issues + [new for new in more if new.path not in seen])


def problem_of(error: BaseException) -> Problem:
    """The answer to any exception. An unexpected one is 500, without its text."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, errors.EngineError):
        return _refused(error)
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        # A nursery wraps the exception of its only child. In a group of two or more one may be a
        # bug, which the others must not hide: that is 500.
        return problem_of(error.exceptions[0])
    if errors.machine_lacks(error) is not None:
        return plain(503, {"Retry-After": str(_LACKING_RETRY_S)})
    # Imported here: what an idle service has, and what answers the API, does without werkzeug.
    from werkzeug.exceptions import HTTPException
    from werkzeug.routing import RoutingException

    return _http(error) if isinstance(error, HTTPException | RoutingException) else plain(500)


def report(error: BaseException, request_id: str) -> Problem:
    """As :func:`problem_of`; the cause of a 500 is logged."""
    problem = problem_of(error)
    if (lacks := errors.machine_lacks(error)) is not None:
        # One line: a traceback for each request would fill the disk too.
        log.error("machine.lacks", what=lacks, request_id=request_id)
    elif problem.status == 500:
        log.error("request failed", request_id=request_id, exc_info=error)
    return problem


def _refused(error: errors.EngineError) -> Problem:
    status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    match error:
        case errors.Invalid():
            return bad_body([_issue(fault) for fault in error.faults])
        case errors.Unauthorized():
            data = {"code": "KEY_EXPIRED"} if isinstance(error, errors.KeyExpired) else {}
            return Problem(status, str(error), data, {"WWW-Authenticate": _CHALLENGE})
        case errors.AddressNotAllowed():
            return Problem(status, str(error), {"code": "ADDRESS_NOT_ALLOWED"})
        case errors.ChallengeRequired():
            word = "CHALLENGE_REQUIRED"
            return Problem(status, str(error), {"code": word, "challenge": error.challenge})
        case errors.CountryNotOpen():
            return Problem(status, str(error), {"code": "COUNTRY_NOT_OPEN"})
        case errors.SenderNotApproved():
            return Problem(status, str(error), {"code": "SENDER_NOT_APPROVED"})
        case errors.RecipientOptedOut():
            return Problem(status, str(error), {"code": "RECIPIENT_OPTED_OUT"})
        case errors.ClassNotPossible():
            return Problem(status, str(error), {"code": "CLASS_NOT_POSSIBLE"})
        case errors.NoChannelLeft():
            return Problem(status, str(error), {"code": "NO_CHANNEL_LEFT"})
        case errors.VerifyRefused():
            return Problem(status, str(error), {"code": error.code})
        case errors.MessageLoop():
            return Problem(status, str(error), {"code": "LOOP"})
        case errors.PolicyRefused():
            return Problem(status, str(error), {"code": "POLICY", "reason": error.reason})
        case errors.SpendCapReached():
            return Problem(status, str(error), {"code": "SPEND_CAP"})
        case errors.RateLimited():
            wait = {"Retry-After": str(error.retry_after_s)}
            return Problem(status, str(error), {"limit": error.limit}, wait)
        case errors.OutcomeUnknown():
            return Problem(status, str(error), _unknown(error), _retry_after(error))
        case errors.Unavailable():
            return Problem(status, str(error), headers=_retry_after(error))
        case errors.Refusal():
            return Problem(status, str(error))
        case _:
            return plain(500)


def _issue(fault: errors.FieldFault) -> BodyIssue:
    path = tuple(fault.path.split(".")) if fault.path else ()
    return BodyIssue(path, fault.code, fault.message)


def _unknown(error: errors.OutcomeUnknown) -> dict[str, Any]:
    data: dict[str, Any] = {"code": "OUTCOME_UNKNOWN"}
    if error.of_batch:
        data["idempotencyKeys"] = list(error.keys)
    elif error.keys:
        data["idempotencyKey"] = error.keys[0]
    return data


def _retry_after(error: errors.Unavailable) -> dict[str, str]:
    return {"Retry-After": str(error.retry_after_s)}


def _http(error: HTTPException | RoutingException) -> Problem:
    from werkzeug.exceptions import HTTPException, MethodNotAllowed

    if isinstance(error, MethodNotAllowed):
        return not_allowed(error.valid_methods or ())
    status = (error.code if isinstance(error, HTTPException) else None) or 404
    if status not in _SENTENCES:  # a redirect by the router, or a status without a sentence of ours
        status = 404 if status < 400 else 400 if status < 500 else 500
    return plain(status)
