"""Events in their order, and the progress of their consumers."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.messages import live
from risala.engine.journal.pages import about
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.webhooks import event_cursors, outbox


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
