"""Codes are counted once, whatever is killed and whenever it is asked, and by each thing alike."""

from __future__ import annotations

from random import Random

import pytest
from tests.engine.features.code_figures.conftest import (
    DAY_MS,
    EXPIRY_MS,
    CodeBook,
    country_of,
    shown,
    whole_of,
)

from risala.engine.features.code_figures.rules import AT_ONCE
from risala.engine.features.code_figures.stored import counts, sessions
from risala.engine.features.code_figures.stored.counts import PLACE, CodeQuery
from risala.engine.journal.store import meta
from risala.engine.model.records.verify.figures import DAILY, KEPT_DAYS, OTHER, FiguresBy

DAY = 1_767_225_600_000 // DAY_MS
"""The day on which a book begins."""


def rows(book, table="code_counts") -> int:
    return book.one(f"SELECT count(*) FROM {table}")


def test_a_code_counts_by_what_became_of_it(codes):
    codes.live(8)
    codes.live(61, "mauritel")
    taken = codes.ask()
    codes.take(taken)
    refused = codes.ask()
    codes.take(refused)
    codes.deliver(refused, arrives=False)
    codes.fail(codes.ask())
    codes.ask()
    six = (6, 4, 2, 2, 1, 250, {8: 1, 60: 1})
    assert codes.sums() == {DAY: six}, "from the sessions"
    codes.book.now_ms += EXPIRY_MS
    for session in codes._messages:
        codes.expire(session)
    # What waited is withdrawn, and refunded; what a carrier took may get its receipt yet.
    six = (6, 4, 2, 2, 1, 200, {8: 1, 60: 1})
    assert (codes.count_all(), codes.sums()) == (2, {DAY: six})
    codes.book.now_ms += sessions.LATE_MS
    assert (codes.count_all(), codes.sums()) == (4, {DAY: six})
    assert codes.sums("carrier") == {
        "": (2, 0, 0, 0, 0, 0, {}),
        "mattel": (3, 3, 1, 1, 1, 150, {8: 1}),
        "mauritel": (1, 1, 1, 1, 0, 50, {60: 1}),
    }


def test_what_is_counted_by(codes):
    codes.live(api_key="key_1", language="ar")
    codes.live(to="+22246000002", api_key=None)
    assert set(codes.sums("network")) == {"mattel", "mauritel"}
    assert set(codes.sums("country")) == {"MR"}
    assert set(codes.sums("channel")) == {"sms"}
    assert set(codes.sums("key")) == {"key_1", ""}
    assert set(codes.sums("language")) == {"ar", ""}
    before = {by: codes.sums(by) for by in FiguresBy}
    assert codes.count_all() == 2
    assert {by: codes.sums(by) for by in FiguresBy} == before


def test_codes_are_told_day_by_day_whether_they_are_counted_or_not(codes):
    codes.live(language="ar")
    codes.expire(codes.ask(language="ar"))
    codes.book.now_ms += DAY_MS
    codes.live(language="fr")
    query = CodeQuery(codes.organization, "live", FiguresBy.DAY, DAY, DAY + 1, DAILY)
    days = {
        (FiguresBy.LANGUAGE, "ar", DAY): (2, 1),
        (FiguresBy.LANGUAGE, "fr", DAY + 1): (1, 1),
        (FiguresBy.NETWORK, "mattel", DAY): (2, 1),
        (FiguresBy.NETWORK, "mattel", DAY + 1): (1, 1),
    }
    assert counts.sums(codes.book.conn, query, country_of).days == days
    codes.book.now_ms += EXPIRY_MS + sessions.LATE_MS
    assert codes.count_all() == 3
    assert counts.sums(codes.book.conn, query, country_of).days == days


def test_tests_and_other_organizations_are_apart(codes):
    other = codes.book.organization()
    codes.live()
    codes.live(organization=other)
    codes.live(mode="test")
    for _ in range(2):
        assert whole_of(codes.sums())[0] == 1
        assert whole_of(codes.sums(of=other))[0] == 1
        assert whole_of(codes.sums(mode="test"))[:6] == (1, 1, 1, 1, 1, 0)
        codes.count_all()
    (total,) = counts.totals(codes.book.conn)
    assert (total.carrier, total.channel, total.asked, total.entered) == ("mattel", "sms", 2, 2)


def test_a_code_counts_on_the_day_on_which_it_was_asked_for_where_its_organization_is(codes):
    codes.book.now_ms += DAY_MS - 1000
    night = codes.book.organization(time_zone="Asia/Tokyo")
    codes.live(8)
    codes.live(8, organization=night)
    for _ in range(2):
        assert set(codes.sums()) == {DAY}
        assert set(codes.sums(of=night)) == {DAY + 1}
        codes.count_all()


def test_a_session_that_may_change_is_waited_for_and_those_after_it(codes):
    first = codes.ask()
    codes.take(first)
    codes.live()
    assert codes.count_all() == 0
    codes.enter(first)
    assert codes.count_all() == 2


