"""The pages of the first run: a step, all answers, the end."""

from __future__ import annotations

import re
from typing import Any, Final

from markupsafe import Markup, escape
from quart_trio.wrappers import TrioResponse

from risala.engine.model.cause_sentences import CAUSE_SENTENCES
from risala.http.common.problems import plain
from risala.http.first_run import ending
from risala.http.first_run.asking import Choices, FirstRunStep, Question, offered
from risala.http.first_run.ending import Stage, StageKind
from risala.http.first_run.page_request import ROOT, FirstRunPageRequest
from risala.http.first_run.progress import FirstRunProgress
from risala.http.first_run.questions import steps_of
from risala.http.first_run.reading import NO, YES, yes_or_no
from risala.http.web.languages import N_, country_name
from risala.http.web.refusals import TOP
from risala.sms.cause import Cause

ANYWAY: Final = "anyway"
"""The box that takes answers whose try failed."""
_SHAPES: Final = {
    StageKind.NOW: "s-processing",
    StageKind.DONE: "s-delivered",
    StageKind.ODD: "s-uncertain",
    StageKind.BAD: "s-failed",
}
_is_page = re.compile(rf"{ROOT}/(?:step/[a-z]+|end)?").fullmatch


def is_page(path: str) -> bool:
    """Whether an address is one of these pages."""
    return _is_page(path) is not None


async def begin(visit: FirstRunPageRequest, progress: FirstRunProgress) -> TrioResponse:
    if progress.is_finishing:
        return visit.go("end")
    step = progress.unanswered()
    return visit.go("end" if step is None else f"step/{step.name}")


async def show(visit: FirstRunPageRequest, progress: FirstRunProgress) -> TrioResponse:
    if progress.is_finishing:
        return visit.go("end")
    step = _step(visit, progress)
    await _look_for_modems(step, progress)
    return await _draw(visit, progress, step, progress.answers, {})


async def submit(visit: FirstRunPageRequest, progress: FirstRunProgress) -> TrioResponse:
    if progress.is_finishing:
        return visit.go("end")
    step, form = _step(visit, progress), visit.form
    given = {each.name: _typed(each, form.fields, form.text(each.name)) for each in step.questions}
    answers, faults, wrong = await progress.read(step, given, tries=not form.ticked(ANYWAY))
    told = {name: visit.explained(each) for name, each in faults.items()}
    if wrong is not None:
        told[TOP] = visit.explained(wrong)
        progress.keep_secrets(step, answers)
    if told:
        return await _draw(visit, progress, step, {**answers, **_shown(step, given)}, told)
    progress.answers = answers
    steps = steps_of(answers)
    after = steps[steps.index(step) + 1 :]
    return visit.go(f"step/{after[0].name}" if after else "end")


async def end(visit: FirstRunPageRequest, progress: FirstRunProgress) -> TrioResponse:
    """All answers before the end, and the stages from then on."""
    if progress.is_finishing or progress.ended is not None:
        stages = [_stage(visit, each) for each in progress.stages]
        return visit.page("end.html", faults={}, stages=stages, ended=progress.ended)
    step = progress.unanswered()
    if step is not None:
        return visit.go(f"step/{step.name}")
    faults = {TOP: Markup("{} {}").format(visit.words(ending.FAILED), progress.failure)}
    return visit.page(
        "answers.html",
        faults=faults if progress.failure else {},
        steps=[(each, _answered(visit, each, progress)) for each in steps_of(progress.answers)],
    )


async def finish(visit: FirstRunPageRequest, progress: FirstRunProgress) -> TrioResponse:
    if not progress.is_finishing and progress.unanswered() is None:
        progress.finish()
    return visit.go("end")


# -- a step


def _step(visit: FirstRunPageRequest, progress: FirstRunProgress) -> FirstRunStep:
    name = visit.request.path.rpartition("/")[2]
    found = next((each for each in steps_of(progress.answers) if each.name == name), None)
    if found is None:
        raise plain(404)
    return found


async def _look_for_modems(step: FirstRunStep, progress: FirstRunProgress) -> None:
    if step.name not in ("carrier", "modem"):
        return
    async with progress.trying:
        found = await progress.trials.modems()
    if found:
        progress.answers.setdefault("modem_found", found[0][0])


def _typed(question: Question, fields: Any, text: str) -> str:  # noqa: ANN401 -- as forms have them
    """The answer of a form; a password keeps the spaces around it."""
    if question.secret:
        values = fields.get(question.name, ("",))
        return str(values[-1])
    if question.reads is yes_or_no:  # a box that is not ticked is not sent
        return text or NO
    return text


def _shown(step: FirstRunStep, given: dict[str, str]) -> dict[str, str]:
    """What was typed, for the form that is shown again; never a password."""
    return {each.name: given[each.name] for each in step.questions if not each.secret}


async def _draw(
    visit: FirstRunPageRequest,
    progress: FirstRunProgress,
    step: FirstRunStep,
    answers: dict[str, str],
    faults: dict[str, Markup],
) -> TrioResponse:
    steps = steps_of(progress.answers)
    number = steps.index(step)
    questions, known = [], dict(answers)
    for each in step.questions:
        value = "" if each.secret else offered(each, known, progress.standing)
        known.setdefault(each.name, value)  # the next default may follow from it
        is_kept = each.secret and bool(progress.answers.get(each.name))
        questions.append((each, value, await _choices(visit, progress, each), is_kept))
    return visit.page(
        "step.html",
        status=422 if faults else 200,
        faults=faults,
        step=step,
        number=number + 1,
        total=len(steps),
        before=steps[number - 1].name if number else None,
        may_keep=TOP in faults,
        questions=questions,
    )


async def _choices(
    visit: FirstRunPageRequest, progress: FirstRunProgress, question: Question
) -> Choices:
    if question.name == "country":
        from risala.sms.numbering.library import country_codes

        language = visit.words.language
        named = [(code, country_name(language, code, code)) for code in country_codes()]
        return sorted(named, key=lambda each: each[1])
    if question.name == "modem_port":
        return await progress.trials.modems()
    return [(key, visit.words(told)) for key, told in question.choices]


# -- all answers


def _answered(
    visit: FirstRunPageRequest, step: FirstRunStep, progress: FirstRunProgress
) -> list[tuple[Question, str | Markup]]:
    answers = progress.answers
    return [
        (each, _answer(visit, each, answers.get(each.name, "")))
        for each in step.questions
        if each.when(answers)
    ]


def _answer(visit: FirstRunPageRequest, question: Question, value: str) -> str | Markup:
    if question.secret and value:
        return "•••"
    told = dict(question.choices).get(value)
    if told is not None:
        return visit.words(told)
    if question.reads is yes_or_no:
        return visit.words(N_("yes")) if value == YES else visit.words(N_("no"))
    return value


def _stage(visit: FirstRunPageRequest, stage: Stage) -> tuple[str, str, Markup]:
    """A stage's kind, its shape, and its sentence."""
    holes = {name: Markup("<bdi>{}</bdi>").format(each) for name, each in stage.holes.items()}
    parts = [visit.words(stage.sentence, **holes)]
    if stage.cause is not None and stage.cause in [*Cause]:
        parts.append(escape(CAUSE_SENTENCES[Cause(stage.cause)][visit.words.language.value]))
    if stage.said:
        parts.append(Markup('<q dir="auto" lang="en">{}</q>').format(stage.said))
    return stage.kind, _SHAPES[stage.kind], Markup(" ").join(parts)
