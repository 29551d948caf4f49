"""How far a first run has come: the answers of a step, what a try finds, how the end went."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final, Protocol

import trio

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import cause_text
from risala.http.first_run.answers import Answers, Wrong
from risala.http.first_run.questions import NEEDS, Choices, FirstRunStep, Question, steps_of

_NONE_WORDS: Final = ("none", "no", "-")
"""How people leave an optional answer out."""


class Trials(Protocol):
    """Tries out answers on this machine and outside it."""

    async def choices(self, question: str) -> Choices:
        """What can be chosen in a question whose choices are looked up: for ``modem_port`` the
        ports at which a modem answers, and what it is; for ``http_preset`` the aggregators."""

    def needs(self, preset: str) -> Sequence[str]:
        """The settings that an aggregator needs; none for one that is not known."""

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        """Try out the answers of a step.

        Raises:
            Wrong: they do not work; with what to do.
        """


def with_needs(trials: Trials, answers: Answers) -> dict[str, str]:
    """The answers, and what the aggregator among them needs."""
    preset = answers.get("http_preset", "")
    return {**answers, NEEDS: " ".join(trials.needs(preset))} if preset else dict(answers)


def offered(question: Question, answers: Answers, standing: Answers) -> str:
    """What stands, else the usual answer; empty if there is none."""
    name, followed = question.name, question.follows
    is_moved = bool(followed) and answers.get(followed) != standing.get(followed)
    if name in answers and not (is_moved and answers[name] == standing.get(name)):
        return answers[name]
    return question.default if isinstance(question.default, str) else question.default(answers)


def read_answer(question: Question, text: str, answers: Answers) -> str:
    """The value of an answer.

    Raises:
        Wrong: it cannot be used.
    """
    typed = text if question.secret else text.strip()
    optional = question.is_optional(answers)
    if optional and not question.secret and typed.lower() in _NONE_WORDS:
        typed = ""
    if typed:
        return question.reads(typed, answers)
    kept = answers.get(question.name, "") if question.secret else ""
    if kept or optional:
        return kept
    raise Wrong(question.missing)


def read_step(
    step: FirstRunStep, entered: Answers, answers: Answers, standing: Answers
) -> tuple[dict[str, str], dict[str, Wrong]]:
    """All answers with those of a step, and what is wrong with each of them.

    Args:
        entered: what was typed. A question that is missing in it has its default.
    """
    merged, faults = dict(answers), dict[str, Wrong]()
    for question in step.questions:
        if not question.when(merged):
            merged.pop(question.name, None)
            continue
        usual = "" if question.secret else offered(question, merged, standing)
        try:
            merged[question.name] = read_answer(question, entered.get(question.name, usual), merged)
        except Wrong as wrong:
            faults[question.name] = wrong
    return merged, faults


# -- the end, as the terminal and the page show it


class StageKind(StrEnum):
    """How a stage went."""

    NOW = "now"
    DONE = "done"
    ODD = "odd"
    """The stage may be well; the reader should look."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Stage:
    """A line about the end."""

    kind: StageKind
    sentence: str
    holes: Mapping[str, object] = field(default_factory=dict)
    remark: str = ""
    """What a carrier or the service said; it stands behind the sentence."""
    cause: str | None = None
    """The error code of the message."""
    spoken: Mapping[str, str] | None = None
    """The sentence by language, where a driver has it; None: the pages' catalogues have it."""

    @property
    def english(self) -> str:
        """The line for the terminal."""
        parts = (self.sentence.format(**self.holes), cause_text(self.cause), self.remark)
        return " ".join(filter(None, parts))


