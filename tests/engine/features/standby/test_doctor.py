"""What `risala doctor` says of a standby's copy."""

import pytest

from risala.engine.features.standby.doctor import AGE_WARN_S, finding
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.model.findings import Grade

NOW_MS = 1_800_000_000_000


def test_nothing_is_said_where_nothing_is_shipped(tmp_path):
    assert finding(None, NOW_MS, running=True) == []
    assert finding(PieceDirectory(tmp_path), NOW_MS, running=False) == []


@pytest.mark.parametrize(
    ("age_s", "grade"), [(0, Grade.OK), (AGE_WARN_S, Grade.OK), (AGE_WARN_S + 1, Grade.WARN)]
)
def test_a_copy_that_stays_behind_is_warned_of(tmp_path, age_s, grade):
    note = pieces.Shipped("g", 3, NOW_MS - age_s * 1000)
    pieces.put_note(tmp_path / pieces.SHIPPED, note)
    (told,) = finding(PieceDirectory(tmp_path), NOW_MS, running=True)
    assert told.state is grade
    assert f"{age_s} s behind" in told.text


def test_what_the_service_could_not_ship_is_a_failure_however_young_the_copy_is(tmp_path):
    pieces.put_note(tmp_path / pieces.SHIPPED, pieces.Shipped("g", 3, NOW_MS))
    (told,) = finding(
        PieceDirectory(tmp_path), NOW_MS, running=True, failing="No space left on device."
    )
    assert told.state is Grade.FAIL
    assert "cannot ship to" in told.text
    assert "No space left on device. It keeps trying" in told.text


def test_a_directory_without_a_copy_or_with_rubbish_is_warned_of(tmp_path):
    (told,) = finding(PieceDirectory(tmp_path), NOW_MS, running=True)
    assert (told.state, "no complete copy" in told.text) == (Grade.WARN, True)
    (tmp_path / pieces.SHIPPED).write_text("{")
    (told,) = finding(PieceDirectory(tmp_path), NOW_MS, running=True)
    assert told.state is Grade.WARN
