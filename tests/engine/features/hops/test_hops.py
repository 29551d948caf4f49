"""Messages that another Risala passes on: what they came through, what is refused, what stays."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import count

import pytest
from sqlite_utils import Database

from risala.config.model import RetentionSection
from risala.engine.features.hops import stored
from risala.engine.features.hops.accepting import HOPS_MAX, HopAccess, hops_in
from risala.engine.features.hops.stored import HopRepository
from risala.engine.features.own_data import retention
from risala.engine.features.own_data.stored.retention import RetentionRepository
from risala.engine.journal.messages import endings
from risala.engine.journal.messages.messages import empty
from risala.engine.journal.state import find_key, load
from risala.engine.journal.store.schema.migrations import CHAIN, migrate
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import InsufficientBalance, MessageLoop, Refusal
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.engine.model.features import features
from risala.plugins.testing.fake_driver import FakeDriver

FIRST, SECOND = "0" * 16, "9abcdef0" * 2
TO = "+22236123456"
_texts = count()


def others(length: int) -> list[str]:
    return [f"{n:016x}" for n in range(length)]


@pytest.mark.parametrize(
    ("values", "hops"),
    [
        ([FIRST.encode()], (FIRST,)),
        ([f"{FIRST}, {SECOND}".encode()], (FIRST, SECOND)),
        ([f"{FIRST},{SECOND}".encode()], (FIRST, SECOND)),
        ([FIRST.encode(), SECOND.encode()], (FIRST, SECOND)),
        ([", ".join(others(HOPS_MAX)).encode()], tuple(others(HOPS_MAX))),
    ],
)
def test_ids_are_read(values, hops):
    assert hops_in(values) == hops


@pytest.mark.parametrize(
    "values",
    [
        [],
        [b""],
        [b"self"],
        [FIRST[1:].encode()],
        [f"{FIRST}0".encode()],
        [f"{SECOND.upper()}".encode()],
        [f"{FIRST},".encode()],
        [f"{FIRST};{SECOND}".encode()],
        [f"{FIRST}\n".encode()],
        [f"{FIRST},   {SECOND}".encode()],
        [b"\xd9\xa0" * 16],
        [FIRST.encode(), b""],
        [", ".join(others(HOPS_MAX + 1)).encode()],
        [b"0" * 16_000],
    ],
)
def test_anything_else_is_refused(values):
    with pytest.raises(Refusal, match="leave it out"):
        hops_in(values)


def access(house) -> HopAccess:
    return house.gateway.services.part(HopAccess)


def known(house) -> HopRepository:
    return house.gateway.services.repositories.part(HopRepository)


async def passed_on(house, *hops: str, **fields) -> str:
    command = SendMessage(to=TO, body=f"text {next(_texts)}", **fields)
    answer = await access(house).send(house.principal, command, [", ".join(hops).encode()])
    return json.loads(answer)["messageId"]


def rows(house) -> int:
    reader = house.gateway.services.repositories._store.reader
    return table(reader, "message_hops").count


async def test_a_driver_gets_what_a_message_came_through_after_a_restart(open_house, quick):
    async with open_house(drivers={"fake": FakeDriver()}) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        message_id = await passed_on(house, FIRST, SECOND)
        own = known(house).own()
        assert house.driver.submitted == []
    async with open_house(drivers={"fake": FakeDriver()}) as house:
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        await house.wait_status(message_id, "sent")
        (segment,) = house.driver.submitted
        assert segment.message_id == message_id
        assert house.driver.context.hops(message_id) == (FIRST, SECOND, own)
        assert known(house).own() == own, "the restart changed the id"


async def test_of_a_customer_s_message_a_driver_gets_this_service_alone(open_house, quick):
    async with open_house() as house:
        message_id = await house.send()
        own = known(house).own()
        assert house.driver.context.hops(message_id) == (own,)
        assert house.driver.context.hops("own_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT") == (own,)
        assert hops_in([own.encode()]) == (own,)
        assert rows(house) == 0


async def test_what_returns_or_goes_too_far_is_refused_and_leaves_nothing(open_house, quick):
    async with open_house() as house:
        own, before = known(house).own(), await house.balance()
        for hops in ([own], [FIRST, own], [own, FIRST], others(HOPS_MAX)):
            with pytest.raises(MessageLoop):
                await passed_on(house, *hops, idempotency_key="order-7-paid")
        assert (rows(house), await house.balance()) == (0, before)
        assert await passed_on(house, *others(HOPS_MAX - 1), idempotency_key="order-7-paid")
        assert rows(house) == 1


async def test_a_repeat_has_the_first_answer_and_no_second_row(open_house, quick):
    async with open_house() as house:
        first = await passed_on(house, FIRST, idempotency_key="order-7-paid")
        again = await passed_on(house, FIRST, SECOND, idempotency_key="order-7-paid")
        assert (again, rows(house)) == (first, 1)
        assert known(house).came_through(first) == (FIRST,)


async def test_what_cannot_be_paid_stores_nothing(open_house, quick):
    async with open_house(balance="0") as house:
        with pytest.raises(InsufficientBalance):
            await passed_on(house, FIRST)
        assert rows(house) == 0


def came(book, message_id: str) -> None:
    def add(conn):
        values = {"message": find_key(conn, message_id), "hops": FIRST}
        writable(conn, "message_hops").insert(values)

    book.unit(add)


def test_rows_go_once_their_messages_are_over(book):
    organization_id = book.organization()
    waiting, *over = (book.accept(organization_id) for _ in range(4))
    for each in (waiting, *over):
        came(book, each)
    stamp = book.stamp()
    for each in over:
        book.unit(lambda conn, each=each: endings.cancel(conn, each, stamp))
    walk = RetentionWalk(WalkKind.HOPS, 0)
    assert not book.unit(lambda conn: stored.walk_over(conn, walk, 0, 2)).done
    left = book.unit(lambda conn: stored.walk_over(conn, walk, 0, 2))
    assert (left.rows, left.done) == (1, True)
    assert stored.came_through(book.conn, waiting) == (FIRST,)
    assert table(book.conn, "message_hops").count == 1


async def test_retention_takes_them_without_mailings_and_where_all_else_is_kept(
    open_house, quick, monkeypatch
):
    others = [each for each in features() if each.name != "mailings"]
    monkeypatch.setattr(retention, "features", lambda: others)
    section = RetentionSection(
        texts_days=0, timelines_days=0, events_days=0, inbound_days=0, mailings_days=0
    )
    async with open_house() as house:
        message_id = await passed_on(house, FIRST)
        await house.wait_status(message_id, "sent")
        assert rows(house) == 1
        kept = house.gateway.services.repositories.part(RetentionRepository)
        for rule in retention.rules(section):
            for walk in range(len(rule.walks)):
                await retention.step(kept, rule, walk, "", house.clock.now_ms())
        assert rows(house) == 0


def test_rows_go_with_a_message_that_is_erased(book):
    organization_id = book.organization()
    gone, stays = (book.accept(organization_id) for _ in range(2))
    for each in (gone, stays):
        came(book, each)
    book.unit(lambda conn: empty(conn, [load(conn, gone).key]))
    assert stored.came_through(book.conn, gone) == ()
    assert stored.came_through(book.conn, stays) == (FIRST,)


def test_each_database_has_an_id_of_its_own():
    ids = set()
    for _ in range(2):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
            migrate(Database(conn, execute_plugins=False), before=CHAIN)
            migrate(Database(conn, execute_plugins=False))
            ids.add(stored.own(conn))
    assert len(ids) == 2
    assert all(hops_in([each.encode()]) for each in ids)
