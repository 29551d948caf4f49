"""A service in francs CFA, which have no decimals, and one in dinars, which have three: by its API,
dashboard and console, over a real engine."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import trio

from patience import until_true
from payment_shop import Shop, assert_books_agree, service_of, wallet
from risala.config.model import (
    CarrierSection,
    PaymentsSection,
    PricingSection,
    ServiceSection,
    Settings,
    StorageSection,
)
from risala.drivers.payments.sandbox import TAKEN, SandboxCard, SandboxSettings
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.people import Browser, Language
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.http.api.app import create_api
from risala.http.dashboard.app import create_dashboard
from risala.http.operator.app import create_console
from risala.plugins.contract import Inbound, Refused, Scope
from risala.plugins.mail import Mail
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.currencies import counting_in
from web_browser import Page, Reader

CLI = Caller("root", CallerKind.CLI, Role.OPERATOR)
OPERATOR, OWNER = "mariem@risala.example", "aicha@baraka.example"
NUMBER, CENTRE = "+22236123456", "+22236000001"


@dataclass(frozen=True)
class Case:
    """Amounts of one currency: on the wire, as French people type them, and as pages show them."""

    currency: str
    price: str
    price_in_words: dict[str, str]
    cash: str
    cash_typed: str
    cash_in_words: dict[str, str]
    taken_typed: str
    taken: str
    card_typed: str
    card: str
    told: str
    """As the bank writes it."""
    low_typed: str
    low: str
    left: list[str]
    """The balances of the statement, from the first entry."""


FRANCS = Case(
    currency="XOF",
    price="25",
    price_in_words={"fr": "25 F CFA", "ar": "25 F CFA", "en": "25 F CFA"},
    cash="12500",
    cash_typed="12 500",
    cash_in_words={"fr": "12 500 F CFA", "ar": "12 500 F CFA", "en": "12,500 F CFA"},
    taken_typed="75",
    taken="-75",
    card_typed="1 000",
    card="1000",
    told="2 000",
    low_typed="15 400",
    low="15400",
    left=["12500", "12475", "12500", "12425", "13425", "15425", "15400", "15375"],
)
DINARS = Case(
    currency="TND",
    price="0.045",
    price_in_words={"fr": "0,045 TND", "ar": "0,045 د.ت", "en": "0.045 TND"},
    cash="12.500",
    cash_typed="12,500",
    cash_in_words={"fr": "12,500 TND", "ar": "12,500 د.ت", "en": "12.500 TND"},
    taken_typed="0,075",
    taken="-0.075",
    card_typed="1,5",
    card="1.500",
    told="2,050",
    low_typed="15,930",
    low="15.930",
    left=["12.500", "12.455", "12.500", "12.425", "13.925", "15.975", "15.930", "15.885"],
)


@dataclass
class Town:
    """A running service, and those who use it."""

    gateway: Any
    drivers: dict[str, FakeDriver]
    client: Any
    owner: Reader
    operator: Reader
    organization_id: str
    key: str
    mails: list[Mail] = field(default_factory=list)

    @property
    def driver(self) -> FakeDriver:
        return self.drivers["fake"]

    @property
    def app(self) -> str:
        return f"/app/{self.organization_id}"

    @property
    def console(self) -> str:
        return f"/operator/organizations/{self.organization_id}"

    @property
    def subjects(self) -> list[str]:
        """Of the mails that have left."""
        return [re.sub("[\u00a0\u202f]", " ", each.subject) for each in self.mails]

    async def api(self, path: str, **body: Any) -> tuple[int, Any]:
        answer = await self.client.post(path, headers={"x-api-key": self.key}, json=body)
        return answer.status_code, await answer.get_json()

    async def send(self) -> tuple[int, Any]:
        return await self.api("/api/sms", to=NUMBER, body="Bonjour")

    async def ledger(self) -> list[dict[str, Any]]:
        """From the first entry."""
        _, told = await self.api("/api/ledger/list", limit=100)
        return told["items"][::-1]


class Letterbox:
    def __init__(self, mails: list[Mail]) -> None:
        self._mails = mails

    async def send(self, mail: Mail) -> None:
        await trio.lowlevel.checkpoint()
        self._mails.append(mail)


def settings_of(case: Case, tmp_path: Path, codes: str | None = None) -> Settings:
    return Settings(
        service=ServiceSection(currency=case.currency),
        pricing=PricingSection(per_segment=case.price, low_balance="0"),
        storage=StorageSection(data_dir=tmp_path),
        payments=PaymentsSection(codes_organization=codes),
    )


def bank_of(case: Case) -> Any:
    text = "Recu {amount} de {payer}. Ref {reference}. Solde {balance}."
    maxima = ("payment_max", "organization_day_max", "day_max")
    return wallet(
        sms={
            "carrier": "bank",
            "senders": ["Bankily"],
            "service_centres": [CENTRE],
            "by_itself": True,
            "patterns": [{"text": text}],
            **dict.fromkeys(maxima, "5000"),
        }
    )


@asynccontextmanager
async def open_town(case: Case, tmp_path: Path) -> AsyncIterator[Town]:
    lanes = (
        CarrierSection(name="fake", driver="fake", prefixes=("+222",)),
        CarrierSection(name="bank", driver="fake", receives_only=True),
    )
    with counting_in(case.currency):
        first = settings_of(case, tmp_path)
        seams = replace(system_seams(), inline_journal=True, watch_loop=False)
        async with open_engine(first, lanes[:1], {"fake": FakeDriver()}, seams) as engine:
            made = await engine.gateway.perform("org.create", {"name": "Codes"}, CLI)
        paid = {"organization_id": made["id"], "amount": "500"}
        settings, mails = settings_of(case, tmp_path, made["id"]), []
        outside = Connections(
            mailer=Letterbox(mails),
            payments={"bankily": bank_of(case), "sandbox": SandboxCard(SandboxSettings())},
            url="http://127.0.0.1:8080",
        )
        drivers = {each.name: FakeDriver() for each in lanes}
        async with open_engine(settings, lanes, drivers, seams, outside) as engine:
            gateway = engine.gateway
            await gateway.perform("topup", paid, CLI)
            yield await _peopled(gateway, settings, drivers, mails)


async def _peopled(gateway: Any, settings: Settings, drivers: Any, mails: list[Mail]) -> Town:
    made = await gateway.perform("org.create", {"name": "Baraka Market"}, CLI)
    mine = {"organization_id": made["id"]}
    await gateway.perform("member.add", {**mine, "email": OWNER, "role": "owner"}, CLI)
    await gateway.perform("user.create", {"email": OPERATOR, "operator": True}, CLI)
    key = await gateway.perform("key.create", {**mine, "type": "secret", "mode": "live"}, CLI)

    async def token(email: str, *, operator: bool) -> str:
        asked = {"email": email, "operator": operator}
        link = await gateway.perform("user.sign_in", asked, CLI)
        browser = Browser("x", None, "", "", Language.FRENCH)
        return (await gateway.people.sign_in.use_link(link["token"], browser)).token

    stop = trio.Event()
    console = create_console(gateway, settings, shutdown=stop)
    dashboard = create_dashboard(gateway, settings, shutdown=stop)
    return Town(
        gateway,
        drivers,
        create_api(gateway, settings).test_client(),
        Reader(dashboard, {"risala": await token(OWNER, operator=False)}),
        Reader(console, {"risala-operator": await token(OPERATOR, operator=True)}),
        made["id"],
        key["value"],
        mails,
    )


def read(page: Page) -> str:
    """A page as it is read, with ordinary spaces."""
    assert page.status == 200
    text = re.sub("<[^>]+>", "", page.text)
    return re.sub("[\u00a0\u202f]", " ", re.sub("[\u200e\u200f\u2068\u2069]", "", text))


def typed(page: Page, name: str) -> str | None:
    """What a field of a page holds."""
    return next(each.get("value") for _, each in page.tags if each.get("name") == name)


async def in_each_language(reader: Reader, path: str, shown: dict[str, str]) -> None:
    for language, words in shown.items():
        reader.cookies["risala-language"] = language
        assert words in read(await reader.get(path)), language
    del reader.cookies["risala-language"]


async def credit_cash(town: Town, case: Case) -> None:
    """By the console; a part that the currency has not is refused in the reader's words."""
    here = f"{town.console}/topup"
    page = await town.operator.get(here)
    wrong = await town.operator.submit(page, f"{here}/check", {"amount": "1,50505"})
    assert wrong.status == 422
    assert ("sans décimales" in wrong.text) == (case.currency == "XOF")
    checked = await town.operator.submit(page, f"{here}/check", {"amount": case.cash_typed})
    assert f"Créditer {case.cash_in_words['fr']} ?" in read(checked)
    given = {"amount": checked.field("amount"), "reference": "BK-1"}
    assert (await town.operator.submit(checked, here, given)).status == 303


