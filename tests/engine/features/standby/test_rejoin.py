"""The old primary comes back: what it refuses, and what it never calls its own by mistake."""

from __future__ import annotations

import pytest
from tests.engine.features.standby.test_stores import TERM_S, ship, unheard

from risala.engine.features.standby.lease import LeaseMemory, held, remember
from risala.engine.features.standby.rejoin import Rejoin, RejoinRefused
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.successor import MustRejoin, Successor
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable


@pytest.fixture
def machine(tmp_path):
    """An old primary's directory, with a database of its own."""
    data = tmp_path / "old"
    data.mkdir()
    open_writer(data / "risala.db", migrate).close()
    remember(data, LeaseMemory("a", 1, serves=True))
    return data


def rejoin(places, data) -> Rejoin:
    copy = StandbyCopy(data, places.pieces)
    return Rejoin(copy, data, data / "risala.db", places.lease, SystemClock(), unheard)


def successor(places, data) -> Successor:
    return Successor(data, data / "risala.db", places.lease, TERM_S, SystemClock())


def test_it_refuses_while_it_is_the_primary(places, machine):
    with pytest.raises(RejoinRefused, match="Nobody holds the lease"):
        rejoin(places, machine).run()
    first = places.lease.take("a", TERM_S, 0, 0, 1)
    with pytest.raises(RejoinRefused, match="it holds it"):
        rejoin(places, machine).run()
    places.lease.renew(first, 0, 0, released=True)
    with pytest.raises(RejoinRefused, match="nobody has taken it"):
        rejoin(places, machine).run()
    assert successor(places, machine).is_primary
    assert (machine / "risala.db").exists()


def test_it_waits_for_a_copy_and_then_follows(places, machine):
    places.lease.take("b", TERM_S, 0, 0, 1)
    places.lease.take("b", TERM_S, 0, 0, 2)
    with pytest.raises(MustRejoin, match="risala standby rejoin"):
        successor(places, machine).is_primary  # noqa: B018 -- it refuses
    with pytest.raises(StorageUnusable, match="no copy"):
        rejoin(places, machine).run()
    ship(places.another("b", 2).pieces, machine / "risala.db")
    report = rejoin(places, machine).run()
    assert (report.lease.epoch, report.listed, report.unreadable) == (2, None, None)
    assert not any((report.rest or {"?": 1}).values())
    assert report.set_aside is not None
    assert report.set_aside.exists()
    assert (held(machine).holder, held(machine).serves) == ("a", False)
    assert not successor(places, machine).is_primary
    assert rejoin(places, machine).run().set_aside is None, "there is nothing to do any more"


def test_a_copy_that_ends_while_it_is_read_is_read_again(places, machine, monkeypatch):
    """Otherwise all that its successor has would be called the old primary's own."""
    places.lease.take("b", TERM_S, 0, 0, 1)
    store, old = places.another("b", 1).pieces, rejoin(places, machine)
    ship(store, machine / "risala.db")
    follow, times = old.copy.follow, []

    def ended(progress):
        found = follow(progress)
        times.append(found)
        if len(times) == 1:
            return type(found)(found.generation, found.number - 1, found.sha256, found.at)
        return found

    monkeypatch.setattr(old.copy, "follow", ended)
    old.run()
    assert len(times) == 2


def test_without_a_lease_nobody_knows(places, machine):
    alone = rejoin(places, machine)
    with pytest.raises(RejoinRefused, match="Without a lease"):
        Rejoin(alone.copy, machine, alone.database, None, alone.clock, unheard).run()


def test_the_first_of_a_pair_is_the_one_with_a_database(places, machine, tmp_path):
    (tmp_path / "fresh").mkdir()
    remember(machine, LeaseMemory("a", 0))
    assert successor(places, machine).is_primary
    assert not successor(places, tmp_path / "fresh").is_primary
    places.lease.take("b", TERM_S, 0, 0, 1)
    assert not successor(places, machine).is_primary
