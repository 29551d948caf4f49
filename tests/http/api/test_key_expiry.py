"""A key that has expired, and the address of a key's last use, as they come over HTTP."""

from __future__ import annotations

import pytest

from risala.config.model import HttpSection, Settings
from risala.engine.model.errors import KeyExpired
from risala.http.api.app import create_api

SMS = {"to": "+22236123456", "body": "hello"}
PROXY = "192.0.2.1"


class Watched:
    """Notes where keys are used from; refuses them when they have expired."""

    def __init__(self, gateway) -> None:
        self.gateway = gateway
        self.places: list[str | None] = []
        self.expired = False

    def __getattr__(self, name):
        return getattr(self.gateway, name)

    def authenticate(self, api_key, address=None):
        self.places.append(address)
        if self.expired:
            raise KeyExpired
        return self.gateway.authenticate(api_key)


@pytest.fixture
def watched(gateway):
    return Watched(gateway)


@pytest.fixture
def client(watched):
    return create_api(watched, Settings(http=HttpSection(trusted_proxies=[PROXY]))).test_client()


async def test_an_expired_key_gets_401_and_its_own_word(client, watched, headers):
    watched.expired = True
    answer = await client.post("/api/sms", json=SMS, headers=headers)
    told = await answer.get_json()
    assert (answer.status_code, told["code"]) == (401, "UNAUTHORIZED")
    assert told["data"] == {"code": "KEY_EXPIRED"}
    assert "has expired" in told["message"]
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_the_address_is_the_client_s_and_not_the_proxy_s(client, watched, headers):
    for peer, forwarded in ((PROXY, "198.51.100.1, 203.0.113.7"), ("2001:db8::7", "203.0.113.9")):
        await client.post(
            "/api/sms",
            json=SMS,
            headers={**headers, "x-forwarded-for": forwarded},
            scope_base={"client": (peer, 4711)},
        )
    assert watched.places == ["203.0.113.7", "2001:db8::7"]
