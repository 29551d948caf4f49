"""Many wrong keys from one address: only its 401 answers wait, and memory is bounded."""

import pytest
import structlog.testing
import trio
import trio.testing

from risala.config.model import HttpSection, Settings
from risala.http.api.app import create_api
from risala.http.common import failed_keys
from risala.http.common.client_address import ClientAddresses
from risala.http.common.failed_keys import DELAY_S, FREE_A_MINUTE, AnswerTally, FailedKeys

GOOD = {"to": "+22236123456", "body": "Hello"}
HERE, THERE, PROXY = "203.0.113.7", "203.0.113.8", "10.0.0.1"


@pytest.fixture
def api(gateway):
    return create_api(gateway, Settings(http=HttpSection(trusted_proxies=(PROXY,))))


@pytest.fixture
def ask(api, keys):
    """Ask with a key from an address; the status, and the seconds that it took."""
    client = api.test_client()

    async def one(key, peer=HERE, path="/api/sms", **headers):
        headers = {"content-type": "application/json", **headers}
        if key is not None:
            headers["x-api-key"] = keys.get(key, key)
        before = trio.current_time()
        response = await client.post(
            path, headers=headers, json=GOOD, scope_base={"client": (peer, 40000)}
        )
        return response.status_code, trio.current_time() - before

    return one


async def wear_out(ask, **more):
    for _ in range(FREE_A_MINUTE):
        assert await ask("wrong", **more) == (401, 0)


async def test_only_the_401_answers_of_the_address_wait(autojump_clock, ask, gateway):
    await wear_out(ask)
    assert await ask("wrong") == (401, DELAY_S)
    # Whoever shares the address and has a key, and whoever forgot it, notice nothing.
    assert await ask("secret") == (200, 0)
    assert await ask("publishable") == (403, 0)
    assert await ask(None) == (401, 0)
    assert await ask("wrong", peer=THERE) == (401, 0)
    assert len(gateway.accepted) == 1


async def test_a_valid_key_is_served_while_wrong_ones_wait(autojump_clock, ask):
    await wear_out(ask)
    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask, "wrong")
        await trio.testing.wait_all_tasks_blocked()
        assert await ask("secret") == (200, 0)


async def test_after_a_minute_without_it_is_forgotten(autojump_clock, ask):
    await wear_out(ask)
    assert await ask("wrong") == (401, DELAY_S)
    await trio.sleep(61)
    await wear_out(ask)


async def test_behind_a_proxy_it_is_the_clients_address(autojump_clock, ask):
    await wear_out(ask, peer=PROXY, **{"x-forwarded-for": HERE})
    assert await ask("wrong", peer=PROXY, **{"x-forwarded-for": HERE}) == (401, DELAY_S)
    assert await ask("wrong", peer=PROXY, **{"x-forwarded-for": THERE}) == (401, 0)


async def test_a_bearer_key_is_a_key(autojump_clock, ask):
    headers = {"authorization": "Bearer wrong"}
    for _ in range(FREE_A_MINUTE):
        assert await ask(None, **headers) == (401, 0)
    assert await ask(None, **headers) == (401, DELAY_S)


async def test_it_is_counted_and_logged_once_without_a_key(autojump_clock, ask, api):
    with structlog.testing.capture_logs() as logged:
        await wear_out(ask)
        for _ in range(20):
            await ask("zanzibar")
    assert [(entry["event"], entry["address"]) for entry in logged] == [("keys.failing", HERE)]
    assert "zanzibar" not in str(logged)
    assert api.tally.failed_keys == FREE_A_MINUTE + 20
    assert api.tally.failed_keys_delayed == 20
    assert api.tally.answers[401] == FREE_A_MINUTE + 20


@pytest.fixture
def brake():
    return FailedKeys(ClientAddresses(()), AnswerTally())


async def test_a_flood_from_everywhere_is_bounded_in_memory_and_in_lines(
    autojump_clock, monkeypatch
):
    monkeypatch.setattr(failed_keys, "ADDRESSES_MAX", 50)
    brake = FailedKeys(ClientAddresses(()), AnswerTally())
    with structlog.testing.capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            for n in range(200):
                for _ in range(FREE_A_MINUTE + 1):
                    nursery.start_soon(brake.hold, f"198.51.100.{n}", ())
                await trio.testing.wait_all_tasks_blocked()
    assert len(brake._brake._failed) == 50
    assert len(brake._silent_until_s) <= 50
    assert len(logged) == 1 + int(trio.current_time() / failed_keys.LINES_EVERY_S)


async def test_no_more_than_so_many_answers_wait_at_once(autojump_clock, brake, monkeypatch):
    monkeypatch.setattr(failed_keys, "WAITING_MAX", 3)
    for _ in range(FREE_A_MINUTE):
        await brake.hold(HERE, ())
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(brake.hold, HERE, ())
        await trio.testing.wait_all_tasks_blocked()
        before = trio.current_time()
        await brake.hold(HERE, ())
        assert trio.current_time() == before
    await brake.hold(HERE, ())
    assert trio.current_time() == before + 2 * DELAY_S


async def test_a_client_that_goes_away_leaves_its_place(autojump_clock, brake, monkeypatch):
    monkeypatch.setattr(failed_keys, "WAITING_MAX", 1)
    for _ in range(FREE_A_MINUTE):
        await brake.hold(HERE, ())
    with trio.move_on_after(DELAY_S / 2):
        await brake.hold(HERE, ())
    before = trio.current_time()
    await brake.hold(HERE, ())
    assert trio.current_time() == before + DELAY_S
