"""A batch answers as its items would be answered one after another, alone. Pure.

All messages that a batch accepts are one unit of work. An item whose idempotency key came before in
the same batch is therefore judged before it is known what became of the first one with that key.
Afterwards that decides what the later item is answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from risala.engine.model.errors import Refusal
from risala.engine.model.records.messages import NewMessage

Result = bytes | Refusal
Judged = NewMessage | Result
"""An item's row, which is to be written; or its answer, where that is known already: why it is
refused, or what its key was once answered."""
Keys = Sequence[str | None]
"""The idempotency keys of a batch's items."""


def firsts(keys: Keys, items: Iterable[Judged]) -> list[NewMessage]:
    """The rows that are to be written, without those whose key an earlier item has: such a one
    takes no token and no price of its own."""
    seen: set[str] = set()
    news: list[NewMessage] = []
    for key, item in zip(keys, items, strict=True):
        if isinstance(item, NewMessage) and key not in seen:
            news.append(item)
            if key is not None:
                seen.add(key)
    return news


def in_order(keys: Keys, items: Sequence[Judged], committed: Sequence[Result]) -> Sequence[Result]:
    """The answers to all items, in their order.

    An item that was accepted is the answer to every later item with its key, whatever that item
    says. One that was refused has left no trace, so that a later item is judged by itself.

    Args:
        committed: the answers of the journal to the items with a row, in their order.
    """
    if len(committed) == len(items) and not any(keys):
        return committed
    rest = iter(committed)
    given: dict[str, bytes] = {}
    answers: list[Result] = []
    for key, item in zip(keys, items, strict=True):
        answer = next(rest) if isinstance(item, NewMessage) else item
        if key is not None:
            answer = given.get(key, answer)
            if isinstance(answer, bytes):
                given[key] = answer
        answers.append(answer)
    return answers
