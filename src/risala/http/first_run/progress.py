"""How far a first run on the page has come: one reader, one link, one end."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import trio

from risala.http.first_run.asking import FirstRunStep, Trials, read_step
from risala.http.first_run.ending import FirstRunEnd, Report, Stage
from risala.http.first_run.questions import steps_of
from risala.http.first_run.reading import Wrong

Finishing = Callable[[Mapping[str, str], Report], Awaitable[FirstRunEnd]]


class FinishFailed(Exception):
    """What follows the questions went wrong; ``str()`` says how."""


@dataclass(slots=True)
class FirstRunProgress:
    """The state of the page.

    Args:
        standing: the answers that the settings have already.
        finishing: does what follows the questions; raises :class:`FinishFailed`.
    """

    standing: Mapping[str, str] = field(repr=False)
    trials: Trials
    finishing: Finishing
    answers: dict[str, str] = field(init=False, repr=False)
    token: str = field(init=False, repr=False, default_factory=lambda: secrets.token_urlsafe(32))
    """Of the link; empty once it was used."""
    session: str = field(init=False, repr=False, default="")
    """Of the browser that used it; empty before."""
    mark: str = field(init=False, repr=False, default_factory=lambda: secrets.token_hex(32))
    is_finishing: bool = field(init=False, default=False)
    stages: list[Stage] = field(init=False, default_factory=list)
    ended: FirstRunEnd | None = field(init=False, default=None)
    failure: str = field(init=False, default="")
    """Why the latest end failed."""
    asked: trio.Event = field(init=False, default_factory=trio.Event)
    """Set when the reader wants the end; a new event follows each failure."""
    trying: trio.Lock = field(init=False, default_factory=trio.Lock)

    def __post_init__(self) -> None:
        self.answers = dict(self.standing)

    def use_link(self, token: str) -> str | None:
        """The session of whoever opened the link; None: it is another one, or was used."""
        if not self.token or not secrets.compare_digest(self.token.encode(), token.encode()):
            return None
        self.token = ""
        self.session = secrets.token_urlsafe(32)
        return self.session

    def is_reader(self, session: str) -> bool:
        """Whether a cookie is that of the browser that used the link."""
        return bool(self.session) and secrets.compare_digest(
            self.session.encode(), session.encode()
        )

    def unanswered(self) -> FirstRunStep | None:
        """The first step with an answer that is missing or wrong; None: all is answered."""
        for step in steps_of(self.answers):
            given = {each.name: self.answers.get(each.name, "") for each in step.questions}
            if read_step(step, given, self.answers, self.standing)[1]:
                return step
        return None

    async def read(
        self, step: FirstRunStep, given: Mapping[str, str], *, tries: bool
    ) -> tuple[dict[str, str], dict[str, Wrong], Wrong | None]:
        """The answers with those of a step, what is wrong with each, and what their try found."""
        found, faults = read_step(step, given, self.answers, self.standing)
        if faults or not tries:
            return found, faults, None
        async with self.trying:
            try:
                await self.trials.attempt(step, found, self.standing)
            except Wrong as wrong:
                return found, faults, wrong
        return found, faults, None

    def keep_secrets(self, step: FirstRunStep, answers: Mapping[str, str]) -> None:
        """Keep the passwords of a step whose try failed: no page shows them again, and nobody
        should have to type them twice."""
        for question in step.questions:
            if question.secret and answers.get(question.name):
                self.answers[question.name] = answers[question.name]

    async def run(self) -> FirstRunEnd:
        """Wait until the reader wants the end, and do it, again after each failure."""
        while self.ended is None:
            await self.asked.wait()
            try:
                self.ended = await self.finishing(self.answers, self.stages.append)
            except FinishFailed as failed:
                self.failure = str(failed)
                self.is_finishing = False
                self.asked = trio.Event()
        return self.ended

    def finish(self) -> None:
        """The reader wants the end."""
        self.is_finishing, self.failure = True, ""
        self.stages.clear()
        self.asked.set()
