"""The whole order of checks, batches and test keys: over HTTP, with the real engine behind it."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from patience import HANG_S
from risala.config.model import CarrierSection, HttpSection, Settings, StorageSection
from risala.drivers.testmode import FACTORY
from risala.engine.features.hops.stored import HopRepository
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.model.times import iso
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.http.api.app import create_api
from risala.plugins.testing.fake_driver import FakeDriver

MESSAGE = {"to": "+22236123456", "body": "Hello"}
DAY_MS = 86_400_000


@dataclass
class Office:
    """An organization with keys, and the API in front of its engine."""

    client: Any
    gateway: Any
    organization_id: str
    clock: TrioClock
    keys: dict[str, str]

    async def post(self, path: str, body: Any, key: str = "sk_live", **headers: str):
        headers = {"x-api-key": self.keys.get(key, key), "content-type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        return await self.client.post(path, headers=headers, data=data)

    async def send(self, key: str = "sk_live", **fields: Any):
        return await self.post("/api/sms", MESSAGE | fields, key)

    async def batch(self, items: list, key: str = "sk_live") -> list[dict]:
        response = await self.post("/api/sms/batch", {"messages": items}, key)
        assert response.status_code == 200
        return (await response.get_json())["results"]

    async def get(self, message_id: str, key: str = "sk_live"):
        return await self.post("/api/sms/get", {"messageId": message_id}, key)

    async def wait_status(self, message_id: str, status: str, key: str) -> dict:
        with trio.fail_after(HANG_S):
            while True:
                shown = await (await self.get(message_id, key)).get_json()
                if shown["status"] == status:
                    return shown
                assert shown["status"] in ("pending", "processing", "sent")
                await trio.sleep(0.05)

    async def perform(self, name: str, **arguments: Any) -> dict:
        return await self.gateway.perform(name, arguments)

    async def balance(self) -> str:
        shown = await self.perform("org.show", organization_id=self.organization_id)
        return shown["balance"]

    def rows(self) -> tuple[int, ...]:
        reader = self.gateway.services.repositories._store.reader
        return tuple(
            reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("messages", "ledger", "idempotency", "timeline")
        )


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    clock = TrioClock()
    settings = Settings(
        storage=StorageSection(data_dir=tmp_path), http=HttpSection(body_timeout_s=300)
    )
    live = CarrierSection(name="fake", driver="fake")
    tests = CarrierSection(name="test", driver="test", prefixes=())
    drivers = {"fake": FakeDriver(), "test": FACTORY.build("test", None)}
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, (live, tests), drivers, seams) as engine:
        gateway = engine.gateway
        created = await gateway.perform("org.create", {"name": "Office"})
        organization_id = created["id"]
        await gateway.perform("topup", {"organization_id": organization_id, "amount": "100"})
        keys = {}
        for kind in ("secret", "publishable"):
            for mode in ("live", "test"):
                key = await gateway.perform(
                    "key.create",
                    {"organization_id": organization_id, "type": kind, "mode": mode},
                )
                keys[f"{kind[0]}k_{mode}"] = key["value"]
        client = create_api(gateway, settings, clock).test_client()
        yield Office(client, gateway, organization_id, clock, keys)


async def problem(response, status: int) -> dict:
    payload = await response.get_json()
    assert (response.status_code, payload["status"]) == (status, status)
    return payload


class TestBatch:
    async def test_a_thousand_with_one_bad_in_ten_and_repeated_keys(self, office):
        items = []
        for n in range(1000):
            item = {"to": f"+2223612{n:04}", "body": f"Message {n}"}
            if n % 10 == 3:
                item["to"] = "+2221"  # bad
            elif n % 10 == 5:
                item["idempotencyKey"] = f"repeated-{n % 50}"  # each 20 times
            elif n % 10 == 7:
                item["idempotencyKey"] = f"once-{n:06}"
            items.append(item)
        await office.perform("topup", organization_id=office.organization_id, amount="1000")
        results = await office.batch(items)
        assert len(results) == 1000
        first_of_key: dict[str, dict] = {}
        seen = set()
        for item, result in zip(items, results, strict=True):
            key = item.get("idempotencyKey")
            if item["to"] == "+2221":
                assert result["data"]["issues"][0]["code"] == "invalid_phone_number"
                continue
            if key in first_of_key:
                assert result == first_of_key[key]
                continue
            assert result["accepted"] is True
            assert result["messageId"] not in seen
            seen.add(result["messageId"])
            if key:
                assert result["idempotencyKey"] == key
                first_of_key[key] = result
            view, _ = office.gateway.show_message(result["messageId"])
            assert (view.to, view.body) == (item["to"], item["body"])
        assert len(seen) == 700 + 100 + 5
        assert await office.balance() == f"{1100 - len(seen) * 0.5:.2f}"

    async def test_a_key_of_a_single_send_gets_its_bytes_again(self, office):
        single = await (await office.send(idempotencyKey="k" * 8)).get_data()
        response = await office.post(
            "/api/sms/batch", {"messages": [{**MESSAGE, "idempotencyKey": "k" * 8, "body": "?"}]}
        )
        assert await response.get_data() == b'{"results":[' + single + b"]}"

    async def test_the_rest_of_a_balance_goes_as_far_as_it_does(self, office):
        results = await office.batch([MESSAGE] * 250)
        assert [result.get("code") for result in results] == [None] * 200 + [
            "PAYMENT_REQUIRED"
        ] * 50
        assert await office.balance() == "0.00"

    async def test_each_item_counts_for_the_rate(self, office, autojump_clock):
        await office.perform("org.set", organization_id=office.organization_id, sms_per_s=2)
        results = await office.batch([MESSAGE, {}, MESSAGE, MESSAGE])
        assert [result.get("status") for result in results] == [None, 400, None, 429]
        assert results[3]["data"] == {"limit": "sms", "retryAfter": 1}
        await trio.sleep(results[3]["data"]["retryAfter"])
        assert (await office.send()).status_code == 200


class TestOrderOfChecks:
    """Each request has every fault that comes later; nothing is left behind by any."""

    async def test_from_the_key_to_the_balance(self, office):
        before = office.rows()
        big = b" " * 70_000
        disabled = await office.perform(
            "key.create", organization_id=office.organization_id, type="secret", mode="live"
        )
        await office.perform("key.disable", key_id=disabled["key"]["id"])
        assert (await office.post("/api/sms", big, "no", content_type="x/y")).status_code == 401
        response = await office.post("/api/sms", big, disabled["value"], content_type="x/y")
        assert response.status_code == 401
        for key in ("pk_live", "pk_test"):
            for path in ("/api/sms", "/api/sms/get", "/api/sms/batch"):
                response = await office.post(path, big, key, content_type="x/y")
                assert (await problem(response, 403))["code"] == "FORBIDDEN"
        await problem(await office.post("/api/sms", big, content_type="x/y"), 415)
        await problem(await office.post("/api/sms", big), 413)
        await problem(await office.send(body="", **{"from": "Unknown"}), 400)
        assert office.rows() == before

    async def test_a_suspended_organization_comes_before_the_type_of_its_key(self, office):
        await office.perform("org.suspend", organization_id=office.organization_id)
        for key in ("sk_live", "pk_live", "sk_test"):
            payload = await problem(await office.send(key), 403)
            assert "active" in payload["message"] or "suspended" in payload["message"]

    async def test_sender_then_limit_then_balance_and_a_known_key_before_them_all(self, office):
        known = await office.send(idempotencyKey="known-key")
        original = await known.get_data()
        await office.batch([MESSAGE] * 199)
        await office.perform("org.set", organization_id=office.organization_id, sms_per_s=0.1)
        before = office.rows()
        # Poor, and after this one too fast as well.
        refused = {"from": "Unknown", "idempotencyKey": "refused-key"}
        payload = await problem(await office.send(**refused), 400)
        assert payload["data"] == {"code": "SENDER_NOT_APPROVED"}
        assert (await problem(await office.send(), 402))["code"] == "PAYMENT_REQUIRED"
        await office.perform("topup", organization_id=office.organization_id, amount="0.50")
        assert (await office.send()).status_code == 200
        response = await office.send(idempotencyKey="refused-key")
        payload = await problem(response, 429)  # not 402: the limit comes first
        assert payload["data"] == {"limit": "sms"}
        assert response.headers["retry-after"] == "10"
        again = await office.send(**(refused | {"idempotencyKey": "known-key"}))
        assert await again.get_data() == original
        await problem(await office.send(idempotencyKey="known-key", body=""), 400)
        messages, _, keys, _ = office.rows()
        assert (messages, keys) == (before[0] + 1, before[2] + 1)

    async def test_retry_after_is_exact(self, office, autojump_clock):
        await office.perform("org.set", organization_id=office.organization_id, sms_per_s=0.25)
        assert (await office.send()).status_code == 200
        await trio.sleep(1.5)
        response = await office.send()
        assert (response.status_code, response.headers["retry-after"]) == (429, "3")
        await trio.sleep(2)
        assert (await office.send()).headers["retry-after"] == "1"
        await trio.sleep(0.5)
        assert (await office.send()).status_code == 200


class TestSchedule:
    async def test_send_at_and_validity(self, office, autojump_clock):
        at_ms = office.clock.now_ms() + 3_600_000
        sent = await office.send(sendAt=iso(at_ms), validitySeconds=60)
        message_id = (await sent.get_json())["messageId"]
        shown = await (await office.get(message_id)).get_json()
        assert (shown["status"], shown["sendAt"]) == ("pending", iso(at_ms))
        assert await office.balance() == "99.50"
        await trio.sleep(3_599)
        assert (await (await office.get(message_id)).get_json())["status"] == "pending"
        await trio.sleep(2)
        assert (await (await office.get(message_id)).get_json())["status"] != "pending"

    @pytest.mark.parametrize("text", ["2020-01-01T00:00:00Z", "1000-01-01T00:00:00+23:59"])
    async def test_a_time_that_is_over_means_now(self, office, autojump_clock, text):
        message_id = (await (await office.send(sendAt=text)).get_json())["messageId"]
        await trio.sleep(1)
        shown = await (await office.get(message_id)).get_json()
        assert shown["sendAt"] is None
        assert shown["status"] in ("sent", "delivered")

    async def test_thirty_days_are_the_most(self, office):
        now_ms = office.clock.now_ms()
        assert (await office.send(sendAt=iso(now_ms + 30 * DAY_MS))).status_code == 200
        payload = await problem(await office.send(sendAt=iso(now_ms + 30 * DAY_MS + 1000)), 400)
        [issue] = payload["data"]["issues"]
        assert (issue["path"], issue["code"]) == (["sendAt"], "too_far")


class TestTestKeys:
    @pytest.mark.parametrize(
        ("digits", "status"),
        [
            ("00", "delivered"),
            ("01", "failed"),
            ("02", "undelivered"),
            ("03", "sent"),
            ("04", "delivered"),
            ("56", "delivered"),
        ],
    )
    async def test_the_number_chooses_and_nothing_is_charged(
        self, office, autojump_clock, digits, status
    ):
        sent = await office.send("sk_test", to=f"+222361234{digits}")
        assert sent.status_code == 200
        message_id = (await sent.get_json())["messageId"]
        shown = await office.wait_status(message_id, status, "sk_test")
        assert shown["price"] == "0.00"
        assert shown["carrier"] == "test"
        assert await office.balance() == "100.00"

    async def test_test_and_live_know_nothing_of_each_other(self, office):
        ids, keys = {}, {}
        for key in ("sk_live", "sk_test"):
            payload = await (await office.send(key, idempotencyKey="the-same-key")).get_json()
            ids[key], keys[key] = payload["messageId"], payload["idempotencyKey"]
        assert ids["sk_live"] != ids["sk_test"]
        assert keys["sk_live"] == keys["sk_test"] == "the-same-key"
        assert (await office.get(ids["sk_test"], "sk_test")).status_code == 200
        others = [
            await office.get(ids["sk_test"], "sk_live"),
            await office.get(ids["sk_live"], "sk_test"),
            await office.get("sms_unknown", "sk_test"),
        ]
        sentences = {(await problem(response, 404))["message"] for response in others}
        assert len(sentences) == 1

    async def test_neither_money_nor_rate_holds_a_test_key_back(self, office):
        await office.perform("org.set", organization_id=office.organization_id, sms_per_s=0.1)
        results = await office.batch([MESSAGE] * 300, "sk_test")
        assert all(result["accepted"] for result in results)
        assert await office.balance() == "100.00"


class TestMessagesFromAnotherRisala:
    OTHER = "0123456789abcdef"

    def own(self, office) -> str:
        services = office.gateway.services
        return services.repositories.part(HopRepository).own()

    async def passed_on(self, office, hops: str, path="/api/sms", body=MESSAGE, key="sk_live"):
        return await office.post(path, body, key, risala_hops=hops)

    async def test_one_that_returns_is_refused_and_leaves_nothing(self, office):
        before = office.rows(), await office.balance()
        own = self.own(office)
        for hops in (own, f"{own}, {self.OTHER}", ", ".join([self.OTHER] * 8)):
            refused = await problem(await self.passed_on(office, hops), 400)
            assert refused["data"] == {"code": "LOOP"}
            assert refused["docs"] == "/docs/errors#LOOP"
            assert own not in json.dumps(refused)
        refused = await problem(await self.passed_on(office, own, key="sk_test"), 400)
        assert refused["data"] == {"code": "LOOP"}
        assert (office.rows(), await office.balance()) == before

    async def test_any_other_is_accepted(self, office):
        accepted = await self.passed_on(office, self.OTHER)
        assert accepted.status_code == 200
        message_id = (await accepted.get_json())["messageId"]
        services = office.gateway.services
        came_through = services.repositories.part(HopRepository).came_through
        assert came_through(message_id) == (self.OTHER,)

    async def test_a_header_that_is_none_is_refused(self, office):
        before = office.rows()
        for hops in ("", "yes", self.OTHER.upper(), self.OTHER + ";" + self.OTHER):
            refused = await problem(await self.passed_on(office, hops), 400)
            assert (refused["data"], "Risala-Hops" in refused["message"]) == ({}, True)
        assert office.rows() == before

    async def test_the_body_comes_first(self, office):
        wrong = await problem(await self.passed_on(office, "yes", body={}), 400)
        assert "issues" in wrong["data"]

    async def test_a_batch_has_none(self, office):
        body = {"messages": [MESSAGE]}
        refused = await problem(
            await self.passed_on(office, self.OTHER, "/api/sms/batch", body), 400
        )
        assert "POST /api/sms" in refused["message"]

    async def test_of_a_publishable_key_nobody_reads_it(self, office):
        own = self.own(office)
        assert (await self.passed_on(office, own, key="pk_live")).status_code == 403
        sent = await self.passed_on(
            office, own, "/api/verify/send", {"to": MESSAGE["to"]}, key="pk_live"
        )
        assert sent.status_code == 200

    async def test_it_is_never_answered_together_with_others(self, office):
        group = office.client.app.plain.grouped(b"/api/sms").group
        usual = {b"content-type": [b"application/json"]}
        assert group.takes(usual)
        assert not group.takes({**usual, b"risala-hops": [self.OTHER.encode()]})
