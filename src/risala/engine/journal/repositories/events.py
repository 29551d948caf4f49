"""Events in their order, the progress of their consumers, and the calls that faces owe."""

from __future__ import annotations

from functools import partial

from risala.dataclass import dataclass
from risala.engine.journal.messages import live
from risala.engine.journal.pages import about
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.journal.webhooks import compat_calls, event_cursors, outbox


@dataclass(frozen=True, slots=True)
class EventRepository:
    """Events, consumers' places among them, and the states of their messages. All reads are on the
    loop's thread: by an index, and of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    last_seq = read(outbox.last_seq)
    after = read(outbox.after)
    is_far = read(outbox.is_far)

    def seq_before(self, at_ms: int) -> int:
        """A place before all events since a time."""
        return outbox.seq_before(at_ms)

    position = read(outbox.position)
    about = read(about.events_about)
    changed_since = read(live.changed_since)
    standings = read(live.standings)
    cursor = read(event_cursors.one)
    next_events = read(event_cursors.next_events)
    next_own = read(event_cursors.next_own)
    behind = read(event_cursors.behind)

    # -- commands

    open_cursor = command(event_cursors.opened)
    move_cursor = command(event_cursors.moved)
    drop_cursor = command(event_cursors.dropped)


@dataclass(frozen=True, slots=True)
class CallbackRepository:
    """Calls that faces owe. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    candidate = read(compat_calls.candidate)
    waiting = read(compat_calls.waiting)
    first_due = read(compat_calls.first_due)

    # -- commands

    owe = command(compat_calls.owe)
    begin = command(compat_calls.begin)
    finish = command(compat_calls.finish)
    drop = command(compat_calls.drop)

    async def tidy(self, before_ms: int) -> None:
        """Delete rows about messages and events before a time, a part at a time."""
        while await self._store.commit(partial(compat_calls.tidy, before_ms=before_ms)):
            pass