def test_a_receipt_is_waited_for_no_longer_than_two_hours(codes):
    late = codes.ask()
    codes.take(late)
    codes.book.now_ms += EXPIRY_MS
    codes.expire(late)
    assert codes.count_all() == 0
    codes.book.now_ms += sessions.LATE_MS - EXPIRY_MS - 1
    assert codes.count_all() == 0
    codes.book.now_ms += 1
    assert codes.count_all() == 1
    codes.deliver(late)
    assert whole_of(codes.sums())[:3] == (1, 1, 0)


def test_a_session_that_nobody_expires_holds_up_no_other(codes):
    codes.take(codes.ask())
    codes.live()
    codes.book.now_ms += EXPIRY_MS + sessions.LATE_MS
    assert codes.count_all() == 2


def test_a_clock_that_is_set_back_leaves_out_none_and_holds_up_none(codes):
    codes.live()
    assert codes.count_all() == 1
    codes.take(codes.ask())
    codes.book.now_ms -= 3 * sessions.LATE_MS
    codes.live(4)
    assert whole_of(codes.sums())[0] == 3
    pending = [*codes._messages][1]
    codes.expire(pending)
    assert codes.count_all() == 2
    assert whole_of(codes.sums())[0] == 3


def test_what_is_too_old_is_not_counted_and_what_becomes_so_is_forgotten(codes):
    codes.live()
    codes.book.now_ms += (KEPT_DAYS + 1) * DAY_MS
    codes.live()
    assert (codes.count_all(), rows(codes.book)) == (2, 1)
    assert not counts.has_old(codes.book.conn, codes.book.now_ms)
    codes.book.now_ms += (KEPT_DAYS + 1) * DAY_MS
    assert counts.has_old(codes.book.conn, codes.book.now_ms)
    assert codes.book.unit(lambda conn: counts.forget_old(conn, codes.book.now_ms)) == 1
    assert (rows(codes.book), rows(codes.book, "code_times")) == (0, 0)


def test_counts_go_with_their_organization(codes):
    other = codes.book.organization()
    codes.live()
    codes.live(organization=other)
    codes.count_all()
    codes.live(organization=other)
    gone = codes.book.unit(lambda conn: counts.clear(conn, 100, other))
    codes.book.conn.execute("UPDATE organizations SET deleted_at = 1 WHERE id = ?", (other,))
    assert (gone.rows, gone.done) == (1, True)
    assert (codes.count_all(), rows(codes.book)) == (1, 1), "and none comes after"
    assert rows(codes.book, "code_times") == 1
    assert codes.book.unit(lambda conn: counts.clear(conn, 100, None)).done


def test_a_day_has_a_bounded_number_of_counts(codes, monkeypatch):
    monkeypatch.setattr(counts, "CELLS_MAX", 4)
    for number in range(6):
        codes.live(api_key=f"key_{number}")
        codes.count_all()
    codes.live(api_key="key_0")
    codes.count_all()
    assert rows(codes.book) == 4
    by_key = {key: each[0] for key, each in codes.sums("key").items()}
    assert by_key == {"key_0": 2, "key_1": 1, "key_2": 1, OTHER: 3}


def test_of_very_many_new_sessions_the_first_ones_are_told(codes, monkeypatch):
    monkeypatch.setattr(counts, "NEW_MAX", 2)
    asked = []
    for _ in range(3):
        asked.append(codes.book.now_ms)
        codes.live()
    query = CodeQuery(codes.organization, "live", FiguresBy.DAY, DAY, DAY)
    sums = counts.sums(codes.book.conn, query, country_of)
    assert (sums.by[DAY].asked, sums.counted_until) == (2, asked[-1])
    codes.count_all()
    sums = counts.sums(codes.book.conn, query, country_of)
    assert (sums.by[DAY].asked, sums.counted_until) == (3, None)


def test_what_cannot_be_settled_is_not_taken_for_settled(codes):
    assert not counts.has_settled(codes.book.conn, codes.book.now_ms)
    session = codes.ask()
    codes.take(session)
    assert not counts.has_settled(codes.book.conn, codes.book.now_ms)
    codes.enter(session)
    assert counts.has_settled(codes.book.conn, codes.book.now_ms)
    codes.count_all()
    assert not counts.has_settled(codes.book.conn, codes.book.now_ms)


def test_a_code_without_a_message_is_none(codes):
    """Nobody sends it, so that nothing can arrive late or never."""
    codes.live()
    codes.book.conn.execute(
        "INSERT INTO verifications (id, organization_id, mode, recipient, status, attempts_max,"
        " code_length, message_id, expires_at, created_at, updated_at)"
        " VALUES ('ver_fixed', ?, 'live', '+22236123456', 'approved', 5, 6, '', 9, 9, 9)",
        (codes.organization,),
    )
    assert codes.count_all() == 2
    assert whole_of(codes.sums())[0] == 1


