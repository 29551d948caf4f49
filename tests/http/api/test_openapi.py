"""The reference is valid, complete, and says what the service does."""

import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from openapi_spec_validator import validate

from risala.cli.main import cli
from risala.engine.model.events import EventType, MessageEvent, event_body
from risala.engine.model.records.messages import MessageView
from risala.engine.model.states import Status
from risala.engine.model.wire import message_wire
from risala.http.api.bodies import SendBody
from risala.http.api.clients import FOLDER
from risala.http.api.fields import FIT_PATTERN, INSTANT_PATTERN, NUMBER_PATTERN, SENDER_PATTERN
from risala.http.api.openapi.document import OPERATIONS, document
from risala.http.api.openapi.webhooks import EXAMPLES
from risala.http.api.reference import _FILES, ASSETS
from risala.http.common.assets import STATIC
from risala.http.common.error_words import PAGE as ERRORS
from risala.http.common.problems import CODES
from risala.sms.address import sender_fault
from risala.sms.numbering.plan import DEFAULT


@pytest.fixture(scope="module")
def whole() -> dict:
    return document()


def checker(whole: dict, schema: dict) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**schema, "components": whole["components"]})


def test_it_is_openapi_3_1(whole):
    assert whole["openapi"] == "3.1.0"
    validate(whole)


async def test_it_is_served_as_it_is_printed(client, whole):
    response = await client.get("/openapi.json")
    assert (response.status_code, response.content_type) == (200, "application/json")
    assert await response.get_json() == json.loads(json.dumps(whole))
    printed = CliRunner().invoke(cli, ["openapi"])
    assert json.loads(printed.stdout) == json.loads(json.dumps(whole))


def test_every_route_is_there_and_no_other(client, whole):
    app = client.app
    routes = [*app.plain.paths().items(), *((r.rule, r.methods) for r in app.url_map.iter_rules())]
    served = {
        (path, method.lower())
        for path, methods in routes
        for method in methods - {"HEAD", "OPTIONS"}
        if not path.startswith((ASSETS, f"{FOLDER}/", ERRORS))
    }
    told = {(path, method) for path, methods in whole["paths"].items() for method in methods}
    assert told == served


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_examples_are_valid(whole, operation):
    told = whole["paths"][operation.path][operation.method]
    bodies = [told["requestBody"]] if operation.body else []
    contents = [part["content"] for part in (*bodies, told["responses"]["200"])]
    for content in contents:
        for media in content.values():
            for example in media.get("examples", {}).values():
                checker(whole, media["schema"]).validate(example["value"])


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_status_is_told_with_its_error(whole, operation):
    responses = whole["paths"][operation.path][operation.method]["responses"]
    assert {"200", "405", "500"} <= set(responses)
    if operation.body:
        assert {"400", "401", "403", "408", "413", "415", "503"} <= set(responses)
    for status, response in responses.items():
        assert response
        if status != "200":
            name = response["$ref"].removeprefix("#/components/responses/")
            told = whole["components"]["responses"][name]
            media = told["content"]["application/json"]
            assert media["schema"] == {"$ref": "#/components/schemas/Error"}
            assert (media["example"]["code"], media["example"]["status"]) == (
                CODES[int(status)],
                int(status),
            )
            checker(whole, media["schema"]).validate(media["example"])
            assert ("Retry-After" in told["headers"]) == (status in ("429", "503"))
            assert "x-request-id" in told["headers"]


MAY_BE_LEFT_OUT = {
    EventType.SMS_RECEIVED: ["sentAt"],
    **{kind: ["messageClass"] for kind in MessageEvent.TYPES},
}