async def correct(town: Town, case: Case) -> None:
    here = f"{town.console}/adjust"
    given = {"amount": case.taken_typed, "way": "take", "reason": "Payé deux fois"}
    page = await town.operator.get(here)
    checked = await town.operator.submit(page, f"{here}/check", given)
    assert (await town.operator.submit(checked, here, given)).status == 303


async def charge_and_refund(town: Town, case: Case) -> None:
    """A message that its carrier refuses is paid back."""
    told = {"to": NUMBER, "body": "Bonjour"}
    _, estimate = await town.api("/api/sms/estimate", **told)
    assert (estimate["price"], estimate["currency"]) == (case.price, case.currency)
    town.driver.always = Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number.")
    status, sent = await town.send()
    assert status == 200
    await until_true(lambda: town.gateway.show_message(sent["messageId"])[0].status == "failed")
    town.driver.always = None
    _, shown = await town.api("/api/sms/get", messageId=sent["messageId"])
    assert (shown["price"], shown["currency"]) == (case.price, case.currency)
    path = f"{town.app}/messages/{sent['messageId']}"
    await in_each_language(town.owner, path, case.price_in_words)


async def pay_by_card(town: Town, case: Case) -> None:
    page = await town.owner.get(f"{town.app}/billing")
    chosen = {"method": "sandbox", "amount": case.card_typed}
    begun = await town.owner.submit(page, f"{town.app}/billing/payments", chosen)
    assert begun.status == 303
    checkout = f"/pay/sandbox/checkout/{begun.location.rpartition('/')[2]}"
    page = await town.owner.get(checkout)
    assert (await town.owner.submit(page, checkout, {"card": TAKEN})).location == begun.location
    assert "sont crédités" in read(await town.owner.get(begun.location))


