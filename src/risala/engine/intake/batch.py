"""A batch answers as its items would be answered one after another, alone. Pure.

All that a batch accepts is one unit of work, so that an item whose key came before in the same
batch is judged before anybody knows what became of the first. Here its fate decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from risala.engine.journal.rows import NewMessage
from risala.engine.model.errors import Refusal

Result = bytes | Refusal


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One item, judged: it has either a row to be or an answer."""

    key: str | None
    """Its idempotency key."""
    new: NewMessage | None = None
    answer: Result | None = None
    """Known already: why it is refused, or the answer that its key once had."""
    repeats: bool = False
    """An earlier item with its key may be accepted: it took no rate token of its own."""


def in_order(items: Sequence[BatchItem], committed: Iterable[Result]) -> list[Result]:
    """The answers. ``committed`` are those of the items with a row, in their order.

    A key that was accepted answers for every later item with it, whatever else that item says; one
    that was refused has left no trace, so that the later item stands on its own.
    """
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
