"""A bank's texts in the console: why each credits nothing by itself, and what the account has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio
import trio.testing
from tests.http.operator.conftest import OPERATOR, Post

from payment_shop import wallet
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import DATABASE, Seams
from risala.http.operator.app import create_console
from risala.plugins.contract import Inbound
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Reader

PATTERN = "Vous avez recu {amount} MRU de {payer}. Ref {reference}. Solde {balance} MRU."
PAGE = "/operator/payments/texts"


@dataclass
class Bank:
    """A service with a SIM that a bank writes to, seen from its console."""

    post: Post
    driver: FakeDriver
    reader: Reader
    written: int = 0

    async def write(self, text: str, sender: str = "Bankily") -> None:
        self.written += 1
        sent_at = SystemClock().now_ms()
        message = Inbound(sender, None, text, sent_at, (f"pdu-{self.written}",), None)
        await self.driver.context.inbound(message)
        await trio.testing.wait_all_tasks_blocked()

    async def paid(self, reference: str = "BK-1", balance: str = "1500") -> None:
        told = f"Vous avez recu 500 MRU de +22236123456. Ref {reference}. Solde {balance} MRU."
        await self.write(told)

    async def whys(self) -> list[str | None]:
        return [each["why"] for each in (await self.post.do("payment.texts"))["texts"]]


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Bank]:
    sms = {"carrier": "sim", "senders": ["Bankily"], "patterns": [{"text": PATTERN}]}
    outside = Connections(payments={"bankily": wallet(sms=sms)})
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    lanes = (
        CarrierSection(name="fake", driver="fake", prefixes=("+222",)),
        CarrierSection(name="sim", driver="fake", receives_only=True),
    )
    drivers = {each.name: FakeDriver() for each in lanes}
    clock = SystemClock()
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, lanes, drivers, seams, outside) as engine:
        console = create_console(engine.gateway, settings, shutdown=trio.Event())
        post = Post(engine.gateway, settings, console, tmp_path / DATABASE, "", {})
        post.organization_id = (await post.do("org.create", name="Baraka Market"))["id"]
        await post.do("user.create", email=OPERATOR, operator=True)
        cookie = {"risala-operator": await post.token(OPERATOR, operator=True)}
        yield Bank(post, drivers["sim"], Reader(console, cookie))


async def test_a_text_says_why_it_credits_nothing_by_itself(bank):
    await bank.write("Gagnez <b>un million</b> !")
    await bank.paid()
    assert await bank.whys() == ["no_balance", "no_pattern"]
    page = await bank.reader.get(PAGE)
    assert "Gagnez &lt;b&gt;un million" in page.text
    assert "No pattern can read it." in page.text
    assert "The balance of the account is not known yet" in page.text
    assert "not entered yet" in page.text
    listed = await bank.reader.get("/operator/payments")
    assert f'href="{PAGE}"' in listed.text


async def test_a_text_stands_beside_the_claim_that_it_is_about(bank):
    whose = {"organization_id": bank.post.organization_id}
    begun = await bank.post.do("payment.begin", method="bankily", amount="500", **whose)
    entered = {"reference": "bk 1"}
    await bank.post.do("payment.claim", payment_id=begun["id"], entered=entered)
    await bank.paid()
    page = await bank.reader.get(f"/operator/payments/{begun['id']}")
    assert "What the bank wrote" in page.text
    assert "Vous avez recu 500 MRU" in page.text
    assert "Paid from" in page.text
    at = f"/operator/payments/{begun['id']}/confirm"
    assert (await bank.reader.submit(page, at)).status == 303
    assert "No text waits" in (await bank.reader.get(PAGE)).text
    assert "Vous avez recu 500 MRU" in (await bank.reader.get(f"{PAGE}?all=yes")).text


async def test_a_text_is_put_away_with_a_reason(bank):
    await bank.write("Gagnez un million !")
    (text,) = (await bank.post.do("payment.texts"))["texts"]
    page = await bank.reader.get(PAGE)
    at = f"{PAGE}/{text['id']}/dismiss"
    wrong = await bank.reader.submit(page, at, {"reason": ""})
    assert wrong.status == 422
    assert "Fill this in." in wrong.text
    done = await bank.reader.submit(page, at, {"reason": "Advertising."})
    assert done.location == PAGE
    assert "No text waits" in (await bank.reader.get(PAGE)).text
    lines = (await bank.post.do("audit.list", operation="payment.dismiss_text"))["lines"]
    assert lines[0]["after"]["reason"] == "Advertising."
    other = f"{PAGE}/btx_none/dismiss"
    gone = await bank.reader.submit(page, other, {"reason": "Nothing."}, drawn=False)
    assert gone.status == 404


async def test_the_account_s_balance_is_said_anew(bank):
    page = await bank.reader.get(PAGE)
    at = f"{PAGE}/reconcile"
    wrong = await bank.reader.submit(page, at, {"method": "bankily", "balance": "much"})
    assert wrong.status == 422
    assert "Write an amount in digits" in wrong.text
    done = await bank.reader.submit(wrong, at, {"method": "bankily", "balance": "1 000,00"})
    assert done.location == PAGE
    page = await bank.reader.get(PAGE)
    assert "Texts continue from this balance." in page.text
    assert "1,000.00" in page.text
    assert OPERATOR in page.text
    await bank.paid(balance="9000")
    assert "Balance does not add up" in (await bank.reader.get(PAGE)).text


async def test_nobody_is_asked_about_money_that_an_operator_looks_for(bank):
    whose = {"organization_id": bank.post.organization_id}
    begun = await bank.post.do("payment.begin", method="bankily", amount="500", **whose)
    at = f"/operator/payments/{begun['id']}"
    page = await bank.reader.get(at)
    assert "Ask its provider now" not in page.text
    asked = await bank.reader.submit(page, f"{at}/poll", drawn=False)
    assert asked.status == 422
    assert "The provider cannot be asked about this payment." in asked.text
