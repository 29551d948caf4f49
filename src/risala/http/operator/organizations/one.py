"""One organization: its state, whether it may send, its price and limits, and its members."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.money import money
from risala.engine.model.records import keys, ledger, senders
from risala.engine.model.records.asks import Versioned
from risala.engine.model.records.people import countries, members, organizations
from risala.engine.model.records.people.organizations import Organization, OrganizationStory
from risala.http.operator.organizations.listing import BADGES, states_of
from risala.http.operator.organizations.provider import mixed_domains, provider_of
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import ENTRY_KINDS, N_, country_name
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved; it applies from the next message on.")
SUSPENDED: Final = N_("The organization is suspended.")
RESUMED: Final = N_("The organization may send again.")
CHANGED: Final = N_("What it reaches abroad is changed.")
ADDED: Final = N_("They are a member now.")
USES: Final = {
    "send": N_("Messages"),
    "verify": N_("Codes"),
    "publishable": N_("Codes by publishable keys"),
}
"""What a country is opened for, each by itself."""
ROWS: Final = 5
"""Rows of each short list; the newest, or the first."""
_PAGE: Final = "organizations/show.html"


def organization_named(request: PageRequest) -> str:
    """The organization that the page is about."""
    return str(request.arguments["organization_id"])


async def organization_of(request: PageRequest) -> Versioned[OrganizationStory]:
    """The organization of the address."""
    organization_id = organization_named(request)
    return await request.ask_to_edit(organizations.SHOW_ALL, organization_id=organization_id)


async def save(request: PageRequest) -> TrioResponse:
    """The organization's own price and limits; an empty field takes one away. Where nobody pays,
    the form has no amounts, and those of before stay."""
    form, organization_id = request.form, organization_named(request)
    amounts = () if request.is_self_paid else ("price_per_segment", "spend_cap")
    try:
        await request.ask(
            organizations.SET,
            organization_id=organization_id,
            sms_per_s=_rate(form.amount("sms_per_s")),
            **{name: form.amount(name) or None for name in amounts},
            **as_seen(form),
        )
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at(f"organizations/{organization_id}"), SAVED)


def _rate(typed: str) -> object:
    """A number for operations; any other text is left for them to refuse."""
    if not typed:
        return None
    try:
        return float(typed)
    except ValueError:
        return typed


def _rate_text(rate: float | None) -> str:
    return "" if rate is None else f"{rate:g}"


async def add_member(request: PageRequest) -> TrioResponse:
    organization_id = organization_named(request)
    try:
        await request.ask(
            members.ADD,
            organization_id=organization_id,
            email=request.form.text("email"),
            role=request.form.text("role"),
        )
    except Refusal as error:
        values = await _values(request)
        return await request.again(_PAGE, error, {**values, "member_form": request.form})
    return request.go(request.at(f"organizations/{organization_id}"), ADDED)


async def set_country(request: PageRequest) -> TrioResponse:
    """Open or close a country for one use."""
    form, organization_id = request.form, organization_named(request)
    try:
        await request.ask(
            countries.CLOSE if form.text("way") == "close" else countries.OPEN,
            organization_id=organization_id,
            country=form.text("country"),
            uses=[form.text("use")],
        )
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    return request.go(request.at(f"organizations/{organization_id}"), CHANGED)


async def set_price(request: PageRequest) -> TrioResponse:
    """Set the organization's price of a part to the numbers that begin alike, or drop it."""
    form, organization_id = request.form, organization_named(request)
    whose = {"organization_id": organization_id, "prefix": form.text("prefix")}
    try:
        if form.text("way") == "drop":
            await request.ask(countries.DROP_PRICE, **whose)
        else:
            await request.ask(countries.SET_PRICE, **whose, price=form.amount("price"))
    except Refusal as error:
        values = await _values(request)
        return await request.again(_PAGE, error, {**values, "price_form": form})
    return request.go(request.at(f"organizations/{organization_id}"), SAVED)


async def ask_suspend(request: PageRequest) -> TrioResponse:
    organization, _ = await organization_of(request)
    if organization.status != "active":
        return request.go(request.at(f"organizations/{organization.id}"))
    ends = await request.ask(organizations.DELETION, organization_id=organization.id)
    return await request.page("organizations/suspend.html", organization=organization, ends=ends)


