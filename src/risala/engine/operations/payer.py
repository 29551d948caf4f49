"""Who pays for messages: shown, and changed while the service runs."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.config.payments import PARTS_PER_DAY_MAX
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeWhole,
    NoArguments,
    one_of,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.records import payer
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.payer import CUSTOMERS, PAYERS, Payer, StoredPayer
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.roles import FINANCE, OPERATORS, READERS
from risala.engine.services import Services

NAMED_MAX: Final = 3
"""Organizations without a price that a refusal names."""
SURE_CODE: Final = "SEVERAL_ORGANIZATIONS"


class SetPayer(Arguments):
    """Change who pays for messages, from now on."""

    payer: Annotated[
        str, PlainValidator(one_of("invalid_payer", PAYERS)), ArgumentKind("`customers` or `self`")
    ]
    self_parts_per_day: MaybeWhole = None
    """With `self`: the most parts that an organization may send in a day. None: as before."""
    sure: MaybeFlag = None
    """Needed where there is more than one organization."""


def _there(services: Services) -> list[Organization]:
    return [each for each in services.accounts.list_organizations() if each.status != DELETED]


OPERATIONS: Final = Operations()


@OPERATIONS(payer.SHOW, roles=OPERATORS, operators=READERS)
async def _show(call: Call[NoArguments]) -> Payer:
    return _now(call.services)


def _now(services: Services) -> Payer:
    policy = services.intake.payer
    changed_at = None if policy.stored is None else policy.stored.at
    there = len(_there(services))
    return Payer(policy.name, policy.parts_per_day, policy.in_settings, changed_at, there)


@OPERATIONS(payer.SET, roles=OPERATORS, operators=FINANCE, changes=Payer, fresh=True)
async def _set(call: Call[SetPayer]) -> Payer:
    given, services = call.given, call.services
    intake, there = services.intake, _there(services)
    parts = intake.payer.parts_per_day
    if given.self_parts_per_day is not None:
        parts = given.self_parts_per_day
    if not 1 <= parts <= PARTS_PER_DAY_MAX:
        text = f"`self_parts_per_day` is a whole number from 1 to {PARTS_PER_DAY_MAX}."
        raise Invalid("self_parts_per_day", "invalid_parts", text)
    if given.payer == CUSTOMERS:
        _refuse_without_price(intake.prices.unpriced(there))
    if len(there) > 1 and given.payer != intake.payer.name and not given.sure:
        raise Conflict(
            f"{len(there)} organizations use this service, and this changes what each of them pays."
            " Confirm it once more.",
            SURE_CODE,
        )
    chosen = StoredPayer(given.payer, parts, call.now_ms)
    told = {"before": intake.payer.name, "payer": chosen.payer, "self_parts_per_day": parts}
    organizations = services.repositories.organizations
    try:
        await organizations.put_payer(call.audit(said=told), chosen)
    finally:  # what the disk has decides, also where nobody knows whether it holds
        intake.follow_payer(organizations.stored_payer())
    return _now(services)


def _refuse_without_price(unpriced: list[tuple[str, str]]) -> None:
    """
    Raises:
        Conflict: an organization could not be charged.
    """
    if not unpriced:
        return
    named = ", ".join(f"{name} ({country})" for name, country in unpriced[:NAMED_MAX])
    more = f" and {len(unpriced) - NAMED_MAX} more" if len(unpriced) > NAMED_MAX else ""
    raise Conflict(
        f"These organizations have no price: {named}{more}. Set `pricing.per_segment` and `prices`"
        " in the settings, or prices of their own, then change who pays."
    )
