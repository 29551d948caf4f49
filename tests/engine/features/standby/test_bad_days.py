"""PostgreSQL's bad days where answers wait for it: each is a sentence, nothing is lost, and all
goes on by itself when it is over."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio
from tests.engine.features.standby.conftest import reached_by
from tests.engine.features.standby.test_before_answer import Primary, copied
from tests.engine.features.standby.test_postgresql import cut

from patience import until_true

tables_module = pytest.importorskip("risala.engine.features.standby.postgresql.tables")

SCHEMA = "risala_standby"
VERSION = tables_module.VERSION
DAYS = {
    "no connection left": (
        "ALTER ROLE {0} CONNECTION LIMIT 0",
        "ALTER ROLE {0} CONNECTION LIMIT -1",
    ),
    "refuses the user or the password": (
        "ALTER ROLE {0} PASSWORD 'another'",
        "ALTER ROLE {0} PASSWORD 'right'",
    ),
    "does not let this user at": (
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {{0}}",
        f"GRANT ALL ON ALL TABLES IN SCHEMA {SCHEMA} TO {{0}}",
    ),
    "takes no writes": (
        "ALTER ROLE {0} SET default_transaction_read_only = on",
        "ALTER ROLE {0} RESET default_transaction_read_only",
    ),
    "of an older Risala": (
        f"UPDATE {SCHEMA}.version SET number = 0",
        f"UPDATE {SCHEMA}.version SET number = {VERSION}",
    ),
    "A newer Risala": (
        f"UPDATE {SCHEMA}.version SET number = 99",
        f"UPDATE {SCHEMA}.version SET number = {VERSION}",
    ),
}
"""By a part of the sentence: what begins the day, and what ends it."""


@pytest.fixture(scope="module")
def role(tables) -> str:
    """A user as installations have one, who needs a password and may be refused."""
    name = f"pair_{secrets.token_hex(4)}"
    tables.sql(f"CREATE ROLE {name} LOGIN PASSWORD 'right'")
    tables.sql(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}")
    tables.sql(f"GRANT ALL ON ALL TABLES IN SCHEMA {SCHEMA} TO {name}")
    tables.let_in_by(f"local all {name} scram-sha-256\nlocal all all trust\n")
    return name


@pytest.fixture
def primary(tmp_path, tables, role, installation) -> Iterator[Primary]:
    ways = reached_by(f"{tables.url(user=role)}&password=right", installation)
    yield Primary(tmp_path, next(ways))
    next(ways, None)


async def lasts(primary: Primary, sentence: str, over) -> None:
    """Nothing is answered while the day lasts; afterwards everything is there."""
    answered = trio.Event()

    async def put() -> None:
        await primary.put("two")
        answered.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(put)
        await until_true(lambda: sentence in (primary.log.status().failing or ""))
        assert not answered.is_set()
        over()
        await answered.wait()
    await primary.put("three")
    assert copied(primary) == {"one", "two", "three"}
    assert primary.log.status().failing is None


@pytest.mark.parametrize("sentence", DAYS)
async def test_a_bad_day_is_a_sentence_and_goes_by(primary, tables, role, sentence):
    begin, end = (each.format(role) for each in DAYS[sentence])
    async with primary.running():
        await primary.put("one")
        try:
            await trio.to_thread.run_sync(tables.sql, begin)
            await trio.to_thread.run_sync(cut, tables)
            await lasts(primary, sentence, lambda: tables.sql(end))
        finally:
            tables.sql(end)


async def test_a_server_before_13_is_a_sentence_and_goes_by(primary, tables, monkeypatch):
    async with primary.running():
        await primary.put("one")
        with monkeypatch.context() as old:
            old.setattr(tables_module, "SERVER_MIN", 990_000)
            await trio.to_thread.run_sync(cut, tables)
            await lasts(primary, "Risala needs 99 or later", old.undo)


@contextmanager
def slow(tables) -> Iterator[None]:
    """A disk that takes its time for each piece."""
    tables.sql(
        f"CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" PERFORM pg_sleep(0.2); RETURN NEW; END $$;"
        f" CREATE TRIGGER dawdles BEFORE INSERT ON {SCHEMA}.piece"
        f" FOR EACH ROW EXECUTE FUNCTION dawdle()"
    )
    try:
        yield
    finally:
        tables.sql("DROP FUNCTION dawdle CASCADE")


async def test_on_a_slow_disk_many_share_a_piece(primary, tables):
    async with primary.running():
        before = primary.log.status().number
        with slow(tables):
            async with trio.open_nursery() as nursery:
                for number in range(50):
                    nursery.start_soon(primary.put, f"{number}")
        assert primary.log.status().number - before < 25
        assert copied(primary) == {f"{number}" for number in range(50)}


async def test_by_a_pooler_that_hands_on_no_notes_answers_wait_all_the_same(tmp_path, in_pool):
    primary = Primary(tmp_path, in_pool)
    async with primary.running():
        for number in range(5):
            await primary.put(f"{number}")
            assert f"{number}" in copied(primary)
