"""The pages of the first run: one request, a step, all answers, the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from markupsafe import Markup, escape
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import CAUSE_SENTENCES
from risala.http.common.problems import plain
from risala.http.first_run.answers import NO, YES, Wrong, yes_or_no
from risala.http.first_run.progress import FirstRunProgress, Stage, StageKind, offered
from risala.http.first_run.questions import (
    AGGREGATORS,
    Choices,
    FirstRunStep,
    Question,
    steps_of,
)
from risala.http.operator.carriers.driver_words import driver_said
from risala.http.web.face import WebFace
from risala.http.web.formats import Formats
from risala.http.web.forms import MARK_FIELD, SentForm, masked
from risala.http.web.languages import N_, Words, country_name
from risala.http.web.page_request import Theme, html_response
from risala.http.web.refusals import TOP
from risala.http.web.templates import Loaded, render
from risala.sms.cause import Cause

ROOT: Final = "/first-run"
_ANYWAY: Final = "anyway"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRunPageRequest:
    """A request of the first run, with what templates need: they know it as ``request``."""

    http: Request = field(repr=False)
    progress: FirstRunProgress
    loaded: Loaded = field(repr=False)
    face: WebFace
    formats: Formats
    theme: Theme
    cookie: str = field(repr=False)
    """The mark that proves that a form is of this session; empty: there is no session."""
    form: SentForm = field(default_factory=SentForm, repr=False)
    """The fields of a POST."""
    notice: None = None

    @property
    def words(self) -> Words:
        return self.formats.words

    @property
    def here(self) -> str:
        return self.http.path

    def marks(self, *, once: bool = False) -> Markup:
        """The hidden field without which a form is not taken."""
        hidden = Markup('<input type="hidden" name="{}" value="{}">')
        return hidden.format(MARK_FIELD, masked(self.cookie))

    def at(self, page: str, **query: str) -> str:
        """The address of a page."""
        return f"{ROOT}/{page}"

    def may(self, access: str) -> bool:
        """Whoever has the session may do everything."""
        return bool(self.cookie)

    @staticmethod
    def code(text: str) -> Markup:
        """A typed text inside a sentence, in an isolate."""
        return Markup("<code>{}</code>").format(text)

    def sentence(self, sentence: str, holes: Mapping[str, object]) -> Markup:
        """A sentence of the catalogues, each value in an isolate; empty for none."""
        apart = {name: Markup("<bdi>{}</bdi>").format(value) for name, value in holes.items()}
        return self.words(sentence, **apart) if sentence else Markup()

    def explained(self, wrong: Wrong) -> Markup:
        """What is wrong with an answer, in the reader's language."""
        remark = driver_said(self.words, wrong.remark) if wrong.remark else ""
        return Markup(" ").join(filter(None, (self.sentence(wrong.sentence, wrong.holes), remark)))

    # -- answers

    def page(
        self, template: str, *, status: int = 200, faults: Mapping[str, Markup], **values: object
    ) -> TrioResponse:
        """A page as an answer."""
        context = {"request": self, "faults": faults, **values}
        text = render(self.loaded, f"first_run/{template}", self, context)
        return html_response(self.http, text, status)

    def gone(self) -> TrioResponse:
        """The page of a link that does not work."""
        return self.page("gone.html", status=404, faults={})

    @staticmethod
    def go(page: str) -> TrioResponse:
        """Send the reader to another page."""
        response = TrioResponse(b"", 303, content_type="text/html; charset=utf-8")
        response.headers["location"] = f"{ROOT}/{page}"
        return response


async def begin(request: FirstRunPageRequest) -> TrioResponse:
    step = None if request.progress.is_finishing else request.progress.unanswered()
    return request.go("end" if step is None else f"step/{step.name}")


async def end(request: FirstRunPageRequest) -> TrioResponse:
    """All answers before the end, and the stages from then on."""
    progress = request.progress
    if progress.is_finishing or progress.ended is not None:
        stages = [_stage(request, each) for each in progress.stages]
        return request.page("end.html", faults={}, stages=stages, ended=progress.ended)
    step = progress.unanswered()
    if step is not None:
        return request.go(f"step/{step.name}")
    failed = Markup("{} {}").format(request.words(N_("It did not work.")), progress.failure)
    return request.page(
        "answers.html",
        faults={TOP: failed} if progress.failure else {},
        steps=[(each, _answered(request, each)) for each in steps_of(progress.answers)],
    )


async def finish(request: FirstRunPageRequest) -> TrioResponse:
    if not request.progress.is_finishing and request.progress.unanswered() is None:
        request.progress.finish()
    return request.go("end")


# -- a step


