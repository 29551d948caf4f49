"""An organization's ledger, prices, and who pays for the messages."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.config.payments import PARTS_PER_DAY_MAX
from risala.engine.billing.claims import Adjust, TopUp
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Amount,
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeMoment,
    MaybeWhole,
    NoArguments,
    OfOrganization,
    SignedAmount,
    fault,
    maybe,
    one_of,
    texts,
    words,
)
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.money import money
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records import ledger
from risala.engine.model.records.accounts import DELETED, StatementFilter
from risala.engine.model.records.ledger import (
    CUSTOMERS,
    PAYERS,
    LedgerEntry,
    LedgerPage,
    Payer,
    PriceList,
    StoredPayer,
)
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import FINANCE, OPERATORS, READERS, VIEWERS
from risala.engine.services import Services
from risala.sms.typed import western
from risala.sms.unseen import without_unseen

NOTE_MAX: Final = 200
REFERENCE_MAX: Final = 64
"""A payment's reference is copied from a receipt; a longer text is something else."""
ENTRIES_MAX: Final = 500
"""The most entries in one answer."""
ENTRIES_USUAL: Final = 50
SPENT_DAYS: Final = 7
"""The last week says how long a balance lasts: it has each weekday once."""


_BY_HAND: Final = frozenset(map(ENTRY_KINDS.number, ("topup", "adjustment")))
_SEQ_MAX: Final = (1 << 62) - 1
"""More entries than there will ever be, and still a number for SQLite when one is added."""


class TakePayment(OfOrganization):
    """Credit a payment by its reference, once."""

    amount: Amount
    reference: Annotated[
        str | None, PlainValidator(maybe(words(REFERENCE_MAX))), ArgumentKind("text on one line")
    ] = None
    """The payment's reference; None: one is created."""
    note: Annotated[
        str | None, PlainValidator(maybe(words(NOTE_MAX))), ArgumentKind("text on one line")
    ] = None


class Correct(OfOrganization):
    """Correct a balance by a signed amount, for a reason."""

    amount: SignedAmount
    reason: Annotated[str, PlainValidator(words(NOTE_MAX)), ArgumentKind("text on one line")]


def _kinds(value: object) -> frozenset[int]:
    words = () if value is None else texts(value)
    if not ENTRY_KINDS.numbers.keys() >= {*words}:
        known = ", ".join(f"`{word}`" for word in ENTRY_KINDS.words)
        raise fault("invalid_kind", f"`{{name}}` are of {known}.")
    return frozenset(map(ENTRY_KINDS.number, words))


