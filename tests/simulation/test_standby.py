"""A history with a standby tells of a copy that is not what it says: a look that is blind finds
nothing."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from tests.simulation import takeover
from tests.simulation.checks import standby
from tests.simulation.history import play
from tests.simulation.plan import Plan

from risala.engine.features.standby.stored import pieces, wal
from risala.engine.features.standby.stored.shipper import Shipper
from risala.engine.wiring.foundation import DATABASE

PLAN = Plan(110, lives=1, customers=2, errands=8)
assert PLAN.seed % standby.HISTORIES == 2, "there is a standby in it"


def drops_pages(monkeypatch):
    really = wal.turn

    def turn(database, since):
        part = really(database, since)
        # Half of them: a single one may hold what nothing refers to.
        return replace(part, pages={n: data for n, data in part.pages.items() if n % 2})

    monkeypatch.setattr(wal, "turn", turn)


def ships_another_word(monkeypatch):
    really = wal.turn

    def turn(database, since):
        part = really(database, since)
        pages = {n: data.replace(b"hello", b"jello") for n, data in part.pages.items()}
        return replace(part, pages=pages)

    monkeypatch.setattr(wal, "turn", turn)


def says_more_than_it_has(monkeypatch):
    really = pieces.put_note

    def put_note(path, note):
        later = replace(note, at=note.at + 3_600_000) if isinstance(note, pieces.Shipped) else note
        really(path, later)

    monkeypatch.setattr(pieces, "put_note", put_note)


def stands_still(monkeypatch):
    async def ship(self, sent, tail):
        return sent

    monkeypatch.setattr(Shipper, "_ship", ship)


def damages_pieces(monkeypatch):
    really = pieces.put

    def put(path, data):
        really(path, data[:-1] if path.suffix == ".piece" else data)

    monkeypatch.setattr(pieces, "put", put)


def begins_again_with_the_copy(monkeypatch):
    """The second machine, at its restart."""
    really = takeover.live

    async def live(world, house):
        path = world.folder / DATABASE
        kept = world.folder / "kept-by-the-test.db"
        if world.folder.name == "taken":
            shutil.copyfile(path, kept)
        await really(world, house)
        if kept.exists():
            for each in world.folder.glob(f"{DATABASE}*"):
                each.unlink()
            kept.rename(path)

    monkeypatch.setattr(takeover, "live", live)


def resends_what_was_open(monkeypatch):
    really = takeover.restore

    def restore(*given, **how):
        return really(*given, **{**how, "resend_pending": True})

    monkeypatch.setattr(takeover, "restore", restore)


WRONG = {
    ("the standby's copy is broken",): drops_pages,
    ("the standby has what never was",): ships_another_word,
    ("ms less than it says",): says_more_than_it_has,
    ("the standby's copy is",): stands_still,
    ("the standby cannot follow",): damages_pieces,
    ("a takeover ended 0 of", "was sent by the standby"): resends_what_was_open,
    ("after a takeover: LOST",): begins_again_with_the_copy,
}
FEW = (drops_pages,)
"""What `make test` does wrong too."""


def test_one_where_nothing_is_wrong_has_looked(tmp_path):
    played = play(PLAN, tmp_path / "world")
    assert played.faults == []
    assert played.tally["looks at a standby"] > 1
    assert played.tally["takeovers"] == 1
    assert played.tally["ended by a takeover"] > 0
    assert played.tally["accepted after a takeover"] > 0


@pytest.mark.parametrize(
    ("told", "spoil"),
    [
        pytest.param(told, spoil, id=told[0], marks=() if spoil in FEW else pytest.mark.long)
        for told, spoil in WRONG.items()
    ],
)
def test_each_wrong_copy_is_told(tmp_path, monkeypatch, told, spoil):
    spoil(monkeypatch)
    played = play(PLAN, tmp_path / "world")
    for part in told:
        assert any(part in fault for fault in played.faults), played.faults
