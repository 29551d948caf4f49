"""The nearest deadlines in memory: each comes up in order and in time, however few are held."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from risala.engine.verify.deadlines import Deadline, Deadlines


class Index:
    """The journal's index."""

    def __init__(self) -> None:
        self.pending: set[Deadline] = set()
        self.reads = 0

    def read(self, count_max: int) -> list[Deadline]:
        self.reads += 1
        return sorted(self.pending)[:count_max]


def take_all(deadlines: Deadlines, index: Index, now_ms: int, batch: int) -> list[Deadline]:
    """Settle what is due, as the actor does."""
    taken: list[Deadline] = []
    while due := deadlines.due(now_ms, batch):
        taken += [one for one in due if one in index.pending]
        index.pending.difference_update(due)
        deadlines.remove(list(due))
    return taken


def test_a_hundred_thousand_pending_take_no_more_memory_than_the_nearest():
    index = Index()
    index.pending = {(at, f"ver_{at}") for at in range(100_000)}
    deadlines = Deadlines(index.read, 2000)
    deadlines.load()
    deadlines.add((-1, "ver_first"))
    deadlines.add((100_001, "ver_last"))
    assert len(deadlines) == 2000
    assert deadlines.next_ms() == -1


def test_what_has_no_end_ahead_is_not_waited_for():
    index = Index()
    deadlines = Deadlines(index.read, 3)
    deadlines.load()
    assert deadlines.next_ms() is None
    assert not deadlines.due(10**15, 10)
    assert index.reads == 1


steps = st.lists(
    st.tuples(st.sampled_from(["open", "end", "end unheard", "time", "crash"]), st.integers(0, 12)),
    max_size=120,
)


@given(steps, st.integers(1, 6), st.integers(1, 4))
def test_each_comes_up_in_its_time_and_in_order(
    plan: list[tuple[str, int]], deadlines_max: int, batch: int
) -> None:
    index, now_ms = Index(), 0
    deadlines = Deadlines(index.read, deadlines_max)
    deadlines.load()
    for number, (what, value) in enumerate(plan):
        if what == "open":
            deadline = (now_ms + 1 + value, f"ver_{number:03}")
            index.pending.add(deadline)
            deadlines.add(deadline)
            deadlines.add(deadline)  # told twice
        elif what in ("end", "end unheard") and index.pending:
            ended = sorted(index.pending)[value % len(index.pending)]
            index.pending.remove(ended)
            if what == "end":
                deadlines.remove([ended])
        elif what == "crash":
            deadlines = Deadlines(index.read, deadlines_max)
            deadlines.load()
        else:
            now_ms += value
            wanted = sorted(one for one in index.pending if one[0] <= now_ms)
            assert take_all(deadlines, index, now_ms, batch) == wanted
        assert len(deadlines) <= deadlines_max
        next_ms = deadlines.next_ms()
        if index.pending:
            assert next_ms is not None
            assert next_ms <= min(index.pending)[0]