Report = Callable[[Stage], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRunEnd:
    """How the first run ended."""

    url: str = field(repr=False)
    """Signs the operator in, once."""
    local_url: str = field(repr=False)
    """The link as this machine itself opens it."""
    organization_id: str
    message_id: str | None
    """None: no message was sent."""
    status: str | None
    key: str | None = field(default=None, repr=False)
    """The value of a new key; None: the organization has one already."""
    curl: str = field(default="", repr=False)
    """The command that sends by it."""
    start: str = ""
    """What starts the service the next time; empty: systemd does."""

    @property
    def is_well(self) -> bool:
        """Whether the message did not fail."""
        return self.status not in ("failed", "undelivered")


class FinishFailed(Exception):
    """What follows the questions went wrong; ``str()`` says how."""


# -- the page: one reader, one link, one end


@dataclass(slots=True)
class FirstRunProgress:
    """The state of the page.

    Args:
        standing: the answers that the settings have already.
        finishing: does what follows the questions; raises :class:`FinishFailed`.
    """

    standing: Answers = field(repr=False)
    trials: Trials
    finishing: Callable[[Answers, Report], Awaitable[FirstRunEnd]]
    answers: dict[str, str] = field(init=False, repr=False)
    token: str = field(init=False, repr=False, default_factory=lambda: secrets.token_urlsafe(32))
    """The token of the link; empty once it was used."""
    session: str = field(init=False, repr=False, default="")
    """The session of the browser that used the link; empty before."""
    mark: str = field(init=False, repr=False, default_factory=lambda: secrets.token_hex(32))
    is_finishing: bool = field(init=False, default=False)
    stages: list[Stage] = field(init=False, default_factory=list)
    ended: FirstRunEnd | None = field(init=False, default=None)
    failure: str = field(init=False, default="")
    """Why the latest end failed."""
    end_wanted: trio.Event = field(init=False, default_factory=trio.Event)
    """Set when the reader wants the end; a new event follows each failure."""
    trying: trio.Lock = field(init=False, default_factory=trio.Lock)

    def __post_init__(self) -> None:
        self.answers = dict(with_needs(self.trials, self.standing))

    def use_link(self, token: str) -> str | None:
        """The session of whoever opened the link; None: it is another one, or was used."""
        if not self.token or not secrets.compare_digest(self.token.encode(), token.encode()):
            return None
        self.token, self.session = "", secrets.token_urlsafe(32)
        return self.session

    def is_reader(self, session: str) -> bool:
        """Whether a cookie is that of the browser that used the link."""
        own = self.session.encode()
        return bool(own) and secrets.compare_digest(own, session.encode())

    def unanswered(self) -> FirstRunStep | None:
        """The first step with an answer that is missing or wrong; None: all is answered."""
        for step in steps_of(self.answers):
            entered = {each.name: self.answers.get(each.name, "") for each in step.questions}
            if read_step(step, entered, self.answers, self.standing)[1]:
                return step
        return None

    async def read(
        self, step: FirstRunStep, entered: Answers, *, tries: bool
    ) -> tuple[dict[str, str], dict[str, Wrong], Wrong | None]:
        """The answers with those of a step, what is wrong with each, and what their try found.

        The passwords of a step whose try failed are kept: no page shows them again, and nobody
        should have to type them twice.
        """
        merged, faults = read_step(step, entered, self.answers, self.standing)
        merged = with_needs(self.trials, merged)
        if faults or not tries:
            return merged, faults, None
        async with self.trying:
            try:
                await self.trials.attempt(step, merged, self.standing)
            except Wrong as wrong:
                typed = {each.name: merged.get(each.name) for each in step.questions if each.secret}
                self.answers |= {name: each for name, each in typed.items() if each}
                return merged, faults, wrong
        return merged, faults, None

    async def run(self) -> None:
        """Wait until the reader wants the end, and do it, again after each failure."""
        while self.ended is None:
            await self.end_wanted.wait()
            try:
                self.ended = await self.finishing(self.answers, self.stages.append)
            except FinishFailed as failed:
                self.failure = str(failed)
                self.is_finishing = False
                self.end_wanted = trio.Event()

    def finish(self) -> None:
        """The reader wants the end."""
        self.is_finishing, self.failure = True, ""
        self.stages.clear()
        self.end_wanted.set()
