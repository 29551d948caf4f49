"""The first run without questions: answers from a file, for machines that scripts set up."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from risala.cli.reach.refused import CommandRefused
from risala.config.faults import ConfigError
from risala.config.secrets import resolve_secrets
from risala.http.first_run.asking import read_step
from risala.http.first_run.questions import QUESTIONS, STEPS
from risala.http.first_run.reading import NO, YES, Answers, Wrong
from risala.http.first_run.trials import Trials


def read_answers(path: Path | None) -> dict[str, str]:
    """The answers of a file, by the questions' names; none without a file.

    Raises:
        CommandRefused: it cannot be read, or has keys that no question has.
    """
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        # A password may come from the environment: smpp_password_env = "NAME".
        table = resolve_secrets(table)
    except OSError as error:
        raise CommandRefused(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CommandRefused(f"{path} is not TOML: {error}.") from None
    except ConfigError as error:
        raise CommandRefused(str(error)) from None
    unknown = [_unknown(name) for name in table if name not in QUESTIONS]
    if unknown:
        raise CommandRefused("\n".join(unknown))
    return {name: _text(value) for name, value in table.items()}


def _unknown(name: str) -> str:
    near = get_close_matches(name, QUESTIONS, n=1)
    like = f"Did you mean {near[0]}?" if near else "There are: " + ", ".join(QUESTIONS) + "."
    return f"{name} is no question. {like}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    return str(value)


async def checked(
    given: Mapping[str, str], standing: Answers, trials: Trials, *, tries: bool
) -> dict[str, str]:
    """All answers: those that are given, those that stand, and the usual ones.

    Args:
        tries: also try them out.

    Raises:
        CommandRefused: some cannot be used; it names every one.
    """
    answers, wrong = dict(standing), list[str]()
    for step in STEPS:
        if not step.when(answers):
            continue
        answers, faults = read_step(step, given, answers, standing)
        wrong += [f"{name}: {fault}" for name, fault in faults.items()]
        if faults or not tries:
            continue
        try:
            await trials.attempt(step, answers, standing)
        except Wrong as fault:
            wrong.append(f"{step.name}: {fault}")
    if wrong:
        raise CommandRefused("\n".join(wrong))
    return answers