async def pay_by_phone(town: Town, case: Case) -> None:
    """The bank writes to the service's SIM; its text alone credits the payment."""
    shop = Shop(town, town.organization_id)
    await shop.operate("payment.reconcile", method="bankily", balance="100")
    amount = case.told.replace(" ", "").replace(",", ".")
    payment = await shop.begin(amount=amount)
    await shop.claim(payment, "BK-7", payer=NUMBER)
    await until_true(lambda: bool(town.driver.submitted) and _code_came(town))
    given = {"payment_id": payment["id"], "code": shop.code()}
    await shop.do("payment.check_payer", **given)
    balance = {"XOF": "2 100", "TND": "102,050"}[case.currency]
    told = f"Recu {case.told} de {NUMBER}. Ref BK-7. Solde {balance}."
    message = Inbound("Bankily", None, told, 1_767_225_600_000, ("pdu-1",), CENTRE)
    await town.drivers["bank"].context.inbound(message)
    payments = service_of(town)
    await until_true(lambda: payments.payment(payment["id"]).state == "confirmed")


def in_french(amount: str) -> str:
    """An amount as readers of French write it."""
    whole, point, rest = amount.partition(".")
    return f"{int(whole):,}".replace(",", " ") + point.replace(".", ",") + rest


def _code_came(town: Town) -> bool:
    return bool(re.search(r"\b[0-9]{6}\b", town.driver.submitted[-1].text))