async def show(request: FirstRunPageRequest) -> TrioResponse:
    progress = request.progress
    if progress.is_finishing:
        return request.go("end")
    step = _step(request)
    if step.name in ("carrier", "modem"):
        async with progress.trying:
            modems = await progress.trials.choices("modem_port")
        if modems:
            progress.answers.setdefault("modem_found", modems[0][0])
    return await _draw(request, step, progress.answers, {})


async def submit(request: FirstRunPageRequest) -> TrioResponse:
    progress, form = request.progress, request.form
    if progress.is_finishing:
        return request.go("end")
    step = _step(request)
    entered = {each.name: _typed(each, form) for each in step.questions}
    answers, faults, wrong = await progress.read(step, entered, tries=not form.ticked(_ANYWAY))
    explained = {name: request.explained(each) for name, each in faults.items()}
    if wrong is not None:
        explained[TOP] = request.explained(wrong)
    if explained:
        typed = {each.name: entered[each.name] for each in step.questions if not each.secret}
        return await _draw(request, step, {**answers, **typed}, explained)
    progress.answers = answers
    steps = steps_of(answers)
    after = steps[steps.index(step) + 1 :]
    return request.go(f"step/{after[0].name}" if after else "end")


def _step(request: FirstRunPageRequest) -> FirstRunStep:
    name, answers = request.here.rpartition("/")[2], request.progress.answers
    step = next((each for each in steps_of(answers) if each.name == name), None)
    # The country comes first: money and numbers are read by it.
    if step is None or (name != "country" and "country" not in answers):
        raise plain(404)
    return step


def _typed(question: Question, form: SentForm) -> str:
    """The answer of a form; a password keeps the spaces around it."""
    if question.secret:
        return str(form.fields.get(question.name, ("",))[-1])
    # A box that is not ticked is not sent.
    return form.text(question.name) or (NO if question.reads is yes_or_no else "")


async def _draw(
    request: FirstRunPageRequest,
    step: FirstRunStep,
    answers: Mapping[str, str],
    faults: Mapping[str, Markup],
) -> TrioResponse:
    progress = request.progress
    steps = steps_of(progress.answers)
    number = steps.index(step)
    questions, known = [], dict(answers)
    for each in step.questions:
        if each.hides and not each.when(known):
            continue
        value = "" if each.secret else offered(each, known, progress.standing)
        known.setdefault(each.name, value)  # the next default may follow from it
        is_kept = each.secret and bool(progress.answers.get(each.name))
        choices = await _choices(request, each)
        if (
            each.name in ("country", "http_preset") and not value
        ):  # nobody may take the first one by mistake
            choices = [("", request.words(each.missing)), *choices]
        questions.append((each, value, choices, is_kept, each.is_optional(known)))
    return request.page(
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


async def _choices(request: FirstRunPageRequest, question: Question) -> Choices:
    if question.name == "country":
        from risala.sms.numbering.library import country_codes

        language = request.words.language
        named = [(code, country_name(language, code, code)) for code in country_codes()]
        return sorted(named, key=lambda each: each[1])
    if question.looked_up:
        choices = await request.progress.trials.choices(question.name)
        titles = {key: request.words(title) for key, title in AGGREGATORS.items()}
        return [(key, titles.get(key, label)) for key, label in choices]
    return [(key, request.words(label)) for key, label in question.choices]


# -- all answers, and the end


def _answered(request: FirstRunPageRequest, step: FirstRunStep) -> list[tuple[Question, str]]:
    answers = request.progress.answers
    return [
        (each, _answer(request, each, answers.get(each.name, "")))
        for each in step.questions
        if each.when(answers)
    ]


def _answer(request: FirstRunPageRequest, question: Question, value: str) -> str:
    if question.secret and value:
        return "•••"
    label = dict(question.choices).get(value)
    if label is None and question.reads is yes_or_no:
        label = N_("yes") if value == YES else N_("no")
    return value if label is None else request.words(label)


def _filled(sentence: str, stage: Stage) -> Markup:
    """A driver's sentence, each value in an isolate."""
    apart = {name: Markup("<bdi>{}</bdi>").format(each) for name, each in stage.holes.items()}
    return escape(sentence).format(**apart)


def _stage(request: FirstRunPageRequest, stage: Stage) -> tuple[str, str, Markup]:
    """A stage's kind, its shape, and its sentence."""
    parts = [
        request.sentence(stage.sentence, stage.holes)
        if stage.spoken is None
        else _filled(stage.spoken[request.words.language.value], stage)
    ]
    if stage.cause is not None and stage.cause in [*Cause]:
        parts.append(escape(CAUSE_SENTENCES[Cause(stage.cause)][request.words.language.value]))
    if stage.remark:
        parts.append(Markup('<q dir="auto" lang="en">{}</q>').format(stage.remark))
    return stage.kind, _SHAPES[stage.kind], Markup(" ").join(parts)
