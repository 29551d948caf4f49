"""The first run as a conversation in a terminal."""

from __future__ import annotations

from typing import Final

import click

from risala.cli.reach.session import run_async
from risala.cli.show import output
from risala.http.first_run.answers import YES, Answers, Wrong
from risala.http.first_run.progress import Trials, offered, read_answer, with_needs
from risala.http.first_run.questions import (
    QUESTIONS,
    STEPS,
    Choices,
    FirstRunStep,
    Question,
    steps_of,
)

_BACK: Final = "back"
_CLEAR: Final = "-"
_HIDDEN: Final = "***"
_HEAD: Final = f"""\
Enter takes what stands in brackets. `{_BACK}` returns to the question before, `{_CLEAR}` empties an
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
        self.answers = with_needs(trials, standing)

    def ask(self) -> None:
        """Ask until everything is answered; :attr:`answers` has all of it then."""
        click.echo(_HEAD)
        _hint("Looking for modems …")
        modems = self._choices(QUESTIONS["modem_port"])
        if modems:
            self.answers["modem_found"] = modems[0][0]
        at, goes = 0, 1
        while at < len(STEPS):
            if STEPS[at].when(self.answers):
                goes = self._ask_step(STEPS[at], from_end=goes < 0)
            at, goes = (at + goes, goes) if at + goes >= 0 else (0, 1)

    def confirmed(self, path: str) -> bool:
        """Whether these answers are to be written."""
        click.echo()
        output.fields(
            [
                (question.asks, _shown(question, self.answers.get(question.name, "")))
                for step in steps_of(self.answers)
                for question in step.questions
                if question.when(self.answers)
            ]
        )
        click.echo()
        return click.confirm(f"Write this into {path}, and go on?", default=True)

    # -- one step

    def _ask_step(self, step: FirstRunStep, *, from_end: bool) -> int:
        """1: on to the next step; -1: back to the one before."""
        click.echo(f"\n{click.style(step.title, bold=True)}: {step.about}")
        at, goes = (len(step.questions) - 1, -1) if from_end else (0, 1)
        while at >= 0:
            question = step.questions[at]
            if not question.when(self.answers):
                self.answers.pop(question.name, None)
            else:
                goes = 1 if self._ask_one(question) else -1
            at += goes
            if at == len(step.questions):
                if self._works(step):
                    return 1
                at = 0
        return -1

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
        choices = self._choices(question) if question.looked_up else question.choices
        if question.hint:
            _hint(question.hint)
        for number, (key, label) in enumerate(choices, 1):
            click.echo(
                f"    {number}  {output.clean(label)}" + ("" if label == key else f" ({key})")
            )
        while True:
            typed = self._unseen(question) if question.secret else self._typed(question, choices)
            if typed == _BACK and not question.secret:
                return False
            try:
                self.answers[question.name] = read_answer(question, typed, self.answers)
            except Wrong as wrong:
                _complain(wrong)
            else:
                self.answers = with_needs(self._trials, self.answers)
                return True

    def _choices(self, question: Question) -> Choices:
        return run_async(lambda: self._trials.choices(question.name))

    def _unseen(self, question: Question) -> str:
        there = f" [{_HIDDEN}]" if self.answers.get(question.name) else ""
        text = f"  {question.asks}{there}"
        typed = str(click.prompt(text, "", hide_input=True, show_default=False))
        if typed != _CLEAR:
            return typed
        self.answers.pop(question.name, None)
        return ""

    def _typed(self, question: Question, choices: Choices) -> str:
        usual = offered(question, self.answers, self._standing)
        typed = str(click.prompt(f"  {question.asks}", usual, show_default=bool(usual))).strip()
        if typed.isdecimal() and 1 <= int(typed) <= len(choices):
            return choices[int(typed) - 1][0]
        return "" if typed == _CLEAR and question.is_optional(self.answers) else typed


def _hint(text: str) -> None:
    click.echo(click.style(f"  {text}", dim=True))


def _complain(wrong: Wrong) -> None:
    click.echo(click.style(f"  {output.clean(str(wrong))}", fg="red"))


def _shown(question: Question, answer: str) -> str | None:
    """An answer in words, without passwords."""
    if question.secret and answer:
        return _HIDDEN
    return {YES: "yes", **dict(question.choices)}.get(answer, answer) or None
