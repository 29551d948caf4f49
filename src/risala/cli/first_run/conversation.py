"""The first run as a conversation in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from risala.cli.reach.session import run_async
from risala.cli.show import output
from risala.http.first_run.asking import (
    Choices,
    FirstRunStep,
    Question,
    Trials,
    default_of,
    read_answer,
)
from risala.http.first_run.questions import STEPS
from risala.http.first_run.reading import YES, Answers, Wrong

BACK: Final = "back"
CLEAR: Final = "-"
_HIDDEN: Final = "***"
_HEAD: Final = f"""\
Enter takes what stands in brackets. `{BACK}` returns to the question before, `{CLEAR}` empties an
answer, Ctrl-C ends without writing anything.
"""


class Conversation:
    """Asks every question, and tries out what was answered.

    Args:
        standing: the answers that the settings have already.
        tries: False: what cannot be tried out now is taken all the same.
    """

    def __init__(self, trials: Trials, standing: Answers, *, tries: bool = True) -> None:
        self._trials = trials
        self._standing = dict(standing)
        self._tries = tries
        self._modems: Choices = ()
        self.answers = dict(standing)

    def ask(self) -> None:
        """Ask until everything is answered; :attr:`answers` has all of it then."""
        click.echo(_HEAD)
        self._look_for_modems()
        at, from_end = 0, False
        while at < len(STEPS):
            step = STEPS[at]
            if not step.when(self.answers):
                at += -1 if from_end else 1
                continue
            goes_on = self._ask_step(step, from_end=from_end and at > 0)
            from_end = not goes_on
            at = max(0, at + (1 if goes_on else -1))

    def confirmed(self, path: str) -> bool:
        """Whether these answers are to be written."""
        click.echo()
        output.fields(dict(shown(self.answers)))
        click.echo()
        return click.confirm(f"Write this into {path}, and go on?", default=True)

    def _look_for_modems(self) -> None:
        _hint("Looking for modems …")
        self._modems = run_async(self._trials.modems)
        if self._modems:
            self.answers["modem_found"] = self._modems[0][0]

    # -- one step

    def _ask_step(self, step: FirstRunStep, *, from_end: bool) -> bool:
        """Whether to go on; False: back to the step before."""
        click.echo(f"\n{click.style(step.title, bold=True)}: {step.told}")
        at, goes = (len(step.questions) - 1, -1) if from_end else (0, 1)
        while True:
            while 0 <= at < len(step.questions):
                question = step.questions[at]
                if not question.when(self.answers):
                    self.answers.pop(question.name, None)
                else:
                    goes = 1 if self._ask_one(question) else -1
                at += goes
            if at < 0:
                return False
            if self._works(step):
                return True
            at, goes = 0, 1

    def _works(self, step: FirstRunStep) -> bool:
        """Whether the answers work, or are to be used all the same."""
        if not (step.tried and self._tries and step.has_to_try(self.answers)):
            return True
        _hint(f"{step.tried} …")
        try:
            run_async(lambda: self._trials.attempt(step, self.answers, self._standing))
        except Wrong as wrong:
            _complain(wrong)
            return click.confirm("  Use these answers all the same?", default=False)
        return True

    def _ask_one(self, question: Question) -> bool:
        """Ask until the answer can be used; False: back to the question before."""
        choices = self._modems if question.name == "modem_port" else question.choices
        if question.hint:
            _hint(question.hint)
        for number, (key, told) in enumerate(choices, 1):
            click.echo(f"    {number}  {output.clean(told)}" + ("" if told == key else f" ({key})"))
        while True:
            typed = self._typed(question, choices)
            if typed == BACK and not question.secret:
                return False
            try:
                self.answers[question.name] = read_answer(question, typed, self.answers)
            except Wrong as wrong:
                _complain(wrong)
            else:
                return True

    def _typed(self, question: Question, choices: Choices) -> str:
        offered = default_of(question, self.answers, self._standing)
        text = f"  {question.asks}"
        if question.secret:
            there = f" [{_HIDDEN}]" if self.answers.get(question.name) else ""
            typed = str(click.prompt(text + there, "", hide_input=True, show_default=False))
            if typed == CLEAR:
                self.answers.pop(question.name, None)
                return ""
            return typed
        typed = str(click.prompt(text, offered, show_default=bool(offered))).strip()
        if typed == CLEAR and question.optional:
            return ""
        return _chosen(typed, choices)


def _chosen(typed: str, choices: Choices) -> str:
    if typed.isdecimal() and 1 <= int(typed) <= len(choices):
        return choices[int(typed) - 1][0]
    return typed


def _hint(text: str) -> None:
    click.echo(click.style(f"  {text}", dim=True))


def _complain(wrong: Wrong) -> None:
    click.echo(click.style(f"  {output.clean(str(wrong))}", fg="red"))


def shown(answers: Answers) -> Sequence[tuple[str, str | None]]:
    """The answers with their questions, without passwords."""
    return [
        (question.asks, _shown(question, answers.get(question.name, "")))
        for step in STEPS
        if step.when(answers)
        for question in step.questions
        if question.when(answers)
    ]


def _shown(question: Question, answer: str) -> str | None:
    if question.secret and answer:
        return _HIDDEN
    return {YES: "yes", **dict(question.choices)}.get(answer, answer) or None
