"""The countries that are open to organizations, and their prices abroad."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import PlainValidator, ValidationInfo

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    OfOrganization,
    amount,
    fault,
    text,
    texts,
)
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Invalid
from risala.engine.model.records.people import countries
from risala.engine.model.records.people.countries import (
    CountryUse,
    OpenedCountries,
    ReachedCountries,
    ReachedCountry,
)
from risala.engine.rules.roles import FINANCE, OPERATORS, READERS, VIEWERS
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

_PREFIX: Final = re.compile(r"\+[1-9][0-9]{0,14}", re.ASCII)


def _abroad(value: object, info: ValidationInfo) -> str:
    """The code of a served country that is not home."""
    plan: NumberingPlan = info.context or DEFAULT
    country = text(value).upper()
    if country == plan.home.code:
        raise fault("home", "`{name}` is home, which is open to everybody.")
    known = [each.code for each in plan.countries if each is not plan.home]
    if country not in known:
        which = f"is one of: {', '.join(known)}." if known else "is not served: only home is."
        raise fault("invalid_country", f"`{{name}}` {which}")
    return country


def _uses(value: object) -> tuple[CountryUse, ...]:
    known = {each.value: each for each in CountryUse}
    uses = texts(value)
    if not uses or not known.keys() >= {*uses}:
        raise fault("invalid_use", f"`{{name}}` are of: {', '.join(known)}.")
    return tuple(known[each] for each in dict.fromkeys(uses))


def _prefix(value: object, info: ValidationInfo) -> str:
    """``+`` and the first digits of numbers abroad."""
    plan: NumberingPlan = info.context or DEFAULT
    prefix = text(value)
    if not _PREFIX.fullmatch(prefix):
        raise fault("invalid_prefix", "`{name}` is + and digits, such as +221.")
    if prefix.startswith(f"+{plan.home.calling_code}") and len(plan.prefixes) == len(
        plan.countries
    ):
        raise fault("home", "`{name}` is home's, whose price is that of the organization.")
    return prefix


class OfCountry(OfOrganization):
    """Names a country abroad, and what it is opened or closed for."""

    country: Annotated[str, PlainValidator(_abroad), ArgumentKind("a country's two letters")]
    """ISO 3166-1."""
    uses: Annotated[
        tuple[CountryUse, ...],
        PlainValidator(_uses),
        ArgumentKind("list of `send`, `verify`, `publishable`"),
    ]
    """Messages, codes by secret keys, codes by publishable keys."""


class OfPrefix(OfOrganization):
    """Names an organization's price abroad."""

    prefix: Annotated[str, PlainValidator(_prefix), ArgumentKind("beginning of numbers")]
    """The beginning of numbers, such as `+221`. The longest prefix counts."""


class SetPrice(OfPrefix):
    """Set an organization's price of a segment to the numbers that begin with a prefix."""

    price: Annotated[int, PlainValidator(amount), ArgumentKind("decimal text")]


def _reached(call: Call[Any], opened: OpenedCountries) -> ReachedCountries:
    services = call.services
    organization = services.accounts.organization(opened.organization_id)
    plan, prices = services.settings.plan, services.intake.prices
    return ReachedCountries(
        organization.id,
        organization.currency,
        tuple(
            ReachedCountry(
                each.code,
                each.name,
                each is plan.home,
                send=each is plan.home or opened.has(each.code, CountryUse.SEND),
                verify=each is plan.home or opened.has(each.code, CountryUse.VERIFY),
                publishable=each is plan.home or opened.has(each.code, CountryUse.PUBLISHABLE),
                prices=prices.list_of(organization, opened, each),
            )
            for each in plan.countries
        ),
        opened.prices,
        prices.general_abroad,
    )


OPERATIONS: Final = Operations()
_CHANGED: Final[dict[str, Any]] = {
    "roles": OPERATORS,
    "owner": owners.named,
    "changes": OpenedCountries,
}


@OPERATIONS(countries.LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> ReachedCountries:
    organization = call.services.accounts.fresh_organization(call.arguments.organization_id)
    return _reached(call, call.services.repositories.organizations.opened(organization.id))


@OPERATIONS(countries.OPEN, operators=FINANCE, **_CHANGED)
async def _open(call: Call[OfCountry]) -> ReachedCountries:
    arguments, services = call.arguments, call.services
    organization = services.accounts.organization(arguments.organization_id)
    stored, plan = services.repositories.organizations, services.settings.plan
    (country,) = (each for each in plan.countries if each.code == arguments.country)
    known = services.intake.prices.list_of(organization, stored.opened(organization.id), country)
    if not known:
        sentence = (
            f"{country.name} has no price. Set one with a prefix such as +{country.calling_code},"
            " for the organization or under [[prices]] in the settings."
        )
        raise Invalid("country", "no_price", sentence)
    by = call.audit(AuditImage.COUNTRIES, organization.id)
    opened = await stored.open_country(by, organization.id, arguments.country, arguments.uses)
    return _reached(call, opened)


@OPERATIONS(countries.CLOSE, operators=FINANCE, **_CHANGED)
async def _close(call: Call[OfCountry]) -> ReachedCountries:
    arguments, stored = call.arguments, call.services.repositories.organizations
    organization_id = call.services.accounts.organization(arguments.organization_id).id
    by = call.audit(AuditImage.COUNTRIES, organization_id)
    opened = await stored.close_country(by, organization_id, arguments.country, arguments.uses)
    return _reached(call, opened)


def _weigh(call: Call[Any]) -> Weight:
    """The weight of another price abroad: the organization's own one as it is now."""
    arguments = call.arguments
    opened = call.services.repositories.organizations.opened(arguments.organization_id)
    own = {each.prefix: each.price for each in opened.prices}
    return Weight(None, {"price": own.get(arguments.prefix)})


@OPERATIONS(countries.SET_PRICE, four_eyes=_weigh, operators=FINANCE, fresh=True, **_CHANGED)
async def _set_price(call: Call[SetPrice]) -> ReachedCountries:
    arguments, stored = call.arguments, call.services.repositories.organizations
    organization_id = call.services.accounts.organization(arguments.organization_id).id
    by = call.audit(AuditImage.COUNTRIES, organization_id)
    opened = await stored.set_price(by, organization_id, arguments.prefix, arguments.price)
    return _reached(call, opened)


@OPERATIONS(countries.DROP_PRICE, four_eyes=_weigh, operators=FINANCE, fresh=True, **_CHANGED)
async def _drop_price(call: Call[OfPrefix]) -> ReachedCountries:
    arguments, stored = call.arguments, call.services.repositories.organizations
    organization_id = call.services.accounts.organization(arguments.organization_id).id
    by = call.audit(AuditImage.COUNTRIES, organization_id)
    return _reached(call, await stored.drop_price(by, organization_id, arguments.prefix))
