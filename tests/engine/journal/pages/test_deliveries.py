"""Pages of an endpoint's deliveries, and how the last days' went."""

import re

import pytest

from risala.engine.journal.webhooks import health, history
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.webhooks import ENDPOINT_DISABLED, DeliverySum

DAY_MS = 86_400_000
STATES = ("delivered", "failed", "delivered", "pending")


@pytest.fixture
def shop(book):
    """Twelve deliveries to one endpoint, a second apart, between those to another."""
    organization_id = book.organization()
    for endpoint in ("whe_1", "whe_2"):
        book.conn.execute(
            "INSERT INTO webhook_endpoints (id, organization_id, mode, url, types, secret,"
            " created_at, updated_at) VALUES (?, ?, 'live', 'https://x.example', '[]', 's', 0, 0)",
            (endpoint, organization_id),
        )
    for number in range(24):
        at, state = number // 2 * 1000, STATES[number // 2 % 4]
        book.conn.execute(
            "INSERT INTO webhook_delivery (seq, endpoint_id, event, state, due_at, created_at,"
            " updated_at, delivered_at) VALUES (?, ?, ?, ?, 0, ?, 0, ?)",
            (
                *(number, f"whe_{number % 2 + 1}", number, state, at),
                at + 100 + number if state == "delivered" else None,
            ),
        )


def times(page):
    return [each.created_at // 1000 for each in page.items]


@pytest.mark.parametrize("limit", [1, 5, 12, 50])
@pytest.mark.parametrize(("state", "wanted"), [(None, [*range(11, -1, -1)]), ("failed", [9, 5, 1])])
def test_pages_lead_on_and_back(book, shop, limit, state, wanted):
    found, before = [], None
    while True:
        page = history.page(book.conn, "whe_1", state, Steps(limit, before=before))
        if before is not None:
            back = history.page(book.conn, "whe_1", state, Steps(limit, after=page.newer))
            assert times(back) == times(found[-1])
        found.append(page)
        if page.older is None:
            break
        before = page.older
    assert [each for page in found for each in times(page)] == wanted


def test_few_of_many_are_looked_for_up_to_a_bound(book, shop):
    page = history.page(book.conn, "whe_1", "failed", Steps(5, looked_max=2))
    assert (times(page), page.looked_to.created_at) == ([], 10_000)
    page = history.page(book.conn, "whe_1", "failed", Steps(5, before=page.older, looked_max=2))
    assert times(page) == [9]
    page = history.page(book.conn, "whe_1", "failed", Steps(5, after=(40,)))
    assert times(page) == []
    page = history.page(book.conn, "whe_1", "failed", Steps(1, before=page.older))
    assert times(page) == [9]


def test_what_came_to_an_end_is_summed(book, shop):
    found = history.summed(book.conn, "whe_1", 1, DAY_MS + 4000)
    assert found == DeliverySum(1, 4, 2, round((116 + 112 + 108 + 120) / 4), is_cut=False)
    late = history.summed(book.conn, "whe_1", 1, DAY_MS + 11_000)
    assert late == DeliverySum(1, 0, 0, None, is_cut=False)
    assert history.summed(book.conn, "whe_1", 1, DAY_MS, summed_max=3).is_cut


def test_days_are_counted_up_to_a_bound_and_failures_are_put_together(book, shop):
    book.conn.execute(
        "UPDATE webhook_delivery SET status = 502, error = 'HTTP 502' WHERE seq IN (2, 3, 10, 11)"
    )
    cut = "UPDATE webhook_delivery SET error = ? WHERE seq = 18"
    book.conn.execute(cut, (ENDPOINT_DISABLED,))
    found = health.health(book.conn, "whe_1", (0, 4000, 8000))
    assert [(each.at, each.delivered, each.failed) for each in found.days] == [
        *((0, 2, 1), (4000, 2, 1), (8000, 2, 1)),
    ]
    assert [(each.status, each.error, each.count) for each in found.failures] == [
        (None, ENDPOINT_DISABLED, 1),
        (502, "HTTP 502", 2),
    ]
    assert (found.failures[1].first_at, found.failures[1].last_at) == (1000, 5000)
    assert found.failed_since == 1000
    found = health.health(book.conn, "whe_1", (0, 4000, 8000), looked_max=5)
    assert [each.delivered for each in found.days] == [None, 0, 2]
    found = health.health(book.conn, "whe_3", (0, 4000, 8000))
    assert (found.failures, found.failed_since, found.days[0].delivered) == ((), None, 0)


def test_all_go_by_the_indexes(book, shop):
    run = []
    book.conn.set_trace_callback(run.append)
    for steps in (Steps(2), Steps(2, before=(9,)), Steps(2, after=(9,))):
        history.page(book.conn, "whe_1", "failed", steps)
    history.summed(book.conn, "whe_1", 1, DAY_MS)
    health.health(book.conn, "whe_1", (0, 4000))
    book.conn.set_trace_callback(None)
    run = [sql for sql in run if "webhook_delivery" in sql]
    index = "SEARCH webhook_delivery USING (COVERING )?INDEX webhook_delivery_(log|failed) "
    for sql in run:
        plan = [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert [step for step in plan if re.match(index, step)]
        assert not [step for step in plan if "B-TREE" in step]