class ListEntries(OfOrganization):
    """A page of an organization's ledger, with the given filters."""

    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of an entry: only older ones are listed."""
    after: MaybeWhole = None
    """The number of an entry: only the next newer ones are listed."""
    kinds: Annotated[
        frozenset[int],
        PlainValidator(_kinds),
        ArgumentKind("list of `charge`, `refund`, `topup`, `adjustment`"),
    ] = frozenset()
    """None: all."""
    by_hand: MaybeFlag = None
    """Only top-ups and adjustments."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    """Entered at or after, and before."""


OPERATIONS: Final = Operations()
_ENTERED: Final[dict[str, Any]] = {
    "roles": OPERATORS,
    "owner": owners.named,
    "changes": Organization,
}


def _weigh(call: Call[Any]) -> Weight:
    """What a top-up or an adjustment counts against what one operator does alone in a day."""
    return Weight(abs(call.arguments.amount))


@OPERATIONS(
    ledger.TOP_UP, four_eyes=_weigh, operators=FINANCE, tops_up=True, fresh=True, **_ENTERED
)
async def _topup(call: Call[TakePayment]) -> LedgerEntry:
    arguments, services = call.arguments, call.services
    refuse_if_nobody_pays(services)
    reference = _western(arguments.reference or services.ids.new("pay"))
    by = call.audit(
        AuditImage.ORGANIZATION,
        arguments.organization_id,
        details={"amount": money(arguments.amount), "reference": reference, "note": arguments.note},
    )
    entry: LedgerEntry = await services.billing.ask(
        TopUp(arguments.organization_id, arguments.amount, reference, arguments.note, by)
    )
    return entry


def refuse_if_nobody_pays(services: Services) -> None:
    """
    Raises:
        Conflict: the ledger rests: the service's owner sends for themselves.
    """
    if services.intake.payer.is_self:
        raise Conflict(
            "Nobody pays for messages here, so there is no balance. `risala payer set customers`"
            " changes that."
        )


def _western(reference: str) -> str:
    """A reference, with its digits in the form in which references are compared."""
    return western(unicodedata.normalize("NFKC", without_unseen(reference)))


@OPERATIONS(
    ledger.ADJUST, four_eyes=_weigh, operators=FINANCE, allows_deleted=True, fresh=True, **_ENTERED
)
async def _adjust(call: Call[Correct]) -> LedgerEntry:
    arguments, services = call.arguments, call.services
    refuse_if_nobody_pays(services)
    reference = services.ids.new("adj")
    by = call.audit(
        AuditImage.ORGANIZATION,
        arguments.organization_id,
        details={
            "amount": money(arguments.amount),
            "reference": reference,
            "reason": arguments.reason,
        },
    )
    entry: LedgerEntry = await services.billing.ask(
        Adjust(arguments.organization_id, arguments.amount, reference, arguments.reason, by)
    )
    return entry


@OPERATIONS(ledger.LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[ListEntries]) -> LedgerPage:
    """The newest entries first."""
    arguments, services = call.arguments, call.services
    organization = services.accounts.fresh_organization(arguments.organization_id)
    limit = max(1, min(arguments.limit or ENTRIES_USUAL, ENTRIES_MAX))
    kinds = _BY_HAND if arguments.by_hand else arguments.kinds
    statement_filter = StatementFilter(
        organization_id=organization.id, kinds=kinds, since=arguments.since, until=arguments.until
    )
    page = services.repositories.ledger.statement(
        statement_filter,
        before=_number(arguments.before),
        after=_number(arguments.after),
        limit=limit,
    )
    today = day_of(organization.time_zone, call.now_ms)
    spent = services.repositories.ledger.spent(organization.id, today - SPENT_DAYS, today)
    return LedgerPage(
        organization.id,
        organization.balance,
        organization.currency,
        page.entries,
        page.older,
        page.newer,
        page.looked_to,
        spent // SPENT_DAYS,
    )


def _number(seq: int | None) -> int | None:
    """The number of an entry, within SQLite's range."""
    return None if seq is None else max(0, min(seq, _SEQ_MAX))


@OPERATIONS(ledger.PRICE, roles=VIEWERS, operators=READERS, for_all=True)
async def _price(call: Call[NoArguments]) -> PriceList:
    """The current general prices; an organization's own price is shown with the organization."""
    services = call.services
    return PriceList(
        services.intake.per_segment,
        services.intake.low_balance,
        services.settings.service.currency,
    )


# -- who pays


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
    return [each for each in services.repositories.organizations.all() if each.status != DELETED]


@OPERATIONS(ledger.SHOW_PAYER, roles=OPERATORS, operators=READERS)
async def _payer_show(call: Call[NoArguments]) -> Payer:
    return _payer_now(call.services)


def _payer_now(services: Services) -> Payer:
    policy = services.intake.payer
    changed_at = None if policy.stored is None else policy.stored.at
    there = len(_there(services))
    return Payer(policy.name, policy.parts_per_day, policy.in_settings, changed_at, there)


@OPERATIONS(ledger.SET_PAYER, roles=OPERATORS, operators=FINANCE, changes=Payer, fresh=True)
async def _payer_set(call: Call[SetPayer]) -> Payer:
    arguments, services = call.arguments, call.services
    intake, there = services.intake, _there(services)
    parts = intake.payer.parts_per_day
    if arguments.self_parts_per_day is not None:
        parts = arguments.self_parts_per_day
    if not 1 <= parts <= PARTS_PER_DAY_MAX:
        text = f"`self_parts_per_day` is a whole number from 1 to {PARTS_PER_DAY_MAX}."
        raise Invalid("self_parts_per_day", "invalid_parts", text)
    if arguments.payer == CUSTOMERS:
        _refuse_without_price(intake.prices.unpriced(there))
    if len(there) > 1 and arguments.payer != intake.payer.name and not arguments.sure:
        raise Conflict(
            f"{len(there)} organizations use this service, and this changes what each of them pays."
            " Confirm it once more.",
            SURE_CODE,
        )
    chosen = StoredPayer(arguments.payer, parts, call.now_ms)
    details = {"before": intake.payer.name, "payer": chosen.payer, "self_parts_per_day": parts}
    organizations = services.repositories.organizations
    try:
        await organizations.put_payer(call.audit(details=details), chosen)
    finally:  # what the disk has decides, also where nobody knows whether it holds
        intake.follow_payer(organizations.stored_payer())
    return _payer_now(services)


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
