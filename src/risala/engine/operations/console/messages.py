"""Messages of all organizations, for operators: found by what a customer says on the phone."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeDigits,
    MaybeNumber,
    MaybeText,
    MaybeWhole,
    words,
)
from risala.engine.kernel.cursors import few_numbers, limit_of
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import masked
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records import message_lists, messages
from risala.engine.model.records.message_lists import (
    FoundPage,
    Sought,
)
from risala.engine.model.records.messages import MessageBody
from risala.engine.operations.lists import MaybeCursor
from risala.engine.operations.messages import OfMessage
from risala.engine.rules.roles import OPERATORS, SUPPORT

REASON_MAX: Final = 200


class FindMessages(Arguments):
    """A page of messages: those to a number, the one of an id, or those with these digits or this
    carrier's id."""

    to: MaybeNumber = None
    digits: MaybeDigits = None
    message_id: MaybeText = None
    carrier_id: MaybeText = None
    """The carrier's id (``providerMessageId``), in any form."""
    before: MaybeCursor = None
    after: MaybeCursor = None
    limit: MaybeWhole = None


class ReadBody(OfMessage):
    """Read the text of one message, which is otherwise hidden from operators."""

    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]
    """Why: it is in the audit trail before the text is shown."""


OPERATIONS: Final = Operations()


@OPERATIONS(message_lists.FIND, roles=OPERATORS, operators=SUPPORT, shows_texts=True)
async def _find(call: Call[FindMessages]) -> FoundPage:
    given = call.given
    told = {
        "to": None if given.to is None else masked(given.to),
        # They may be just the digits that the trail leaves out.
        "digits": None if given.digits is None else f"{len(given.digits)} digits",
        "message": given.message_id,
        "carrierId": given.carrier_id if given.digits is None else None,
    }
    said = {name: value for name, value in told.items() if value is not None}
    if len(said) != 1:
        advice = "Give one of `to`, `digits`, `message_id` and `carrier_id`."
        raise Invalid("to", "one_of", advice)
    await call.note(call.audit(said=said, always=True))
    limit = limit_of(given.limit)
    plan = call.services.settings.plan
    ranges = None if given.digits is None else plan.ranges_of(given.digits)
    wanted = Sought(given.to, ranges, given.message_id, given.carrier_id)
    lists = call.services.repositories.message_lists
    with few_numbers():
        return lists.find(wanted, before=given.before, after=given.after, limit=limit)


@OPERATIONS(
    messages.BODY, roles=OPERATORS, operators=SUPPORT, owner=owners.of_message, shows_texts=True
)
async def _body(call: Call[ReadBody]) -> MessageBody:
    given = call.given
    found = call.services.repositories.messages.find(given.message_id)
    if found is None:
        raise NotFound(f"There is no message {given.message_id}.")
    by = call.audit(
        subject=given.message_id,
        organization_id=found.organization_id,
        said={"reason": given.reason},
        always=True,
    )
    await call.note(by)
    return MessageBody(found.id, found.organization_id, found.kind, found.body)
