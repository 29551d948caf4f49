"""What a question of the first run is, and how a step's answers are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.http.first_run import reading
from risala.http.first_run.reading import Answers, Reader, Wrong
from risala.http.web.languages import N_

Choices = Sequence[tuple[str, str]]
"""What may be chosen: the word that is stored, and what it means."""
NONE_WORDS: Final = ("none", "no", "-")
"""How people leave an optional answer out."""
EMPTY: Final = ""
"""What an optional answer is when it is left out."""


def _always(_: Answers) -> bool:
    return True


def _nothing(_: Answers) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question."""

    name: str
    """The key in an answers file, and the field of the page."""
    asks: str
    reads: Reader = reading.one_line
    hint: str = ""
    default: Callable[[Answers], str] = _nothing
    optional: bool = False
    secret: bool = False
    """Typed unseen and never shown again; an empty answer leaves the one that stands."""
    choices: Choices = ()
    follows: str = ""
    """Once the answer to this question differs from what stands, so does the default."""
    when: Callable[[Answers], bool] = _always
    stored: bool = True
    """False: no setting; it is about the people and the message at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRunStep:
    """Questions that belong together, and are tried out together."""

    name: str
    title: str
    told: str
    questions: tuple[Question, ...]
    when: Callable[[Answers], bool] = _always
    tried: str = ""
    """What is said while the answers are tried out; empty: nothing is to try."""
    has_to_try: Callable[[Answers], bool] = _always
    """Whether there is anything to try in these answers."""


def default_of(question: Question, answers: Answers, standing: Answers) -> str:
    """What is offered: what stands, else the usual answer; empty if there is none."""
    name, followed = question.name, question.follows
    is_moved = bool(followed) and answers.get(followed) != standing.get(followed)
    if name in answers and not (is_moved and answers[name] == standing.get(name)):
        return answers[name]
    return question.default(answers)


def read_answer(question: Question, text: str, answers: Answers) -> str:
    """The value of an answer.

    Raises:
        Wrong: it cannot be used.
    """
    typed = text if question.secret else text.strip()
    if question.optional and not question.secret and typed.lower() in NONE_WORDS:
        typed = EMPTY
    if not typed:
        if question.secret:
            return answers.get(question.name, EMPTY)
        if question.optional:
            return EMPTY
        raise Wrong(N_("Fill this in."))
    return question.reads(typed, answers)


def read_step(
    step: FirstRunStep, given: Answers, answers: Answers, standing: Answers
) -> tuple[dict[str, str], dict[str, Wrong]]:
    """All answers with those of a step, and what is wrong with each of them.

    Args:
        given: what was typed. A question that is missing in it has its default.
    """
    found, faults = dict(answers), dict[str, Wrong]()
    for question in step.questions:
        if not question.when(found):
            found.pop(question.name, None)
            continue
        text = given.get(question.name)
        if text is None:
            text = "" if question.secret else offered(question, found, standing)
        try:
            found[question.name] = read_answer(question, text, found)
        except Wrong as wrong:
            faults[question.name] = wrong
    return found, faults


def offered(question: Question, answers: Answers, standing: Answers) -> str:
    """As :func:`default_of`; empty too where the answer that it follows is missing."""
    try:
        return default_of(question, answers, standing)
    except KeyError:
        return ""


# What trying out the answers of a step may find, in the words of the catalogues.

PORT_TAKEN: Final = N_(
    "Port {port} is in use by another program. Choose another one, such as {other}."
)
PORT_LOW: Final = N_("Ports below 1024 need special rights. Choose one such as 8080.")
NAME_UNKNOWN: Final = N_(
    "The name {host} is not known in the DNS. Make an entry for it that leads to this machine."
)
MAIL_UNKNOWN: Final = N_(
    "The mail server {host} is not known. Compare the name with what your provider wrote."
)
MAIL_REFUSED: Final = N_(
    "Nothing listens at {host}:{port}. Usual ports are 587 with STARTTLS and 465 with TLS."
)
MAIL_SILENT: Final = N_(
    "{host}:{port} does not answer. The port is wrong, or a firewall is between."
)
MAIL_LOGIN: Final = N_("The mail server refuses the user name or the password. It says:")
MAIL_TLS: Final = N_(
    "Encryption fails. Usual are STARTTLS with port 587 and TLS with port 465. In detail:"
)
MAIL_OTHER: Final = N_("The mail server does not accept this. It says:")


class Trials(Protocol):
    """Tries out answers on this machine and outside it."""

    async def modems(self) -> Choices:
        """The ports at which a modem answers, and what it is."""

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        """Try out the answers of a step.

        Raises:
            Wrong: they do not work; with what to do.
        """
