"""Numbers with a fixed code: set and removed by owners, ended by time."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.fixed_numbers.feature import (
    CODE_DIGITS,
    DAY_MS,
    DAYS_MAX,
    LIST,
    REMOVE,
    SET,
    FixedNumber,
    FixedNumbers,
)
from risala.engine.features.fixed_numbers.stored import FixedNumberRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Number,
    OfOrganization,
    fault,
    text,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.errors import Conflict
from risala.engine.rules.roles import OWNERS, READERS, VIEWERS
from risala.sms.typed import typed_code

PROVES_PAYERS: Final = (
    "Codes of this organization prove who pays: a number of it has no fixed code. Take another"
    " organization for your app."
)


def _code(value: object) -> str:
    code, (low, high) = typed_code(text(value)), CODE_DIGITS
    if not (code.isascii() and code.isdigit() and low <= len(code) <= high):
        raise fault("invalid_fixed_code", f"`{{name}}` has {low} to {high} digits.")
    return code


def _days(value: object) -> int:
    days = whole(value)
    if not 1 <= days <= DAYS_MAX:
        raise fault("invalid_fixed_days", f"`{{name}}` must be 1 to {DAYS_MAX}.")
    return days


class OfFixedNumber(OfOrganization):
    """Names a number with a fixed code."""

    number: Number


class SetFixedNumber(OfFixedNumber):
    """Give a number a fixed code: it gets no SMS until the end."""

    code: Annotated[
        str,
        PlainValidator(_code),
        ArgumentKind(f"{CODE_DIGITS[0]} to {CODE_DIGITS[1]} digits"),
    ] = Field(repr=False)
    days: Annotated[int, PlainValidator(_days), ArgumentKind(f"whole number, 1 to {DAYS_MAX}")]
    """After so many days it ends."""


OPERATIONS: Final = Operations()


@OPERATIONS(LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> FixedNumbers:
    organization_id = call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    stored = call.stored(FixedNumberRepository).of_organization(organization_id)
    return FixedNumbers(tuple(each for each in stored if each.ends_at > call.now_ms))


@OPERATIONS(SET, roles=OWNERS, owner=owners.named, changes=FixedNumber, fresh_for_all=True)
async def _set(call: Call[SetFixedNumber]) -> FixedNumber:
    arguments, stored = call.arguments, call.stored(FixedNumberRepository)
    organization_id, number = arguments.organization_id, arguments.number
    if call.services.settings.payments.codes_organization == organization_id:
        raise Conflict(PROVES_PAYERS)
    former = stored.find(organization_id, number)
    new = FixedNumber(
        id=call.services.ids.new("fix") if former is None else former.id,
        organization_id=organization_id,
        number=number,
        ends_at=call.now_ms + arguments.days * DAY_MS,
        set_at=call.now_ms,
        set_by=call.caller.who,
    )
    sealed = stored.sealed(new.id, arguments.code)
    return await stored.put(_signed(call, new.id), new, sealed)


@OPERATIONS(REMOVE, roles=OWNERS, owner=owners.named, changes=FixedNumber)
async def _remove(call: Call[OfFixedNumber]) -> FixedNumber:
    arguments, stored = call.arguments, call.stored(FixedNumberRepository)
    former = stored.find(arguments.organization_id, arguments.number)
    by = _signed(call, None if former is None else former.id)
    return await stored.remove(by, arguments.organization_id, arguments.number)


def _signed(call: Call[Any], fixed_id: str | None) -> AuditEntry:
    whose = call.arguments.organization_id
    return call.audit(AuditImage.FIXED_NUMBER, fixed_id, organization_id=whose)
