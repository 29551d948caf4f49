"""What is answered while the database is brought over."""

from __future__ import annotations

import pytest

from risala.engine.model.records.upkeep.service import Upgrading
from risala.http.common.upgrading import AGAIN_MAX_S, AGAIN_UNKNOWN_S, create_upgrading


@pytest.fixture
def now() -> list[Upgrading]:
    return [Upgrading("moving rows", 8_600, 20_000, 110)]


@pytest.fixture
def client(now):
    return create_upgrading(lambda: now[-1]).test_client()


async def test_it_lives(client):
    response = await client.get("/healthz")
    assert (response.status_code, await response.get_json()) == (200, {"status": "ok"})


async def test_it_is_not_ready_and_tells_how_far_it_is(client):
    response = await client.get("/readyz")
    problem = await response.get_json()
    sentence = "atabase is being upgraded to this version: moving rows, 43 %, about 2 minutes left"
    assert response.status_code == 503
    assert problem["code"] == "SERVICE_UNAVAILABLE"
    assert problem["message"] == f"The d{sentence}."
    assert problem["data"] == {
        "reasons": [f"the d{sentence}"],
        "upgrading": {"step": "moving rows", "done": 8600, "total": 20000, "secondsLeft": 110},
    }
    assert problem["requestId"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/api/sms"), ("POST", "/perform"), ("GET", "/metrics"), ("GET", "/no-such"),
     ("DELETE", "/readyz"), ("OPTIONS", "/api/sms"), ("GET", "/tail/life")],
)  # fmt: skip
async def test_everything_else_is_told_to_come_again(client, method, path):
    response = await client.open(path, method=method)
    assert response.status_code == 503
    assert response.headers["retry-after"] == str(AGAIN_MAX_S)


async def test_who_asks_is_not_kept_away_longer_than_need_be(client, now):
    for left_s, again in ((0, "1"), (7, "7"), (None, str(AGAIN_UNKNOWN_S))):
        now.append(Upgrading("copying", 1, 2, left_s))
        assert (await client.get("/readyz")).headers["retry-after"] == again