def test_counts_hold_no_number(codes):
    codes.live()
    codes.count_all()
    kept = [
        *codes.book.conn.execute("SELECT * FROM code_counts"),
        *codes.book.conn.execute("SELECT * FROM code_times"),
        *codes.book.conn.execute("SELECT * FROM code_totals"),
    ]
    assert "36123456" not in repr(kept)


@pytest.mark.slow
def test_a_history_is_counted_in_pieces(codes):
    for _ in range(AT_ONCE + 1):
        codes.live(1)
    assert (codes.count(), codes.count(), codes.count()) == (AT_ONCE, 1, 0)
    assert whole_of(codes.sums())[0] == AT_ONCE + 1


def some_life(codes: CodeBook, random: Random) -> None:
    """Something that happens to a code, if it can happen to it."""
    known = [*codes._messages]
    session = random.choice(known) if known else ""
    carrier = random.choice(("mattel", "mauritel"))
    match random.randrange(9):
        case 0 | 1 | 2:
            to = random.choice(("+22236123456", "+22246000002", "+22226000003"))
            mode = random.choice(("live", "live", "live", "test"))
            key, language = random.choice((None, "key_1", "key_2")), random.choice((None, "ar"))
            codes.ask(to, mode=mode, api_key=key, language=language)
        case 3 | 4 if session:
            codes.take(session, carrier)
        case 5 if session and is_fresh(codes, session):
            codes.deliver(session, carrier, arrives=random.random() < 0.8)
        case 6 if session:
            codes.enter(session)
        case 7 if session:
            codes.fail(session)
        case _:
            codes.book.now_ms += random.choice((1000, 40_000, 300_000, 3_600_000))
            for each in known:
                if opened_at(codes, each) + EXPIRY_MS <= codes.book.now_ms:
                    codes.expire(each)


def opened_at(codes: CodeBook, session: str) -> int:
    return codes.book.one("SELECT created_at FROM verifications WHERE id = ?", session)


def is_fresh(codes: CodeBook, session: str) -> bool:
    """Whether a receipt is waited for."""
    return codes.book.now_ms - opened_at(codes, session) < sessions.LATE_MS


def killed_count(codes: CodeBook) -> None:
    """Counting that is killed before its commit."""
    conn = codes.book.conn
    conn.execute("BEGIN IMMEDIATE")
    counts.count_next(conn, codes.book.now_ms, country_of)
    conn.execute("ROLLBACK")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_each_is_counted_once_by_each_thing_at_any_kill(open_codes, tmp_path, seed):
    """The counts of a service that counts at odd moments, and is killed, restarted and brought back
    from a copy, are those of one that never counted."""
    random = Random(seed)
    codes = open_codes(tmp_path / "risala.db")
    for _ in range(80):
        some_life(codes, random)
        if random.random() < 0.3:
            killed_count(codes)
        if random.random() < 0.2:
            codes.count()
        if random.random() < 0.05:
            codes = reopened(codes, open_codes, tmp_path, random)
    compare(codes)
    codes.book.now_ms += EXPIRY_MS + sessions.LATE_MS
    for each in codes._messages:
        codes.expire(each)
    before = {by: codes.sums(by) for by in FiguresBy}
    codes.count_all()
    assert {by: codes.sums(by) for by in FiguresBy} == before
    compare(codes)


def reopened(codes, open_codes, tmp_path, random) -> CodeBook:
    """The same file after a kill, or a copy of it as a restore brings it."""
    place = tmp_path / f"{random.random()}.db"
    codes.book.conn.execute("VACUUM INTO ?", (str(place),))
    again = open_codes(place, codes)
    again.book.now_ms, again.book._numbers = codes.book.now_ms, codes.book._numbers
    return again


def compare(codes: CodeBook) -> None:
    """The counts are those of the sessions alone, and the same by each thing."""
    conn = codes.book.conn
    for mode in ("live", "test"):
        wholes = [whole_of(codes.sums(by, mode=mode)) for by in FiguresBy]
        assert wholes == [wholes[0]] * len(FiguresBy)
        counted = {by: codes.sums(by, mode=mode) for by in FiguresBy}
        conn.execute("BEGIN IMMEDIATE")
        conn.execute("DELETE FROM code_times")
        conn.execute("DELETE FROM code_counts")
        meta.remove(conn, PLACE)
        uncounted = {by: sums_within(codes, by, mode) for by in FiguresBy}
        conn.execute("ROLLBACK")
        assert counted == uncounted


def sums_within(codes, by, mode):
    """As :meth:`CodeBook.sums`, in an open transaction."""
    conn, today = codes.book.conn, codes.book.now_ms // DAY_MS
    query = CodeQuery(codes.organization, mode, FiguresBy(by), today - 2, today + 2)
    found = {}
    counts._add_new(conn, query, country_of, found, {})
    return {value: shown(each) for value, each in found.items()}
