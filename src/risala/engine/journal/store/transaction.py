"""One transaction of many units: all of them, or each that can be, and what came of each.

What comes of a unit::

    it returns                           committed, then the value is the answer
    Refusal, nothing written by it       the refusal is the answer; its neighbours commit
    Refusal after a write, any bug       rolled back, alone; the exception is the answer
    the disk is full, broken, read-only  StorageFailed for the whole batch, nothing written
    the disk failed in the commit        OutcomeUnknown for the whole batch
    memory has run out                   each is tried alone, which takes less; StorageFailed
    memory has run out in the commit     OutcomeUnknown for the whole batch

A :class:`Group` is a unit of many items, each of which has a fate of its own: where the group
cannot be written whole, it is written item by item. :class:`Piece` is for those who have a single
item and know nothing of each other: pieces that wait side by side are written by one call.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Generic, TypeAlias, TypeVar

from risala.dataclass import dataclass
from risala.engine.journal.store.condition import is_doubtful, is_storage_fault
from risala.engine.model.errors import Failed, OutcomeUnknown, Refusal, StorageFailed

T = TypeVar("T")
Item = TypeVar("Item")
Unit: TypeAlias = Callable[[sqlite3.Connection], T]
"""Reads, decides and writes in one transaction; pure otherwise, because it may run twice."""


@dataclass(frozen=True, slots=True)
class Group(Generic[Item, T]):
    """Items that are written together, in their order, by one call.

    Its answer is a list with one answer for each: the call's result for it, or :class:`Failed`.
    """

    work: Callable[[sqlite3.Connection, Sequence[Item]], Sequence[T]]
    """Returns an answer for each given item."""
    items: Sequence[Item]

    def __call__(self, conn: sqlite3.Connection) -> list[T | Failed]:
        return list(self.work(conn, self.items))

    def alone(self) -> list[Group[Item, T]]:
        """The group as groups of an item each."""
        return [Group(self.work, (item,)) for item in self.items]


@dataclass(frozen=True, slots=True)
class Piece(Generic[Item, T]):
    """A unit of one item, written together with similar ones directly before or after it.

    Consecutive pieces with the same ``work`` in a transaction are one call of it. So they form
    groups while a commit is under way, without a timer and without a link between them; a single
    one is a group of one. Their order among all units stays.
    """

    work: Callable[[sqlite3.Connection, Sequence[Item]], Sequence[T | Failed]]
    """Returns an answer for each given item. For a :class:`Failed` one nothing is written. A
    function of a module: pieces are similar if it is the same object."""
    item: Item

    def __call__(self, conn: sqlite3.Connection) -> T:
        (answer,) = self.work(conn, (self.item,))
        if isinstance(answer, Failed):
            raise answer.error
        return answer


@dataclass(frozen=True, slots=True)
class Done:
    """The results of a batch: an answer for each unit, in order."""

    answers: Sequence[Any]
    commits: int
    largest: int
    fault: BaseException | None = None
    """The storage's failure, if it affected the whole batch."""
    doubts: int = 0
    """Commits with an unknown outcome."""


@dataclass(frozen=True, slots=True)
class WrittenBatch:
    """A batch that is on this machine's disk, and perhaps not elsewhere yet."""

    done: Done
    mark: int
    """Up to where the log has to come."""
    began_s: float
    """On the log's clock."""


def run_batch(conn: sqlite3.Connection, units: Sequence[Unit[Any]]) -> Done:
    """Commit a batch, or as many of its units as possible. Never raises."""
    try:
        answers = _transaction(conn, units)
    except _Doubt as doubt:
        return Done([Failed(OutcomeUnknown()) for _ in units], 0, 0, doubt.__cause__, 1)
    except BaseException as error:  # noqa: BLE001 -- it becomes an answer
        if is_storage_fault(error) or isinstance(error, _TransactionEnded):
            # A separate exception for each waiter: a shared one would collect all their tracebacks.
            return Done([Failed(StorageFailed()) for _ in units], 0, 0, error)
        if len(units) == 1:
            (unit,) = units
            if isinstance(unit, Group) and len(unit.items) > 1:
                return _one_by_one(conn, unit)
            if isinstance(error, MemoryError):
                return Done([Failed(StorageFailed())], 0, 0, error)
            return Done([Failed(error)], 0, 0)
    else:
        return Done(answers, 1, len(units))
    alone = [run_batch(conn, [unit]) for unit in units]
    return _together([done.answers[0] for done in alone], alone)


