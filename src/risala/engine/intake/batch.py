"""A batch answers as its items would be answered one after another, alone. Pure.

All messages that a batch accepts are one unit of work. An item whose idempotency key came before in
the same batch is therefore judged before it is known what became of the first one with that key.
Afterwards that decides what the later item is answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from risala.engine.journal.rows import NewMessage
from risala.engine.model.errors import Refusal

Result = bytes | Refusal


class BatchItem(NamedTuple):
    """One item, judged: it has either a row that is to be written, or an answer."""

    key: str | None
    """The item's idempotency key."""
    new: NewMessage | None = None
    answer: Result | None = None
    """The answer, where it is known already: why the item is refused, or what its key was once
    answered."""


def firsts(items: Iterable[BatchItem]) -> list[NewMessage]:
    """The rows that are to be written, without those whose key an earlier item has: such a one
    takes no token and no price of its own."""
    seen: set[str] = set()
    news: list[NewMessage] = []
    for key, new, _ in items:
        if new is not None and key not in seen:
            news.append(new)
            if key is not None:
                seen.add(key)
    return news


def in_order(items: Sequence[BatchItem], committed: Iterable[Result]) -> list[Result]:
    """The answers to all items, in their order.

    An item that was accepted is the answer to every later item with its key, whatever that item
    says. One that was refused has left no trace, so that a later item is judged by itself.

    Args:
        committed: the answers of the journal to the items with a row, in their order.
    """
    if all(item.key is None and item.new is not None for item in items):
        return list(committed)
    rest = iter(committed)
    given: dict[str, bytes] = {}
    answers: list[Result] = []
    for item in items:
        answer = item.answer if item.new is None else next(rest)
        assert answer is not None
        if item.key is not None:
            answer = given.get(item.key, answer)
            if isinstance(answer, bytes):
                given[item.key] = answer
        answers.append(answer)
    return answers
