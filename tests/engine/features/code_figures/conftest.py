"""Codes in a journal: asked for, taken by carriers, entered or not, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from risala.engine.features.code_figures.stored import counts
from risala.engine.features.code_figures.stored.counts import CodeQuery
from risala.engine.journal.messages import endings, verifications
from risala.engine.journal.messages.sessions import find
from risala.engine.journal.state import load
from risala.engine.model.lines import SENT
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.records.messages import NewVerification
from risala.engine.model.records.verify.figures import FiguresBy
from risala.engine.model.states import SegmentState, SessionState
from risala.engine.rules.verification import Trigger
from risala.sms.cause import Cause
from risala.sms.numbering.plan import DEFAULT
from risala.sms.receipt import Receipt, ReceiptState

TO = "+22236123456"
EXPIRY_MS = 600_000
DAY_MS = 86_400_000


def country_of(number: str) -> str | None:
    country = DEFAULT.country_of(number)
    return None if country is None else country.code


class CodeBook:
    """What happens to codes, and how often it happened by its own account."""

    def __init__(self, book: Any, before: CodeBook | None = None) -> None:
        """
        Args:
            before: the same codes, in the file that this one is a copy of.
        """
        self.book = book
        self.organization = book.organization() if before is None else before.organization
        self._messages: dict[str, str] = {} if before is None else before._messages

    def ask(
        self,
        to: str = TO,
        *,
        organization: str | None = None,
        mode: str = "live",
        api_key: str | None = "key_1",
        language: str | None = None,
    ) -> str:
        session = self.book.id("ver")
        message = self.book.new_message(
            organization or self.organization,
            kind="code",
            recipient=to,
            mode=mode,
            price=50 if mode == "live" else 0,
            verification_id=session,
            api_key=api_key,
        )
        new = NewVerification(
            message=message,
            per_phone_per_hour=9999,
            per_organization_per_hour=9999,
            id=session,
            attempts_max=5,
            code_length=6,
            expires_at=message.created_at + EXPIRY_MS,
            language=language,
        )
        self.book.unit(lambda conn: verifications.begin(conn, new))
        self._messages[session] = message.id
        return session

    def take(self, session: str, carrier: str = "mattel") -> None:
        """A carrier takes the code."""
        message = self._messages[session]
        if self.book.begin(message, carrier=carrier) is None:
            return
        decision = Decision(Step.ADVANCE, SegmentState.ACCEPTED, SENT, carrier_id=message)
        self.book.finish(Attempt(message, 1, 1, carrier), decision)

    def deliver(self, session: str, carrier: str = "mattel", *, arrives: bool = True) -> None:
        """The receipt comes."""
        state = ReceiptState.DELIVERED if arrives else ReceiptState.UNDELIVERABLE
        self.book.record(Receipt(self._messages[session], state, "stat"), carrier)

    def fail(self, session: str) -> None:
        stamp = self.book.stamp()

        def unit(conn: Any) -> int:
            message = load(conn, self._messages[session])
            return len(endings.fail(conn, message, Cause.REJECTED, stamp))

        self.book.unit(unit)

    def enter(self, session: str) -> None:
        self._settle(session, Trigger.CODE_MATCHED)

    def expire(self, session: str) -> None:
        self._settle(session, Trigger.TIME_OVER)

    def _settle(self, session: str, trigger: Trigger) -> None:
        row, stamp = find(self.book.conn, session), self.book.stamp()
        if row.status is SessionState.PENDING:
            self.book.unit(lambda conn: verifications.settle(conn, row, trigger, stamp))

    def live(self, took_s: float = 8, carrier: str = "mattel", **asked: Any) -> str:
        """A whole life: asked for, taken, delivered, and entered after some seconds."""
        session = self.ask(**asked)
        self.take(session, carrier)
        self.deliver(session, carrier)
        self.book.now_ms += round(took_s * 1000)
        self.enter(session)
        return session

    # -- counts

    def count(self) -> int:
        """One unit of counting."""
        return self.book.unit(lambda conn: counts.count_next(conn, self.book.now_ms, country_of))

    def count_all(self) -> int:
        whole = 0
        while counted := self.count():
            whole += counted
        return whole

    def sums(self, by: str = "day", *, mode: str = "live", days: int = 2, of: str | None = None):
        """Counts of the last days: asked, sent, delivered, entered, in a minute, cost, times."""
        today = self.book.now_ms // DAY_MS
        query = CodeQuery(of or self.organization, mode, FiguresBy(by), today - days, today + days)
        sums = counts.sums(self.book.conn, query, country_of)
        assert sums.counted_until is None
        return {value: shown(each) for value, each in sums.by.items()}


def shown(counted: Any) -> tuple[Any, ...]:
    names = ("asked", "sent", "delivered", "entered", "in_minute", "cost")
    return (*(getattr(counted, name) for name in names), dict(counted.times))


def whole_of(sums: dict[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    """All of one answer together."""
    times: Counter[int] = Counter()
    for each in sums.values():
        times.update(each[-1])
    numbers = [each[:-1] for each in sums.values()] or [(0,) * 6]
    return (*(sum(column) for column in zip(*numbers, strict=True)), dict(times))


@pytest.fixture
def codes(book: Any) -> CodeBook:
    return CodeBook(book)


@pytest.fixture
def open_codes(open_book: Callable[..., Any]) -> Callable[..., CodeBook]:
    return lambda place, before=None: CodeBook(open_book(place), before)
