"""Each kind of stores, and a PostgreSQL for one of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from programs.memory_standby import MemoryLease, MemoryPieces, MemoryTables
from programs.postgresql_server import PostgresqlServer, pooler, postgresql
from risala.engine.features.standby.lease import LeaseDirectory, LeaseMemory
from risala.engine.features.standby.stored.piece_store import PieceDirectory

__all__ = ["pooler", "postgresql"]

KINDS = ("directory", "postgresql", "memory")
"""The last is the model with which whole histories are played."""


class Places:
    """A machine's way to the two stores. Another machine has its own, to the same ones."""

    def __init__(self, pieces, lease, another) -> None:
        self.pieces = pieces
        self.lease = lease
        self.another = another
        """``another(holder, epoch)``: another machine's, that thinks it holds this lease."""


@pytest.fixture(scope="session")
def tables(postgresql) -> PostgresqlServer:
    """A server whose database has the tables."""
    from risala.engine.features.standby.postgresql.session import PostgresqlSession
    from risala.engine.features.standby.postgresql.tables import prepare

    session = PostgresqlSession(postgresql.url(), "any", checks=False)
    assert session.run(prepare) == (True, None)
    assert session.run(prepare) == (False, None)
    session.close()
    return postgresql


@pytest.fixture
def installation() -> str:
    return f"test-{secrets.token_hex(8)}"


@pytest.fixture
def in_postgresql(tables, installation) -> Iterator[Places]:
    yield from reached_by(tables.url(), installation)


@pytest.fixture
def in_pool(tables, pooler, installation) -> Iterator[Places]:
    yield from reached_by(pooler.url, installation)


def reached_by(url: str, installation: str) -> Iterator[Places]:
    from risala.engine.features.standby.postgresql.lease import PostgresqlLease
    from risala.engine.features.standby.postgresql.pieces import CHANNEL, PostgresqlPieces
    from risala.engine.features.standby.postgresql.session import PostgresqlSession

    sessions = []

    def session(begin: str | None = None) -> PostgresqlSession:
        sessions.append(PostgresqlSession(url, installation, begin=begin))
        return sessions[-1]

    def another(holder: str = "a", epoch: int = 1) -> Places:
        listening = session(f"LISTEN {CHANNEL}")
        pieces = PostgresqlPieces(session(), listening, lambda: LeaseMemory(holder, epoch))
        return Places(pieces, PostgresqlLease(session()), another)

    yield another()
    for each in sessions:
        each.close()


@pytest.fixture
def in_directories(tmp_path) -> Places:
    def another(holder: str = "a", epoch: int = 1) -> Places:
        pieces = PieceDirectory(tmp_path / "shipped")
        return Places(pieces, LeaseDirectory(tmp_path / "lease"), another)

    (tmp_path / "shipped").mkdir()
    (tmp_path / "lease").mkdir()
    return another()


@pytest.fixture
def new_memory() -> Callable[[], Places]:
    """Another model each time."""
    return places_in_memory


@pytest.fixture
def new_postgresql(tables) -> Iterator[Callable[[], Places]]:
    """Another installation each time; the one before is closed, as connections are few."""
    with ExitStack() as stack:
        made = contextmanager(reached_by)

        def make() -> Places:
            stack.close()
            return stack.enter_context(made(tables.url(), f"test-{secrets.token_hex(8)}"))

        yield make


@pytest.fixture
def in_memory() -> Places:
    return places_in_memory()


def places_in_memory() -> Places:
    tables = MemoryTables()

    def another(holder: str = "a", epoch: int = 1) -> Places:
        pieces = MemoryPieces(tables, lambda: LeaseMemory(holder, epoch))
        return Places(pieces, MemoryLease(tables), another)

    return another()


@pytest.fixture(params=KINDS)
def places(request) -> Places:
    kinds = dict(zip(KINDS, ("in_directories", "in_postgresql", "in_memory"), strict=True))
    return request.getfixturevalue(kinds[request.param])
