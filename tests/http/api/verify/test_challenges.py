"""A publishable key that asks for a challenge first: over HTTP, as a page and as its enemies do."""

import json

import pytest
import trio

from risala.config.model import LimitsSection
from risala.engine.features.challenges.rules import LIFE_S, PARTS, Challenge, solution
from risala.engine.model.records import keys

TO, OTHER = "+22236123456", "+22236123457"
BITS = 8


@pytest.fixture
async def asking(open_desk):
    """A desk whose publishable keys ask for easy challenges; the secret ones cannot."""
    async with open_desk(limits=LimitsSection(verify_challenge_bits=BITS)) as desk:
        listed = await desk.perform(keys.LIST.name, organization_id=desk.organization_id)
        for each in listed["keys"]:
            if each["type"] == "publishable":
                await desk.perform(keys.SET.name, key_id=each["id"], challenge="always")
        yield desk


async def asked(response, refused) -> dict:
    payload = await refused(response, 403)
    assert payload["code"] == "FORBIDDEN"
    assert payload["docs"] == "/docs/errors#CHALLENGE_REQUIRED"
    assert list(payload["data"]) == ["code", "challenge"]
    assert payload["data"]["code"] == "CHALLENGE_REQUIRED"
    challenge = payload["data"]["challenge"]
    assert challenge == {
        "id": challenge["id"],
        "algorithm": "SHA-256",
        "bits": BITS,
        "parts": PARTS,
        "validSeconds": 120,
    }
    return challenge


def answer(challenge: dict) -> dict:
    return {
        "id": challenge["id"],
        "nonce": solution(Challenge(challenge["id"], challenge["bits"])),
    }


async def solved(desk, refused, key="pk_live", to=TO) -> dict:
    return answer(await asked(await desk.send(key, to), refused))


@pytest.mark.parametrize("key", ["pk_live", "pk_test"])
async def test_a_code_is_sent_once_the_challenge_is_answered(asking, refused, key):
    rows = asking.rows()
    mine = await solved(asking, refused, key)
    assert asking.rows() == rows  # nothing is stored of what was only asked
    session = await asking.sent(key, challenge=mine)
    code = await asking.code() if key == "pk_live" else "000000"
    assert await asking.status(session, code, key) == "approved"  # a check needs no challenge


async def test_it_opens_one_session_and_no_more(asking, refused):
    mine = await solved(asking, refused)
    await asking.sent("pk_live", challenge=mine)
    rows = asking.rows()
    fresh = await asked(await asking.send("pk_live", challenge=mine), refused)
    assert fresh["id"] != mine["id"]
    assert asking.rows() == rows


async def test_after_a_restart_neither_a_used_nor_an_open_one_passes(open_desk, refused):
    limits = LimitsSection(verify_challenge_bits=BITS)
    async with open_desk(limits=limits) as before:
        made = await before.make_key()
        await before.perform(keys.SET.name, key_id=made["key"]["id"], challenge="always")
        key = made["value"]
        used, still_open = [await solved(before, refused, key) for _ in range(2)]
        await before.sent(key, challenge=used)
    async with open_desk(limits=limits) as after:
        for each in (used, still_open):
            await asked(await after.send(key, challenge=each), refused)
        await after.sent(key, challenge=await solved(after, refused, key))