async def suspend(request: PageRequest) -> TrioResponse:
    organization_id = organization_named(request)
    await request.ask(organizations.SUSPEND, organization_id=organization_id)
    return request.go(request.at(f"organizations/{organization_id}"), SUSPENDED)


async def resume(request: PageRequest) -> TrioResponse:
    organization_id = organization_named(request)
    await request.ask(organizations.RESUME, organization_id=organization_id)
    return request.go(request.at(f"organizations/{organization_id}"), RESUMED)


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused form."""
    organization, version = await organization_of(request)
    stored, whose = _stored(request, organization), {"organization_id": organization.id}
    form = None if error is None else request.form
    return {
        "organization": organization,
        "parts_today": request.site.gateway.parts_today(organization.id),
        "badges": BADGES,
        "states": states_of(request),
        "stored": stored,
        "form": form,
        "member_form": None,
        "price_form": None,
        "deletion": None,
        **await request.of_features("organization", organization),
        "holds": await request.ask(organizations.DELETION, **whose),
        "entries": (await request.ask(ledger.LIST, limit=ROWS, **whose)).entries,
        "members": (await request.ask(members.LIST, **whose)).members
        if request.can(members.LIST)
        else (),
        "keys": (await request.ask(keys.LIST, **whose)).keys,
        "senders": (await request.ask(senders.LIST, **whose)).senders,
        "provider": (known := await provider_of(request, organization.id)),
        "mixed_domains": mixed_domains(known),
        **await _abroad(request, organization.id),
        "kinds": ENTRY_KINDS,
        "rows": ROWS,
        **edit(error, form, version, stored),
    }


async def _abroad(request: PageRequest, organization_id: str) -> dict[str, Any]:
    """The countries that are served, and the prices there."""
    reached = await request.ask(countries.LIST, organization_id=organization_id)
    own = {each.prefix: each.price for each in reached.own_prices}
    general = {each.prefix: each.price for each in reached.general_prices}
    language = request.words.language
    return {
        "countries": reached.countries,
        "country_names": {
            each.code: country_name(language, each.code, each.name) for each in reached.countries
        },
        "uses": {each: request.words(word) for each, word in USES.items()},
        "prices": [(each, own.get(each), general.get(each)) for each in sorted({*own, *general})],
    }


def _stored(request: PageRequest, organization: Organization) -> dict[str, StoredField]:
    """The fields of the form, as they are stored."""
    words, rate = request.words, _rate_text(organization.sms_per_s)

    def sum_of(label: Markup, amount: int | None) -> StoredField:
        if amount is None:
            return StoredField(label, "", is_amount=True)
        shown = request.formats.money(amount, currency=organization.currency)
        return StoredField(label, money(amount), shown, is_amount=True)

    return {
        "price_per_segment": sum_of(words("Price of a part"), organization.price_per_segment),
        "sms_per_s": StoredField(words("Messages a second"), rate, is_amount=True),
        "spend_cap": sum_of(words("Spend at most a day"), organization.operator_spend_cap),
    }


_ONE: Final = "/operator/organizations/<organization_id>"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(
        path=_ONE, view=shows(_PAGE, _values), access=_OPERATOR, needs=organizations.SHOW_ALL
    ),
    PageRoute(
        path=f"{_ONE}/limits", view=save, access=_OPERATOR, needs=organizations.SET, method="POST"
    ),
    PageRoute(
        path=f"{_ONE}/countries",
        view=set_country,
        access=_OPERATOR,
        needs=countries.OPEN,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/prices",
        view=set_price,
        access=_OPERATOR,
        needs=countries.SET_PRICE,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/members",
        view=add_member,
        access=_OPERATOR,
        needs=members.ADD,
        method="POST",
        once=True,
    ),
    PageRoute(
        path=f"{_ONE}/suspend", view=ask_suspend, access=_OPERATOR, needs=organizations.SUSPEND
    ),
    PageRoute(
        path=f"{_ONE}/suspend",
        view=suspend,
        access=_OPERATOR,
        needs=organizations.SUSPEND,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/resume",
        view=resume,
        access=_OPERATOR,
        needs=organizations.RESUME,
        method="POST",
    ),
)
