"""Answers that follow from no record, as models: for the reference, and for the tests that hold
answers to it. The others are in :mod:`risala.http.api.answers`.

Answers are made elsewhere (the engine's bytes, :mod:`risala.http.common.problems`); nothing at
run time goes through here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from risala.http.api.fields import schema
from risala.http.common.error_words import WORDS
from risala.http.common.problems import CODES

Absent = SkipJsonSchema[None]
"""A member that is not there where it has nothing to say; it is never null."""


class AnswerModel(BaseModel):
    """Base of all answers: its members' docstrings are their descriptions."""

    model_config = ConfigDict(use_attribute_docstrings=True, strict=True, defer_build=True)


class Notice(AnswerModel):
    """The requested sender is waiting for approval, and the message uses the default sender; or the
    recipient's country takes no names as senders, and the message uses a number."""

    code: Literal["SENDER_PENDING_APPROVAL", "SENDER_NOT_POSSIBLE"]
    requested_from: Annotated[str, Field(alias="requestedFrom")]
    """The requested sender."""
    message: str
    """A sentence for people. Its wording may change."""


class SendAnswer(AnswerModel):
    """An accepted message: stored, charged and synced to disk."""

    accepted: Literal[True]
    """Queued for delivery."""
    message_id: Annotated[str, Field(alias="messageId")]
    """For `POST /api/sms/get`."""
    idempotency_key: Annotated[str, Field(alias="idempotencyKey")]
    """Your own key, or the generated one."""
    organization_id: Annotated[str, Field(alias="organizationId")]
    """The organization that was charged."""
    sender: Annotated[str, Field(alias="from")]
    """The sender of the message."""
    notice: Notice | Absent = None


class Issue(AnswerModel):
    """One fault of a body."""

    path: list[str | int]
    """The path to the field; empty for the whole body."""
    code: str
    """A stable code for programs."""
    message: str
    """A sentence for people. Its wording may change."""


Limit = Literal[
    "phone", "organization", "ip", "sms", "network", "cooldown", "client_ip", "pumping", "search"
]


class ErrorData(AnswerModel):
    """More details, by kind of error."""

    issues: list[Issue] | Absent = None
    """All faults of the body."""
    code: Annotated[str | Absent, schema(type="string", enum=[*WORDS])] = None
    """A more precise code than the status, if there is one."""
    reason: str | Absent = None
    """With `POLICY`: the reason of the operator's policy, for programs."""
    idempotency_key: Annotated[str | Absent, Field(alias="idempotencyKey")] = None
    """With `OUTCOME_UNKNOWN`: send the message again with this key to get the result."""
    idempotency_keys: Annotated[list[str | None] | Absent, Field(alias="idempotencyKeys")] = None
    """With `OUTCOME_UNKNOWN` of a batch: a key for each message, in order; null if it was
    refused."""
    limit: Limit | Absent = None
    """The limit that was reached."""
    retry_after: Annotated[Annotated[int, Field(ge=1)] | Absent, Field(alias="retryAfter")] = None
    """Seconds to wait; for a result of a batch, which has no header."""
    reasons: list[str] | Absent = None
    """Why the service is not ready."""


class Error(AnswerModel):
    """The body of every error. It never repeats an API key, a code or a body."""

    code: Annotated[str, schema(type="string", enum=list(CODES.values()))]
    status: Annotated[int, schema(type="integer", enum=list(CODES))]
    """The HTTP status."""
    message: str
    """A sentence for people. Its wording may change."""
    data: ErrorData
    docs: str
    """The address, on this service, that explains the error."""
    request_id: Annotated[str, Field(alias="requestId")]
    """Give this id when you ask about a request. The header `x-request-id` has it too."""


class BatchAnswer(AnswerModel):
    """A result for each message, in the order of the messages."""

    results: list[SendAnswer | Error]


class Health(AnswerModel):
    """The process runs, or the service is ready."""

    status: Literal["ok", "ready"]
