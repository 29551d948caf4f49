"""A service in francs CFA, which have no decimals, and one in dinars, which have three."""

from __future__ import annotations

import pytest
import trio

from risala.config.model import PricingSection, ServiceSection, Settings
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.features.alerts.words import alert_words
from risala.engine.features.doctor.examine import examine
from risala.engine.journal.audit.books import audit
from risala.engine.journal.store import meta
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Invalid, StorageUnusable
from risala.engine.model.findings import Grade, Patient
from risala.engine.model.people import Language
from risala.engine.people.letters import apart, figure
from risala.engine.wiring.foundation import DATABASE
from risala.sms.currencies import counting, decimals_of

SOON_S = 900
OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)


@pytest.mark.parametrize(
    ("currency", "price", "lines", "wrong", "said"),
    [
        ("XOF", "25", ["1000", "500", "-25", "25", "-75"], "1.5", "without decimals, like 100"),
        (
            "TND",
            "0.045",
            ["1000.000", "500.000", "-0.045", "0.045", "-75.000"],
            "1.0005",
            "with at most three decimals, like 100 or 99.500",
        ),
    ],
)
async def test_the_books_are_kept_in_the_currency(
    open_house, quick, currency, price, lines, wrong, said
):
    with counting(decimals_of(currency)):
        pricing = PricingSection(per_segment=price)
    sections = {"service": ServiceSection(currency=currency), "pricing": pricing}
    async with open_house(**sections) as house:
        here = {"organization_id": house.principal.organization_id}

        async def perform(name, **given):
            return await house.gateway.perform(name, {**here, **given}, OPERATOR)

        await perform("topup", amount="500", reference="BK-1")
        at = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        sent = await house.send(send_at=at)
        await house.gateway.perform("message.cancel", {"message_id": sent}, OPERATOR)
        await perform("adjust", amount="-75", reason="a test")
        told = await perform("ledger.list")
        assert told["currency"] == currency
        assert [each["amount"] for each in reversed(told["entries"])] == lines
        with pytest.raises(Invalid) as refused:
            await perform("topup", amount=wrong)
        assert said in str(refused.value.faults[0].message)
        assert audit(house.gateway.services.repositories._store.reader).faults == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("currency", "price", "left"), [("XOF", "25", "975"), ("TND", "0.045", "999.955")]
)
async def test_an_alert_tells_a_low_balance_in_the_currency(
    open_house, quick, currency, price, left
):
    with counting(decimals_of(currency)):
        pricing = PricingSection(per_segment=price, low_balance="2000")
    async with open_house(service=ServiceSection(currency=currency), pricing=pricing) as house:
        await house.send()
        await trio.sleep(SOON_S)
        asked = {"kind": "balance_low"}
        assert len((await house.gateway.perform("alert.list", asked))["alerts"]) == 1
        alert = house.gateway.services.repositories.part(AlertRepository).alert(1)
        for language in Language:
            told = alert_words(alert, language)
            shown = f"{apart(language, figure(language, left))} {apart(language, currency)}"
            assert shown in told.title
            assert shown in told.text


FRANCS = {"service": ServiceSection(currency="XOF"), "pricing": PricingSection(per_segment="25")}
OTHER = (
    "Amounts in this database have {kept}, and those in {currency} have {places}: each balance "
    "would become another amount. "
)


def currency_finding(folder, currency):
    settings = Settings(service=ServiceSection(currency=currency))
    patient = Patient(folder, 0, running=False, known_settings=settings)
    checks = examine(patient, lambda *_: None)
    return next((each for each in checks if each.name == "currency"), None)


async def refused(opening):
    """The sentence with which a start is refused."""
    with pytest.raises(BaseExceptionGroup) as group:
        async with opening:
            pass
    [error] = group.value.subgroup(StorageUnusable).exceptions
    return str(error)


async def test_books_of_other_decimals_are_not_opened(open_house, quick, tmp_path):
    async with open_house():
        pass
    told = OTHER.format(kept="two decimals", currency="XOF", places="no decimals")
    told += 'Set `service.currency` to "MRU" again, or use another `storage.data_dir`.'
    assert await refused(open_house(**FRANCS)) == told
    assert (tmp_path / DATABASE).exists()
    found = currency_finding(tmp_path, "XOF")
    assert (found.state, found.text) == (Grade.FAIL, told)
    assert currency_finding(tmp_path, "MRU") is None
    async with open_house(service=ServiceSection(currency="EUR")):
        pass  # an amount stays what it was


async def test_books_in_francs_stay_in_francs(open_house, quick, tmp_path):
    async with open_house(**FRANCS) as house:
        reader = house.gateway.services.repositories._store.reader
        assert meta.get(reader, "decimals") == "0"
    told = OTHER.format(kept="no decimals", currency="MRU", places="two decimals")
    assert (await refused(open_house())).startswith(told)
    async with open_house(**FRANCS):
        assert currency_finding(tmp_path, "XOF") is None


async def test_books_in_francs_with_cents_are_not_read_as_francs(open_house, quick):
    """As services before this version kept them, whatever their currency."""
    async with open_house(**FRANCS) as house:
        await house.gateway.services.repositories._store.commit(
            lambda conn: meta.remove(conn, "decimals")
        )
    told = OTHER.format(kept="two decimals", currency="XOF", places="no decimals")
    assert await refused(open_house(**FRANCS)) == f"{told}Use another `storage.data_dir`."
