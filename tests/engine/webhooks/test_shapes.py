"""Endpoints that get received messages in another program's shape."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
import trio
from standardwebhooks import Webhook

from programs.rapidpro import RECEIVE, Channel
from risala.engine.model.errors import Invalid
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.plugins.contract import Inbound
from risala.plugins.testing.fake_driver import FakeDriver

PHONE = "+22236123456"
AT_MS = 1_767_225_600_000
CHANNEL_URL = f"https://rapidpro.example{RECEIVE}"
TEXT = 'مرحبا 👋 & "x"=1'


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


async def receive(house, driver: FakeDriver, text: str = TEXT) -> None:
    await house.perform("inbound.route", organization_id=house.organization_id)
    await driver.context.inbound(Inbound(PHONE, "1234", text, AT_MS, ("mo1",)))


async def test_rapidpro_takes_a_message_once_however_often_it_is_tried(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        house.outbound.plan[CHANNEL_URL] = [ReceiverAnswer(503, None, "busy")]
        endpoint, secret = await house.endpoint(CHANNEL_URL, shape="rapidpro")
        assert (await house.endpoint_shown(endpoint))["types"] == ["sms.received"]
        await receive(house, driver)
        await house.outbound.wait_calls(2)
        channel = Channel()
        for _, call in house.outbound.calls:
            kind = call.headers["content-type"]
            assert channel.answer(call.method, urlsplit(call.url).path, kind, call.body) == 200
            at = datetime.fromtimestamp(int(call.headers["webhook-timestamp"]), UTC)
            marks = Webhook(secret).sign(call.headers["webhook-id"], at, call.body.decode())
            assert call.headers["webhook-signature"] == marks
        (taken,) = channel.messages.values()
        (stored,) = (await house.perform("inbound.list"))["messages"]
        assert (taken.external_id, taken.urn, taken.text) == (stored["id"], f"tel:{PHONE}", TEXT)
        assert taken.received_on.timestamp() * 1000 == AT_MS
        await trio.sleep(1)
        (delivery,) = await house.deliveries(endpoint)
        assert (delivery["state"], delivery["attempts"]) == ("delivered", 2)


async def test_kannels_words_are_filled_in_the_address(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        url = "https://shop.example/sms?key=4711&from=%p&to=%P&text=%a&smsc=%i"
        await house.endpoint(url, shape="kannel", headers={"X-Shop": "1"})
        await receive(house, driver, f"{TEXT}&key=1")
        await house.outbound.wait_calls(1)
        ((_, call),) = house.outbound.calls
    assert (call.method, call.url, call.body) == ("GET", "https://shop.example/sms", b"")
    asked = [("key", "4711"), ("from", PHONE), ("to", "1234"), ("text", f"{TEXT}&key=1")]
    assert parse_qsl(call.query, strict_parsing=True) == [*asked, ("smsc", "fake")]
    # No body, so no signature: one over nothing would prove nothing.
    assert {*call.headers} == {"X-Shop", "user-agent", "webhook-id", "webhook-timestamp"}


async def test_a_second_signature_is_over_what_is_sent(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        named = {"signature_header": "X-Shop-Signature"}
        await house.endpoint(shape="json", template='{"m": "{{text}}"}', **named)
        await receive(house, driver)
        await house.outbound.wait_calls(1)
        ((_, call),) = house.outbound.calls
    assert json.loads(call.body) == {"m": TEXT}
    assert call.headers["X-Shop-Signature"].startswith(f"t={call.headers['webhook-timestamp']},v1=")


async def test_a_test_event_goes_in_that_shape_and_is_shown_so(open_house, quick):
    async with open_house() as house:
        for shape in ("get", "form"):
            endpoint, _ = await house.endpoint(shape=shape, template="text={{text}}&{{from}}")
            owed = await house.perform("webhook.test", endpoint_id=endpoint)
            event = owed["delivery"]["eventId"]
            shown = await house.perform("webhook.delivery", endpoint_id=endpoint, event_id=event)
            assert shown["body"] == "text=Test%26%2B22236123456"
        await house.outbound.wait_calls(2)
        assert {
            (call.method, call.query or call.body.decode()) for _, call in house.outbound.calls
        } == {
            ("GET", shown["body"]),
            ("POST", shown["body"]),
        }


async def test_a_text_is_not_shown_with_its_delivery(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(shape="form")
        await receive(house, driver)
        await house.outbound.wait_calls(1)
        (delivery,) = await house.deliveries(endpoint)
        event = delivery["eventId"]
        shown = await house.perform("webhook.delivery", endpoint_id=endpoint, event_id=event)
        assert shown["body"] is None


@pytest.mark.parametrize(
    ("wish", "path", "code"),
    [
        ({"shape": "xml"}, "shape", "invalid"),
        ({"shape": "json", "template": "{"}, "template", "invalid_json"),
        ({"shape": "form", "template": "t={{body}}"}, "template", "invalid_placeholder"),
        ({"template": "t={{text}}"}, "template", "needless_template"),
        ({"shape": "kannel"}, "url", "invalid_words"),
        ({"shape": "rapidpro", "types": ["sms.received", "sms.sent"]}, "types", "invalid_type"),
    ],
)
async def test_a_shape_with_a_fault_is_refused(open_house, wish, path, code):
    async with open_house() as house:
        with pytest.raises(Invalid) as caught:
            await house.endpoint(**wish)
        assert (caught.value.path, caught.value.code) == (path, code)
        endpoint, _ = await house.endpoint()
        with pytest.raises(Invalid):
            await house.perform("webhook.update", endpoint_id=endpoint, **wish)
        assert (await house.endpoint_shown(endpoint))["shape"] == "event"


async def test_another_shape_begins_without_the_former_template(open_house):
    async with open_house() as house:
        endpoint, _ = await house.endpoint(shape="form", template="t={{text}}")

        async def update(**wish) -> tuple[str, str, list[str]]:
            found = await house.perform("webhook.update", endpoint_id=endpoint, **wish)
            return tuple(found["endpoint"][name] for name in ("shape", "template", "types"))

        received = ["sms.received"]
        assert await update(description="x") == ("form", "t={{text}}", received)
        assert await update(shape="form", template="") == ("form", "", received)
        assert await update(template="t={{text}}") == ("form", "t={{text}}", received)
        assert await update(shape="rapidpro") == ("rapidpro", "", received)
        with pytest.raises(Invalid):  # no words of Kannel's are in the address
            await update(shape="kannel")
        assert await update(shape="event") == ("event", "", received)
        types = ["sms.sent", "sms.received"]
        assert await update(types=types) == ("event", "", types)
        assert await update(shape="get") == ("get", "", received)
        with pytest.raises(Invalid):
            await update(types=types)


async def test_the_trail_shows_the_shape_and_no_template(open_house):
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        template = "key=s3cret\ntext={{text}}"
        await house.perform("webhook.update", endpoint_id=endpoint, shape="form", template=template)
        lines = (await house.perform("audit.list", subject=endpoint))["lines"]
    (line,) = [each for each in lines if each["operation"] == "webhook.update"]
    assert (line["before"]["shape"], line["after"]["shape"]) == ("event", "form")
    assert (line["before"]["template"], line["after"]["template"]) == (0, len(template))
    assert "s3cret" not in json.dumps(lines)