async def test_of_many_at_once_one_passes(asking, refused):
    mine = await solved(asking, refused)
    statuses = []

    async def send():
        statuses.append((await asking.send("pk_live", challenge=mine)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(send)
    assert sorted(statuses) == [200] + [403] * 9


@pytest.mark.parametrize(
    ("key", "to", "peer"),
    [
        ("pk_live", OTHER, "192.0.2.1"),
        ("pk_test", TO, "192.0.2.1"),
        ("pk_live", TO, "192.0.2.2"),
        ("pk_live", TO, "2001:db8::1"),
        ("pk_live", TO, None),
    ],
)
async def test_it_is_for_its_key_number_and_address_alone(asking, refused, key, to, peer):
    mine = await solved(asking, refused)
    rows = asking.rows()
    await asked(await asking.send(key, to, peer=peer, challenge=mine), refused)
    assert asking.rows() == rows
    await asking.sent("pk_live", challenge=mine)


async def test_a_visitor_keeps_it_within_one_network_of_ipv6(asking, refused):
    first, second = "2001:db8:1:2::1", "2001:db8:1:2:ffff::7"
    challenge = await asked(await asking.send("pk_live", peer=first), refused)
    response = await asking.send("pk_live", peer=second, challenge=answer(challenge))
    assert response.status_code == 200


async def test_it_counts_for_two_minutes(asking, quick, refused):
    mine = await solved(asking, refused)
    await trio.sleep(LIFE_S)
    await asked(await asking.send("pk_live", challenge=mine), refused)


@pytest.mark.parametrize(
    "said",
    [
        {"id": "x", "nonce": "0"},
        {"id": "x" * 64, "nonce": "0" * 255},
        {"id": "é" * 40, "nonce": "٣"},
        {"id": "A" * 40, "nonce": ".".join("0" * PARTS)},
    ],
)
async def test_a_forged_one_is_asked_anew(asking, refused, said):
    response = await asking.send("pk_live", challenge=said)
    payload = await refused(response, 403)
    assert payload["message"].startswith("The challenge's answer does not count")
    assert asking.rows()[:2] == (0, 0)


@pytest.mark.parametrize(
    "said",
    [
        *("x", 7, [], {}, {"id": "x"}, {"nonce": "0"}),
        *({"id": 7, "nonce": "1"}, {"id": "", "nonce": "1"}, {"id": "x" * 65, "nonce": "1"}),
        *({"id": "x", "nonce": each} for each in (7, "", None, "1" * 256, ["1"])),
        {"id": "x", "nonce": "\ud800"},
    ],
)
@pytest.mark.parametrize("key", ["pk_live", "sk_live"])
async def test_what_is_no_answer_is_a_fault(asking, refused, key, said):
    payload = await refused(await asking.send(key, challenge=said), 400)
    (issue,) = payload["data"]["issues"]
    assert issue["path"] == ["challenge"]
    assert issue["code"] in {"invalid_challenge", "invalid_characters"}


async def test_null_is_as_left_out_and_more_members_are_ignored(asking, refused):
    await asked(await asking.send("pk_live", challenge=None), refused)
    mine = await solved(asking, refused)
    await asking.sent("pk_live", challenge={**mine, "bits": 1, "more": "x"})


async def test_secret_keys_are_asked_none_and_say_what_they_like(asking):
    await asking.sent("sk_live")
    await asking.sent("sk_live", challenge={"id": "x", "nonce": "0"})
    listed = await asking.perform(keys.LIST.name, organization_id=asking.organization_id)
    secret = next(each for each in listed["keys"] if each["type"] == "secret")
    with pytest.raises(Exception, match="A secret key asks no challenge"):
        await asking.perform(keys.SET.name, key_id=secret["id"], challenge="always")
    await asking.perform(keys.SET.name, key_id=secret["id"], challenge="never")


async def test_what_is_wrong_with_the_body_comes_first_and_no_work_is_asked_for_it(asking, refused):
    payload = await refused(await asking.send("pk_live", "bad"), 400)
    assert payload["data"]["issues"][0]["path"] == ["to"]


async def test_a_key_that_asks_none_sends_as_ever(desk, refused):
    await desk.sent("pk_live")
    await desk.sent("pk_live", challenge={"id": "x", "nonce": "0"})
    assert desk.rows()[1] == 2


async def test_when_suspicious_asks_none_of_itself(asking):
    listed = await asking.perform(keys.LIST.name, organization_id=asking.organization_id)
    for each in listed["keys"]:
        if each["type"] == "publishable":
            await asking.perform(keys.SET.name, key_id=each["id"], challenge="when_suspicious")
    await asking.sent("pk_live")


async def test_a_page_of_another_origin_can_read_what_is_asked(asking, refused):
    app = "https://app.example"
    response = await asking.post("/api/verify/send", {"to": TO}, "pk_live", origin=app)
    await asked(response, refused)
    assert response.headers["access-control-allow-origin"] == app


async def test_a_flood_is_held_by_the_addresss_limit(asking, quick):
    statuses = [(await asking.send("pk_live")).status_code for _ in range(31)]
    assert statuses == [403] * 30 + [429]
    assert asking.rows()[:2] == (0, 0)


async def test_no_log_of_requests_has_the_answer(asking, refused):
    mine = await solved(asking, refused)
    await asking.sent("pk_live", challenge=mine)
    reader = asking.gateway.services.repositories._store.reader
    for table in ("messages", "verifications", "events"):
        rows = json.dumps(
            [[str(cell) for cell in row] for row in reader.execute(f"SELECT * FROM {table}")]
        )
        assert mine["id"] not in rows
        assert mine["nonce"] not in rows
