"""A message of one's own is found; what is another's takes as much looking as what is not there."""

from __future__ import annotations

from risala.engine.journal.messages import reads
from risala.engine.model.states import Mode


def test_only_ones_own_is_found(book):
    own, other = book.organization(), book.organization()
    mine, theirs = book.accept(own), book.accept(other)
    found = reads.own_view(book.conn, mine, own, Mode.LIVE)
    assert found is not None
    assert (found.id, found.organization_id) == (mine, own)
    assert reads.own_view(book.conn, theirs, own, Mode.LIVE) is None
    assert reads.own_view(book.conn, mine, own, Mode.TEST) is None
    assert reads.own_view(book.conn, "nonsense", own, Mode.LIVE) is None


def test_anothers_takes_as_much_looking_as_what_is_not_there(book):
    own, theirs = book.organization(), book.accept(book.organization())
    absent = theirs[:-8] + "0" * 8
    looks = []
    for message_id in (theirs, absent):
        run: list[str] = []
        book.conn.set_trace_callback(run.append)
        reads.own_view(book.conn, message_id, own, Mode.LIVE)
        book.conn.set_trace_callback(None)
        looks.append([each.partition("WHERE")[0] for each in run])
    assert looks[0] == looks[1]