@pytest.mark.parametrize("kind", EventType)
def test_events_are_told_as_they_are_sent(whole, kind):
    told = whole["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
    sent = json.loads(event_body(EXAMPLES[kind], told["example"]["id"]))
    assert told["example"] == sent
    schema = whole["components"]["schemas"][told["schema"]["$ref"].rpartition("/")[2]]
    assert list(sent) == schema["required"]
    assert [*schema["properties"]] == [*sent, *MAY_BE_LEFT_OUT.get(kind, ())]
    checker(whole, told["schema"]).validate(sent)
    with pytest.raises(jsonschema.ValidationError):
        checker(whole, told["schema"]).validate(sent | {"type": "other"})


def test_every_event_and_no_other_is_told(whole):
    assert [*whole["webhooks"]] == [*EventType]


def test_answers_have_the_members_that_are_told(whole):
    view = MessageView(
        "sms_1", "org_1", "live", "sms", "+22236123456", "RISALA", "x", "sent", 1, "gsm7", 50,
        "MRU", 1, None, None, None, None, {}, None, None, None, 0, 0,
    )  # fmt: skip
    told = whole["components"]["schemas"]["MessageAnswer"]["properties"]
    assert list(told) == list(message_wire(view))
    checker(whole, {"$ref": "#/components/schemas/MessageAnswer"}).validate(message_wire(view))
    assert told["status"]["enum"] == [status.value for status in Status]


@pytest.mark.parametrize(
    "text",
    [
        "+22236123456",
        "+2223612345",
        "+22256123456",
        "22236123456",
        "+22236123456x",
        "+222361234567",
    ],
)
def test_the_pattern_of_numbers(text):
    assert bool(re.search(NUMBER_PATTERN, text)) == DEFAULT.serves(text)


@pytest.mark.parametrize(
    "text", ["A", "Acme", "A 1", "1 A", "12", "1 2", " A", "A ", "é", "a-b", "x" * 11, ""]
)
def test_the_pattern_of_senders(text):
    assert bool(re.search(SENDER_PATTERN, text)) == (sender_fault(text) is None)


def test_the_models_limits_are_in_the_document(whole):
    told = whole["components"]["schemas"]["SendBody"]
    assert told["required"] == ["to", "body"]
    assert set(told["properties"]) == {
        field.alias or name for name, field in SendBody.model_fields.items()
    }
    assert told["properties"]["body"]["maxLength"] == 1600
    assert told["properties"]["body"]["pattern"] == FIT_PATTERN
    assert told["properties"]["sendAt"]["pattern"] == INSTANT_PATTERN
    assert told["properties"]["validitySeconds"]["minimum"] == 60
    assert told["properties"]["validitySeconds"]["maximum"] == 259_200
    assert told["properties"]["metadata"]["maxProperties"] == 10
    batch = whole["components"]["schemas"]["BatchBody"]["properties"]["messages"]
    assert (batch["minItems"], batch["maxItems"]) == (1, 1000)


def test_nothing_of_the_house_is_in_it(whole):
    text = json.dumps(whole)
    assert "risala.http" not in text
    assert ":mod:" not in text
    assert "\u0060\u0060" not in text


class TestPage:
    async def test_it_asks_nobody_else(self, client):
        response = await client.get("/docs")
        assert response.status_code == 200
        assert response.content_type == "text/html; charset=utf-8"
        policy = response.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        page = await response.get_data(as_text=True)
        assert "{{" not in page
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
        assert "<style" not in page
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert " style=" not in page

    async def test_without_javascript_it_tells_what_there_is(self, client):
        page = await (await client.get("/docs")).get_data(as_text=True)
        fallback = page[page.index("<noscript>") : page.index("</noscript>")]
        assert 'href="openapi.json"' in fallback
        for operation in OPERATIONS:
            assert f"{operation.method.upper()} {operation.path}<" in fallback

    async def test_its_files_may_be_kept_for_ever_and_are_not_sent_twice(self, client):
        page = await (await client.get("/docs")).get_data(as_text=True)
        found = re.findall(r"(?:src|href)=\"(docs/assets/[^\"]+)\"", page)
        assert len(found) == len(_FILES)
        for address in found:
            response = await client.get(f"/{address}")
            assert response.status_code == 200
            assert "immutable" in response.headers["cache-control"]
            assert response.headers["x-content-type-options"] == "nosniff"
            etag = response.headers["etag"]
            assert address.endswith(etag.split('"')[1])
            plain = await response.get_data()
            response = await client.get(f"/{address}", headers={"if-none-match": etag})
            assert (response.status_code, await response.get_data()) == (304, b"")
            response = await client.get(f"/{address}", headers={"accept-encoding": "gzip"})
            assert response.headers["content-encoding"] == "gzip"
            assert len(await response.get_data()) < len(plain)

    def test_vendored_files_are_what_they_are_said_to_be(self):
        told = (STATIC / "vendor/swagger-ui/VENDOR.md").read_text()
        digests = dict(re.findall(r"\| (\S+) \| ([0-9a-f]{64}) \|", told))
        there = {path.name for path in (STATIC / "vendor/swagger-ui").iterdir()} - {"VENDOR.md"}
        assert set(digests) == there
        for name, digest in digests.items():
            content = (STATIC / "vendor/swagger-ui" / name).read_bytes()
            assert hashlib.sha256(content).hexdigest() == digest

    def test_make_vendor_fetches_the_version_that_is_there(self):
        version = re.search(
            r'"swagger-ui-dist",\s+"(\S+)",',
            (Path(__file__).parents[3] / ".ci/vendor").read_text(),
        )
        assert version is not None
        first_line = (STATIC / "vendor/swagger-ui/VENDOR.md").read_text().splitlines()[0]
        assert first_line == f"# swagger-ui-dist {version[1]}"
