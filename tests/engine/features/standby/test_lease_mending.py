"""A lease whose number nobody can follow: a takeover names the command, and that one mends it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from tests.engine.features.standby.test_stores import TERM_S, Boot, ship, unheard

from risala.engine.features.standby.lease import (
    EPOCH_MAX,
    LeaseLost,
    LeaseMemory,
    NoNextLease,
    held,
    margin_s,
    remember,
)
from risala.engine.features.standby.lease_holder import LeaseHolder
from risala.engine.features.standby.lease_watch import (
    ACTION,
    LeaseMending,
    NothingToMend,
    PrimaryAlive,
)
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.notes import INTEGER_MAX
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.clock import SystemClock


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def mending(places, home, boot=None) -> LeaseMending:
    boot = boot or Boot()
    given = places.lease, home, home / "risala.db", SystemClock(), unheard
    return LeaseMending(*given, sleep=boot.sleep, span_s=boot)


def takeover(places, home) -> Takeover:
    boot = Boot()
    return Takeover(
        copy=StandbyCopy(home, places.pieces),
        data_dir=home,
        database=home / "risala.db",
        lease=places.lease,
        term_s=TERM_S,
        clock=SystemClock(),
        progress=unheard,
        sleep=boot.sleep,
        span_s=boot,
    )


@pytest.mark.parametrize("number", [EPOCH_MAX + 1, INTEGER_MAX - 1, INTEGER_MAX])
def test_a_takeover_names_the_command_which_mends_it(places, home, tmp_path, number):
    primary = tmp_path / "primary.db"
    open_writer(primary, migrate).close()
    places.lease.take("a", TERM_S, 0, 0, 1)
    ship(places.pieces, primary)
    planted = places.lease.take("a", TERM_S, 0, 0, number)
    for _ in range(2):
        with pytest.raises(NoNextLease, match=f"{number}.*risala standby mend-lease"):
            takeover(places, home).run(primary_is_dead=False, resend_pending=False)
    assert places.lease.highest() == planted
    boot = Boot()
    found = mending(places, home, boot).run(primary_is_dead=False)
    assert boot.now - 1000 >= TERM_S + margin_s(TERM_S)
    assert (found.former, found.is_ours, found.is_written_down) == (number, False, False)
    assert places.another().lease.highest() == replace(planted, epoch=2) == found.lease
    with pytest.raises(LeaseLost):
        places.lease.renew(planted, 0, 0)
    taken = takeover(places, home).run(primary_is_dead=False, resend_pending=False)
    assert taken.lease.epoch == 3
    with pytest.raises(NothingToMend, match="number 3, which is right"):
        mending(places, home).run(primary_is_dead=True)


async def test_who_held_the_last_right_one_holds_it_again(places, home):
    keeper = LeaseHolder(places.lease, home, TERM_S, SystemClock())
    await keeper.acquire()
    right = places.lease.highest()
    open_writer(home / "risala.db", migrate).close()
    places.lease.take("forger", TERM_S, 0, 0, INTEGER_MAX)
    with pytest.raises(NoNextLease):
        keeper._take()
    assert held(home).epoch == 1
    found = mending(places, home).run(primary_is_dead=False)
    assert (found.is_ours, found.is_written_down, found.lease) == (True, True, right)
    await keeper.acquire()
    with closing(sqlite3.connect(home / "risala.db")) as conn:
        query = "SELECT after FROM audit_log WHERE action = ?"
        ((said,),) = conn.execute(query, (ACTION,)).fetchall()
    assert str(INTEGER_MAX) in said


def test_who_renews_keeps_it(places, home):
    lease = places.lease.take("a", TERM_S, 0, 0, INTEGER_MAX)

    class Renewed(Boot):
        def sleep(self, span_s: float) -> None:
            super().sleep(span_s)
            if self.now > 1010:
                places.lease.renew(lease, 0, 0)

    with pytest.raises(PrimaryAlive, match="renews it"):
        mending(places, home, Renewed()).run(primary_is_dead=False)
    assert places.lease.highest().epoch == INTEGER_MAX


def test_a_right_lease_and_none_are_left_alone(places, home):
    with pytest.raises(NothingToMend, match="Nobody has held a lease"):
        mending(places, home).run(primary_is_dead=True)
    lease = places.lease.take("a", TERM_S, 0, 0, 1)
    with pytest.raises(NothingToMend):
        mending(places, home).run(primary_is_dead=True)
    assert places.lease.highest() == lease


def test_a_number_that_no_store_holds_is_put_aside(in_directories, home, tmp_path):
    """As a version that did not look had made it: the next one after the last."""
    right = in_directories.lease.take("a", TERM_S, 0, 0, 1)
    in_directories.lease.take("b", TERM_S, 0, 0, INTEGER_MAX + 1)
    remember(home, LeaseMemory("b", INTEGER_MAX))
    found = mending(in_directories, home).run(primary_is_dead=True)
    assert (found.former, found.lease) == (None, right)
    assert in_directories.lease.highest() == right
    assert held(home).epoch == 0
    assert [each.name for each in (tmp_path / "lease").glob(".*mended")] != []
