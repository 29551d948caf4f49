"""A batch gets the answers that its items would get alone, one after another. Pure.

All messages that a batch accepts are one unit of work. So an item whose idempotency key came before
in the same batch is judged before the result of the first one is known. That result later decides
the later item's answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from risala.engine.model.errors import Refusal
from risala.engine.model.records.messages import NewMessage

Result = bytes | Refusal
Judged = NewMessage | Result
"""An item's row to write; or its answer, if known already: the refusal, or the earlier answer to
its key."""
Keys = Sequence[str | None]
"""The idempotency keys of a batch's items."""


def firsts(keys: Keys, items: Iterable[Judged]) -> list[NewMessage]:
    """The rows to write, without those whose key an earlier item has: they take no token and no
    price."""
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

    An accepted item is the answer to every later item with its key, whatever that item contains. A
    refused one leaves no trace, so a later item is judged alone.

    Args:
        committed: the journal's answers to the items with a row, in their order.
    """
    if len(committed) == len(items) and not any(keys):
        return committed
    rest = iter(committed)
    by_key: dict[str, bytes] = {}
    answers: list[Result] = []
    for key, item in zip(keys, items, strict=True):
        answer = next(rest) if isinstance(item, NewMessage) else item
        if key is not None:
            answer = by_key.get(key, answer)
            if isinstance(answer, bytes):
                by_key[key] = answer
        answers.append(answer)
    return answers
