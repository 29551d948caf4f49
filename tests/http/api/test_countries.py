"""Countries over HTTP: what is not open is refused with its code, and the balance names what is."""

import json
from pathlib import Path

from risala.config.model import CarrierSection, HttpSection, Settings, StorageSection
from risala.config.numbers import NumbersSection, PriceSection
from risala.drivers.testmode import FACTORY
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.http.api.answers import BALANCE, COUNTRY
from risala.http.api.app import create_api
from risala.plugins.testing.fake_driver import FakeDriver

HOME = "+22236123456"
DAKAR = "+221771234567"


async def test_a_country_is_closed_then_open_and_priced(tmp_path: Path):
    clock = TrioClock()
    settings = Settings(
        storage=StorageSection(data_dir=tmp_path),
        http=HttpSection(body_timeout_s=300),
        numbers=NumbersSection(countries=("MR", "SN")),
        prices=(PriceSection(prefix="+221", price="12.00"),),
    )
    carriers = (
        CarrierSection(name="fake", driver="fake", prefixes=("+222", "+221")),
        CarrierSection(name="test", driver="test", prefixes=()),
    )
    drivers = {"fake": FakeDriver(), "test": FACTORY.build("test", None)}
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, carriers, drivers, seams) as engine:
        perform = engine.gateway.perform
        whose = {"organization_id": (await perform("org.create", {"name": "Office"}))["id"]}
        await perform("topup", {**whose, "amount": "20"})
        keys = {
            kind: (await perform("key.create", {**whose, "type": kind, "mode": "live"}))["value"]
            for kind in ("secret", "publishable")
        }
        client = create_api(engine.gateway, settings, clock).test_client()

        async def post(path, body, kind="secret"):
            headers = {"x-api-key": keys[kind], "content-type": "application/json"}
            answer = await client.post(path, headers=headers, data=json.dumps(body))
            return answer.status_code, await answer.get_json()

        message = {"to": DAKAR, "body": "Hello"}
        status, told = await post("/api/sms", message)
        assert (status, told["data"]["code"]) == (403, "COUNTRY_NOT_OPEN")
        assert "operator" in told["message"]
        _, told = await post("/api/sms/batch", {"messages": [{**message, "to": HOME}, message]})
        assert ["messageId" in each for each in told["results"]] == [True, False]
        for kind in keys:
            status, told = await post("/api/verify/send", {"to": DAKAR}, kind)
            assert (status, told["data"]["code"]) == (403, "COUNTRY_NOT_OPEN")
        await perform("country.open", {**whose, "country": "SN", "uses": ["send"]})
        status, told = await post("/api/sms", message)
        assert status < 300
        _, shown = await post("/api/sms/get", {"messageId": told["messageId"]})
        assert shown["price"] == "12.00"
        assert (await post("/api/sms", message))[0] == 402
        assert (await post("/api/sms/estimate", message))[1]["price"] == "12.00"
        _, told = await post("/api/balance/get", {})
        assert [(each["code"], each["send"]) for each in told["countries"]] == [
            ("MR", True),
            ("SN", True),
        ]
        assert told["countries"][1]["prices"] == [{"prefix": "+221", "price": "12.00"}]
        assert not told["countries"][1]["publishable"]
        assert told["countries"][1].keys() == COUNTRY.schema()["properties"].keys()
        assert told.keys() == BALANCE.schema()["properties"].keys()
