"""The server key's file: made once, rotated whole or not at all, whatever is cut short."""

import os
from pathlib import Path

import pytest

from risala.engine.journal.store import server_key
from risala.engine.journal.store.server_key import AHEAD_MS, OLD_MS, ServerKeys
from risala.engine.model.errors import Conflict, StorageUnusable
from risala.engine.model.ids import first_id

NOW = 1_800_000_000_000


class HandClock:
    def __init__(self, *times):
        self.times = list(times) or [NOW]

    def now_ms(self):
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_a_key_is_made_once_for_its_owner_alone(tmp_path):
    ring = ServerKeys(tmp_path, {}).ring()
    path = tmp_path / "server.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert ServerKeys(tmp_path, {}).ring() == ring
    assert ring.newest.hex() not in repr(ServerKeys(tmp_path, {}))
    assert path.read_text() == ring.newest.hex() + "\n"


def test_a_rotation_is_the_same_for_this_process_and_the_next(tmp_path):
    keys = ServerKeys(tmp_path, {})
    before = keys.ring().newest
    ring = keys.rotate(HandClock(), at_once=False)
    assert ring == keys.ring() == ServerKeys(tmp_path, {}).ring()
    assert ring.newest != before
    assert ring.for_id(first_id("ver", NOW + AHEAD_MS - 1)) == before
    assert ring.for_id(first_id("ver", NOW + AHEAD_MS)) == ring.newest
    assert before in ring.holding(NOW + AHEAD_MS + OLD_MS - 1)
    assert before not in ring.holding(NOW + AHEAD_MS + OLD_MS)
    assert (tmp_path / "server.key").stat().st_mode & 0o777 == 0o600


def test_at_once_the_old_key_is_nowhere(tmp_path):
    keys = ServerKeys(tmp_path, {})
    before = keys.ring().newest
    ring = keys.rotate(HandClock(), at_once=True)
    assert [key.secret for key in ring.keys] == [ring.newest]
    assert before.hex() not in (tmp_path / "server.key").read_text()


def test_old_keys_leave_the_file_by_themselves(tmp_path):
    keys = ServerKeys(tmp_path, {})
    before = keys.ring().newest
    keys.rotate(HandClock(), at_once=False)
    keys.forget_old(NOW + AHEAD_MS + OLD_MS - 1)
    assert before.hex() in (tmp_path / "server.key").read_text()
    keys.forget_old(NOW + AHEAD_MS + OLD_MS)
    assert before.hex() not in (tmp_path / "server.key").read_text()
    assert ServerKeys(tmp_path, {}).ring() == keys.ring()


def test_a_disk_that_stood_still_past_the_moment_makes_another(tmp_path):
    keys = ServerKeys(tmp_path, {})
    late = NOW + AHEAD_MS
    ring = keys.rotate(HandClock(NOW, late, late, late + 1), at_once=False)
    assert ring.keys[0].since == late + AHEAD_MS
    assert ServerKeys(tmp_path, {}).ring() == ring


@pytest.mark.parametrize("name", ["open", "fsync", "replace", "close"])
def test_what_is_cut_short_leaves_the_keys_as_they_were_or_whole(tmp_path, monkeypatch, name):
    """Killed, or refused, at each call of the system."""
    for place in range(4):
        keys = ServerKeys(tmp_path, {})
        before, calls = keys.ring(), iter(range(99))

        class Cut(OSError):
            pass

        def cut(stock, *given, place=place, calls=calls, **more):
            if next(calls) == place:
                raise Cut(5, "cut short")
            return stock(*given, **more)

        with monkeypatch.context() as patch:
            owner = Path if name == "replace" else os
            stock = getattr(owner, name)
            patch.setattr(owner, name, lambda *a, stock=stock, **k: cut(stock, *a, **k))
            try:
                made = keys.rotate(HandClock(), at_once=False)
            except (StorageUnusable, Cut):
                made = None
        after = ServerKeys(tmp_path, {}).ring()
        assert keys.ring() == (before if made is None else made)
        assert after.keys[-1].secret in {key.secret for key in before.keys}
        first = first_id("ver", NOW)
        assert after.for_id(first) == before.for_id(first), "what is under way holds"


def test_a_key_of_the_environment_is_not_ours_to_rotate(tmp_path):
    keys = ServerKeys(tmp_path, {server_key.KEY_VARIABLE: "ab" * 32})
    assert keys.ring().newest == bytes.fromhex("ab" * 32)
    with pytest.raises(Conflict, match=server_key.KEY_VARIABLE):
        keys.rotate(HandClock(), at_once=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "ab", "zz" * 32])
def test_a_file_that_is_no_key_stops_the_start(tmp_path, text):
    (tmp_path / "server.key").write_text(text)
    with pytest.raises(StorageUnusable, match="is not a server key"):
        ServerKeys(tmp_path, {})