def _one_by_one(conn: sqlite3.Connection, group: Group[Any, Any]) -> Done:
    """Each item of a group in a transaction of its own; those that fail, fail alone."""
    alone = [run_batch(conn, [item]) for item in group.alone()]
    answers: list[Any] = []
    for done in alone:
        (answer,) = done.answers
        answers += [answer] if isinstance(answer, Failed) else answer
    return _together([answers], alone)


def _together(answers: Sequence[Any], alone: Sequence[Done]) -> Done:
    return Done(
        answers,
        sum(done.commits for done in alone),
        max(done.largest for done in alone),
        next((done.fault for done in alone if done.fault is not None), None),
        sum(done.doubts for done in alone),
    )


def in_doubt(done: Done) -> Done:
    """A batch after its commits turned out to be uncertain."""
    answers = [
        answer if isinstance(answer, Failed) else Failed(OutcomeUnknown())
        for answer in done.answers
    ]
    return Done(answers, 0, 0, done.fault, done.doubts + 1)


def _transaction(conn: sqlite3.Connection, units: Sequence[Unit[Any]]) -> list[Any]:
    """All units in one transaction, or an exception and none of them."""
    try:
        if conn.in_transaction:  # the last rollback failed with the disk
            conn.rollback()
        conn.execute("begin immediate")
        answers: list[Any] = []
        for work, alike in groupby(units, _work):
            if work is None:
                answers += [_attempt(conn, unit) for unit in alike]
            else:
                answers += _write_pieces(conn, work, list(alike))
        _commit(conn)
    except BaseException:
        if conn.in_transaction:
            conn.rollback()
        raise
    return answers


def _commit(conn: sqlite3.Connection) -> None:
    try:
        conn.execute("commit")
    except MemoryError as error:  # SQLite makes a note of the frames after they are synced
        raise _Doubt from error
    except sqlite3.Error as error:
        if is_storage_fault(error) and is_doubtful(error):
            raise _Doubt from error
        raise


def _work(unit: Unit[Any]) -> Callable[..., Any] | None:
    """The call that can write this unit and those beside it; None: it is like no other."""
    return unit.work if isinstance(unit, Piece) else None


def _write_pieces(
    conn: sqlite3.Connection, work: Callable[..., Sequence[Any]], pieces: Sequence[Any]
) -> Sequence[Any]:
    """One call for all of these pieces. If it raises, each is tried alone."""
    if len(pieces) == 1:
        return [_attempt(conn, pieces[0])]
    answers = work(conn, [piece.item for piece in pieces])
    if len(answers) != len(pieces):
        raise _Miscounted(f"{len(answers)} answers to {len(pieces)} items")
    _refuse_ended(conn)
    return answers


def _attempt(conn: sqlite3.Connection, unit: Unit[Any]) -> object:
    before = conn.total_changes
    try:
        answer: object = unit(conn)
    except Refusal as refusal:
        if conn.total_changes != before:
            raise  # its writes must be undone, which only a rollback does
        answer = Failed(refusal)
    _refuse_ended(conn)
    return answer


def _refuse_ended(conn: sqlite3.Connection) -> None:
    if not conn.in_transaction:
        raise _TransactionEnded("a unit of work ended the transaction that it shares with others")


class _Doubt(Exception):
    """The commit failed, and may be on disk nevertheless; the cause has the details."""


class _Miscounted(Exception):
    """A bug: a call for many items has not answered each."""


class _TransactionEnded(Exception):
    """A bug, or a disk failure that a unit hid. Running the rest again could double it."""
