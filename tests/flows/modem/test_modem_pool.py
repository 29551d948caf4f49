"""Two modems behind one route: when one dies, the other has its traffic until it is back."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture
def pool(station, running):
    lines = [station.modem("left"), station.modem("right")]
    return (*lines, running(*lines))


def send(service, account, name: str, count: int) -> list[str]:
    answers = [service.send(account, body=f"{name} {number}") for number in range(count)]
    return [answer.json()["messageId"] for answer in answers]


def carriers_of(service, account, ids: list[str]) -> list[str]:
    return [service.wait_status(account, each, "delivered")["carrier"] for each in ids]


def total(*lines) -> int:
    return sum(sum(line.texts().values()) for line in lines)


@pytest.mark.parametrize("way", ["hang", "unplug"])
def test_one_dies_and_comes_back(pool, up, until, way):
    left, right, service = pool
    account = service.organization()
    assert set(carriers_of(service, account, send(service, account, "both", 8))) == {
        "left",
        "right",
    }

    left.do(left.simulator.hang if way == "hang" else left.wire.unplug)
    assert set(carriers_of(service, account, send(service, account, "one", 8))) == {"right"}
    until(lambda: up(service) == {"right"}, "the dead one is seen as dead")

    left.do(left.simulator.wake if way == "hang" else left.wire.plug_in)
    until(lambda: up(service) == {"left", "right"}, "it is back")
    assert set(carriers_of(service, account, send(service, account, "again", 8))) == {
        "left",
        "right",
    }
    assert total(left, right) == 24, "each once"
    service.assert_books_agree()
    service.assert_no_bug_logged()


def test_a_sim_that_may_send_no_more_today_leaves_it_to_the_other(station, running, until):
    left, right = station.modem("left"), station.modem("right")
    service = running(left, right, segments_per_day_max=5)
    account = service.organization()
    ids = send(service, account, "day", 12)
    for message_id in ids[:10]:
        service.wait_status(account, message_id, "delivered")
    assert (total(left), total(right)) == (5, 5)
    assert [service.show(account, each)["status"] for each in ids[10:]] == ["pending"] * 2

    def used_up():
        carriers = service.perform("carriers")["carriers"]
        return all("used up" in each["text"] for each in carriers)

    until(used_up, "both say so")
