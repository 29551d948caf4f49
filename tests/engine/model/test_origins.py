"""Which sites a publishable key may be used from: stored, changed at once, never for a secret."""

from __future__ import annotations

import pytest

from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.origins import (
    ADDRESSES_MAX,
    ORIGINS_MAX,
    parse_addresses,
    parse_origins,
    ranges_of,
)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://app.example", "https://app.example"),
        ("HTTPS://App.Example/", "https://app.example"),
        ("https://app.example:443", "https://app.example"),
        ("http://app.example:80", "http://app.example"),
        ("http://app.example:443", "http://app.example:443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("capacitor://localhost", "capacitor://localhost"),
        ("https://xn--mgbaam7a8h.example", "https://xn--mgbaam7a8h.example"),
    ],
)
def test_an_origin_is_kept_as_browsers_spell_it(given, kept):
    assert parse_origins([given]) == (kept,)
    assert parse_origins([given, kept]) == (kept,)


@pytest.mark.parametrize(
    "given",
    [
        "", "*", "null", "app.example", "https://", "https://app.example/path", "https://*.example",
        "https://user@app.example", "https://app.example:0", "https://app.example:65536",
        "https://app.example:", "https://-app.example", "https://app.example\n", "https://قهوة.example",
        " https://app.example", "https://[x]", None, 7,
    ],
)  # fmt: skip
def test_what_is_no_origin_is_refused(given):
    with pytest.raises(Invalid) as refused:
        parse_origins([given])
    assert (refused.value.path, refused.value.code) == ("allowed_origins", "invalid_origin")


def test_there_is_a_limit():
    origins = [f"https://{n}.example" for n in range(ORIGINS_MAX)]
    assert len(parse_origins(origins)) == ORIGINS_MAX
    with pytest.raises(Invalid):
        parse_origins([*origins, "https://one-more.example"])


async def make_key(house, **fields):
    return await house.gateway.perform(
        "key.create",
        {"organization_id": house.principal.organization_id, "type": "publishable", **fields},
    )


async def test_origins_of_a_key_last_and_change_at_once(open_house, quick):
    async with open_house() as house:
        free = await make_key(house)
        assert free["key"]["allowedOrigins"] is None
        assert (await make_key(house, allowed_origins=[]))["key"]["allowedOrigins"] is None
        made = await make_key(house, mode="test", allowed_origins=["https://a.example/"])
        assert made["key"]["allowedOrigins"] == ["https://a.example"]
        assert house.gateway.authenticate(made["value"]).allowed_origins == ("https://a.example",)
        key_id = made["key"]["id"]
    async with open_house() as house:
        assert house.gateway.authenticate(made["value"]).allowed_origins == ("https://a.example",)
        set_key = {"key_id": key_id, "allowed_origins": ["https://b.example", "http://c:81"]}
        changed = await house.gateway.perform("key.set", set_key)
        assert changed["allowedOrigins"] == ["https://b.example", "http://c:81"]
        assert house.gateway.authenticate(made["value"]).allowed_origins == (
            "https://b.example",
            "http://c:81",
        )
        assert await house.gateway.perform("key.show", {"key_id": key_id}) == changed
        await house.gateway.perform("key.set", {"key_id": key_id, "allowed_origins": None})
        assert house.gateway.authenticate(made["value"]).allowed_origins is None


async def test_refusals(open_house, quick):
    async with open_house() as house:
        secret = await make_key(house, type="secret")
        for call in (
            make_key(house, type="secret", allowed_origins=["https://a.example"]),
            make_key(house, allowed_origins="https://a.example"),
            make_key(house, allowed_origins=["a.example"]),
            house.gateway.perform(
                "key.set", {"key_id": secret["key"]["id"], "allowed_origins": ["https://a.example"]}
            ),
        ):
            with pytest.raises(Invalid):
                await call
        with pytest.raises(NotFound):
            await house.gateway.perform("key.set", {"key_id": "key_9", "allowed_origins": []})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7/32 ", "203.0.113.7"),
        ("203.0.113.7/24", "203.0.113.0/24"),
        ("2001:DB8:0::7", "2001:db8::7"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.0/120", "203.0.113.0/24"),
    ],
)
def test_an_address_has_one_spelling(given, told):
    assert parse_addresses([given, given]) == (told,)
    assert len(ranges_of((told,))) == 1


@pytest.mark.parametrize(
    "value", ["", "203.0.113", "203.0.113.7:80", "shop.example", "1.2.3.4/33", 7, None, "::%eth0/3"]
)
def test_what_is_no_address_is_refused(value):
    with pytest.raises(Invalid) as refused:
        parse_addresses([value])
    assert refused.value.code == "invalid_ip_address"


def test_a_key_has_so_many_addresses():
    addresses = [f"203.0.113.{number}" for number in range(ADDRESSES_MAX + 1)]
    assert len(parse_addresses(addresses[1:])) == ADDRESSES_MAX
    with pytest.raises(Invalid) as refused:
        parse_addresses(addresses)
    assert refused.value.code == "too_many"
