"""The API of a service of other countries: its numbers, sentences and reference."""

from __future__ import annotations

import re

import pytest
from openapi_spec_validator import validate

from risala.config.model import Settings
from risala.http.api.app import create_api
from risala.http.api.openapi.document import document
from risala.sms.currencies import counting_in
from risala.sms.numbering.plan import plan_of

SERVED = {("SN", "MR"): ("+221701234567", "+22236123456"), ("FR",): ("+33612345678",)}
REFUSED = {
    ("SN", "MR"): ("+33612345678", "701234567", "+22256123456", "+221338234567"),
    ("FR",): ("+22236123456", "0612345678", "+33123456789", "+33899123456"),
}
NAMES = {("SN", "MR"): "Senegal or Mauritania", ("FR",): "France"}
countries = pytest.mark.parametrize("countries", [*SERVED], ids="-".join)


@pytest.fixture
def client_of(gateway):
    def make(countries):
        settings = Settings.model_validate({"numbers": {"countries": [*countries]}})
        return create_api(gateway, settings).test_client()

    return make


@countries
async def test_numbers_of_the_served_countries_are_taken(client_of, gateway, headers, countries):
    client = client_of(countries)
    for to in SERVED[countries]:
        answer = await client.post("/api/sms", headers=headers, json={"to": to, "body": "x"})
        assert answer.status_code == 200, to
    messages = [{"to": to, "body": "y"} for to in SERVED[countries]]
    answer = await client.post("/api/sms/batch", headers=headers, json={"messages": messages})
    assert answer.status_code == 200
    assert [each.to for each in gateway.accepted] == 2 * [*SERVED[countries]]


@countries
async def test_a_refusal_names_the_countries(client_of, gateway, headers, countries):
    client = client_of(countries)
    for to in REFUSED[countries]:
        answer = await client.post("/api/sms", headers=headers, json={"to": to, "body": "x"})
        assert answer.status_code == 400, to
        (issue,) = (await answer.get_json())["data"]["issues"]
        assert issue["code"] == "invalid_phone_number"
        assert f"a mobile number of {NAMES[countries]}" in issue["message"]
    assert gateway.accepted == []


@countries
async def test_the_reference_is_of_these_countries(client_of, countries):
    whole = await (await client_of(countries).get("/openapi.json")).get_json()
    validate(whole)
    plan = plan_of(countries)
    to = whole["components"]["schemas"]["SendBody"]["properties"]["to"]
    assert (to["pattern"], to["examples"]) == (plan.pattern, [plan.example])
    assert to["description"] == f"The recipient, a mobile number of {NAMES[countries]}."
    assert whole["info"]["description"].startswith(f"Send SMS to mobile numbers of {plan.names}, ")
    assert "+22236123456" not in str(whole)
    assert document()["info"]["description"].startswith("Send SMS to Mauritanian numbers, and")


@pytest.mark.parametrize(
    ("currency", "price", "balance", "nothing"),
    [
        ("XOF", "50", "4950", "0"),
        ("TND", "0.050", "4.950", "0.000"),
        pytest.param("EUR", "0.50", "49.50", "0.00", marks=pytest.mark.long),  # decimals as usual
    ],
)
async def test_the_reference_s_amounts_are_in_the_currency(
    gateway, currency, price, balance, nothing
):
    settings = Settings.model_validate({"service": {"currency": currency}})
    client = create_api(gateway, settings).test_client()
    with counting_in(currency):  # as the service does
        whole = await (await client.get("/openapi.json")).get_json()
    validate(whole)
    answer = whole["paths"]["/api/sms/estimate"]["post"]["responses"]["200"]
    shown = answer["content"]["application/json"]["examples"]["unicode"]["value"]
    assert (shown["price"], shown["currency"]) == (price, currency)
    schemas = whole["components"]["schemas"]
    owed = schemas["BalanceAnswer"]["properties"]["balance"]["pattern"]
    assert re.fullmatch(owed, balance)
    assert re.fullmatch(owed, f"-{balance}")
    others = {"4950", "4.950", "49.50"} - {balance}
    assert not any(re.fullmatch(owed, other) for other in others)
    assert re.fullmatch(schemas["MessageAnswer"]["properties"]["price"]["pattern"], price)
    low = str(whole["webhooks"]["balance.low"])
    assert f"'balance': '{balance}'" in low
    assert f"'currency': '{currency}'" in low
    assert f"; {nothing} for a test key." in str(whole)
    assert "MRU" not in str(whole)
    assert "'price': '0.50', 'currency': 'MRU'" in str(document())
