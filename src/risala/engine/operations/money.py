"""Money: what messages cost, who has paid, and what was corrected."""

from __future__ import annotations

from typing import Final

from risala.engine.billing.claims import Adjust, TopUp
from risala.engine.journal.accounts import ledger
from risala.engine.model.errors import Invalid
from risala.engine.model.money import money
from risala.engine.model.wire import ledger_wire
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services

NOTE_MAX: Final = 200
REFERENCE_MAX: Final = 64
"""A payment's reference is copied from a receipt; what is longer is something else."""
ENTRIES_MAX: Final = 500
"""Of one answer."""


def _words(arguments: Arguments, name: str, characters_max: int) -> str | None:
    """A text on one line."""
    text = arguments.text_or_none(name)
    if text is None:
        return None
    words = " ".join(text.split())
    if not 1 <= len(words) <= characters_max:
        sentence = f"`{name}` has 1 to {characters_max} characters."
        raise Invalid(name, "invalid_length", sentence)
    return words


async def _topup(services: Services, arguments: Arguments) -> Json:
    amount = arguments.amount_or_none("amount")
    if not amount:
        raise Invalid("amount", "invalid_amount", "`amount` must be more than 0.")
    reference = _words(arguments, "reference", REFERENCE_MAX) or services.ids.new("pay")
    note = _words(arguments, "note", NOTE_MAX)
    entry = await services.billing.ask(
        TopUp(arguments.text("organization_id"), amount, reference, note)
    )
    return ledger_wire(entry)


async def _adjust(services: Services, arguments: Arguments) -> Json:
    organization_id, amount = arguments.text("organization_id"), arguments.signed_amount("amount")
    reason = _words(arguments, "reason", NOTE_MAX)
    if reason is None:
        raise Invalid("reason", "missing", "`reason` is required: an adjustment explains itself.")
    reference = services.ids.new("adj")
    entry = await services.billing.ask(Adjust(organization_id, amount, reference, reason))
    return ledger_wire(entry)


async def _list(services: Services, arguments: Arguments) -> Json:
    """The newest entries first; ``next`` is where to go on, or null."""
    organization_id = arguments.text("organization_id")
    organization = services.accounts.fresh_organization(organization_id)
    limit = max(1, min(arguments.whole_or_none("limit") or 50, ENTRIES_MAX))
    found = ledger.entries(
        services.reader,
        organization_id,
        limit + 1,
        before=arguments.whole_or_none("before"),
        by_hand=bool(arguments.flag_or_none("by_hand")),
    )
    shown = found[:limit]
    return {
        "organizationId": organization_id,
        "balance": money(organization.balance),
        "currency": organization.currency,
        "entries": [ledger_wire(entry) for entry in shown],
        "next": shown[-1].seq if len(found) > limit else None,
    }


async def _price(services: Services, _: Arguments) -> Json:
    """What is general at this moment; each organization's own is with the organization."""
    return {
        "perSegment": money(services.intake.per_segment),
        "lowBalance": money(services.intake.low_balance),
        "currency": services.settings.service.currency,
    }


OPERATIONS: Final[dict[str, Operation]] = {
    "topup": _topup,
    "adjust": _adjust,
    "ledger.list": _list,
    "price": _price,
}