async def warn_and_cap(town: Town, case: Case) -> None:
    """A charge falls below the owner's alert, then the day's cap is spent."""
    page = await town.owner.get(f"{town.app}/billing")
    low = {"low_balance": case.low_typed}
    assert (await town.owner.submit(page, f"{town.app}/billing/alert", low)).status == 303
    assert (await town.send())[0] == 200  # not yet below
    assert (await town.send())[0] == 200
    warned = f"Le solde d’une organisation est bas : {in_french(case.left[-1])} {case.currency}"
    while warned not in town.subjects:  # noqa: ASYNC110 -- its half a minute passes at once
        await trio.sleep(1)
    credited = f"{in_french(case.card)} {case.currency} sont crédités à votre organisation"
    assert credited in town.subjects
    _, balance = await town.api("/api/balance/get")
    cap = balance["spentToday"]
    page = await town.operator.get(town.console)
    capped = {"price_per_segment": typed(page, "price_per_segment"), "spend_cap": cap}
    assert (await town.operator.submit(page, f"{town.console}/limits", capped)).status == 303
    status, refused = await town.send()
    assert (status, refused["data"]) == (402, {"code": "SPEND_CAP"})
    _, told = await town.api("/api/balance/get")
    assert told == {
        **balance,
        "balance": case.left[-1],
        "currency": case.currency,
        "lowBalance": case.low,
        "spendCap": cap,
    }


async def own_price(town: Town, case: Case) -> None:
    """A form shows a price whole: saved again without a change, it stays what it was."""
    mine = {"organization_id": town.organization_id}
    await town.gateway.perform("org.set", {**mine, "price_per_segment": case.price}, CLI)
    page = await town.operator.get(town.console)
    shown = typed(page, "price_per_segment")
    assert shown == case.price.replace(".", ",")
    given = {"price_per_segment": shown, "spend_cap": ""}
    assert (await town.operator.submit(page, f"{town.console}/limits", given)).status == 303
    found = await town.gateway.perform("org.show", mine, CLI)
    assert found["pricePerSegment"] == case.price


async def statement(town: Town, case: Case) -> None:
    billing = f"{town.app}/billing"
    amounts = [case.cash, f"-{case.price}", case.price, case.taken, case.card]
    amounts += [case.told.replace(" ", "").replace(",", "."), *(f"-{case.price}",) * 2]
    entries = await town.ledger()
    assert [each["amount"] for each in entries] == amounts
    assert [each["balanceAfter"] for each in entries] == case.left
    cash = {
        language: re.search(r"[0-9][0-9 .,]*[0-9]", words)[0]
        for language, words in case.cash_in_words.items()
    }
    await in_each_language(town.owner, billing, cash)
    await in_each_language(town.operator, f"{town.console}/statement", cash)
    text = (await town.owner.get(f"{billing}/statement")).text
    _, *rows = csv.reader(io.StringIO(text), delimiter=";")
    kept = [tuple(each.replace(",", ".") for each in row[3:6]) for row in rows]
    own = [(each["amount"], each["balanceAfter"], case.currency) for each in reversed(entries)]
    assert kept == own
    file = f"{town.app}/messages/export/file?id={'a' * 22}&form=semicolon"
    *_, last = csv.reader(io.StringIO((await town.owner.get(file)).text), delimiter=";")
    assert case.price.replace(".", ",") in last
    receipt = await town.gateway.perform("ledger.list", {"organization_id": town.organization_id})
    first = receipt["entries"][-1]["seq"]
    await in_each_language(town.owner, f"{billing}/receipts/{first}", case.cash_in_words)


@pytest.mark.slow
@pytest.mark.parametrize("case", [FRANCS, DINARS], ids=lambda case: case.currency)
async def test_money_goes_its_whole_way(autojump_clock, case, tmp_path):
    async with open_town(case, tmp_path) as town:
        await credit_cash(town, case)
        await charge_and_refund(town, case)
        await correct(town, case)
        await pay_by_card(town, case)
        await pay_by_phone(town, case)
        await own_price(town, case)
        await warn_and_cap(town, case)
        await statement(town, case)
        assert_books_agree(town)
