"""Keys that may be used from some addresses alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.model import HttpSection, Settings
from risala.engine.model.origins import ranges_of
from risala.http.api.app import create_api

SMS = {"to": "+22236123456", "body": "hello"}
PROXY = "192.0.2.1"


@pytest.fixture
def settings():
    return Settings(http=HttpSection(trusted_proxies=[PROXY]))


@pytest.fixture
def client(gateway, settings):
    class Bound:
        """Binds each key that the gateway knows to two places."""

        def __getattr__(self, name):
            return getattr(gateway, name)

        def authenticate(self, api_key, address=None):
            found = ranges_of(("203.0.113.0/24", "2001:db8::7"))
            return replace(gateway.authenticate(api_key), allowed_addresses=found)

    return create_api(Bound(), settings).test_client()


async def ask(client, headers, peer, path="/api/sms", body=None, **more):
    return await client.post(
        path, json=body or SMS, headers={**headers, **more}, scope_base={"client": (peer, 4711)}
    )


@pytest.mark.parametrize("peer", ["203.0.113.7", "2001:db8::7", "::ffff:203.0.113.9"])
async def test_a_key_is_taken_from_its_addresses(client, headers, peer):
    assert (await ask(client, headers, peer)).status_code == 200


@pytest.mark.parametrize("peer", ["198.51.100.20", "2001:db8::8", "::ffff:198.51.100.20"])
async def test_a_key_is_refused_from_elsewhere(client, headers, peer, gateway):
    for path in ("/api/sms", "/api/sms/get", "/api/sms/batch", "/api/verify/send"):
        answer = await ask(client, headers, peer, path)
        told = await answer.get_json()
        assert (answer.status_code, told["code"]) == (403, "FORBIDDEN")
        assert told["data"] == {"code": "ADDRESS_NOT_ALLOWED"}
    assert gateway.accepted == []


async def test_behind_a_proxy_its_word_counts_and_no_strangers(client, headers):
    told = {"x-forwarded-for": "198.51.100.1, 203.0.113.7"}
    assert (await ask(client, headers, PROXY, **told)).status_code == 200
    assert (await ask(client, headers, "198.51.100.20", **told)).status_code == 403
    told = {"x-forwarded-for": "203.0.113.7, 198.51.100.1"}
    assert (await ask(client, headers, PROXY, **told)).status_code == 403


async def test_the_refusal_names_the_address_that_was_seen(client, headers):
    answer = await ask(client, headers, "198.51.100.20")
    assert "198.51.100.20" in (await answer.get_json())["message"]


async def test_a_publishable_key_is_bound_too(client, headers, keys):
    mine = {**headers, "x-api-key": keys["publishable"]}
    body = {"to": SMS["to"]}
    inside = await ask(client, mine, "203.0.113.7", "/api/verify/send", body)
    outside = await ask(client, mine, "198.51.100.20", "/api/verify/send", body)
    assert (inside.status_code, outside.status_code) == (200, 403)
