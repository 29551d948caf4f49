"""Answers without a program: rules are made, changed, ordered and tried; a pause is ended."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.answers import rule_records as records
from risala.engine.features.answers.forward_fields import ForwardFields, tried
from risala.engine.features.answers.rule_records import (
    DAYS,
    KEYWORD_MAX,
    KEYWORDS_MAX,
    RULE_NAME_MAX,
    RULE_TEXT_MAX,
    RULES_MAX,
    AnswerRule,
    AnswerRules,
    PausedNumber,
    SentByRule,
    TriedText,
)
from risala.engine.features.answers.rules.matching import (
    VARIABLES,
    VARIABLES_MAX,
    answer_of,
    is_time,
    template_fault,
)
from risala.engine.features.answers.stored.both_queues import AnswerQueues
from risala.engine.features.answers.stored.queue import AnswerRepository
from risala.engine.features.answers.stored.rules import AnswerRuleRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeNumber,
    MaybeWhole,
    Number,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
    name_text,
    one_of,
    text,
    texts,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage, masked
from risala.engine.model.people import Language
from risala.engine.model.records.search import Findable
from risala.engine.operations.messages import OfMessage
from risala.engine.rules.keywords import folded, keyword_of
from risala.engine.rules.roles import DEVELOPERS, READERS, VIEWERS
from risala.engine.services import Services
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.plan import EXAMPLE

_language: Final = one_of("invalid_language", [each.value for each in Language])


_VARIABLES: Final = {
    "too_many_variables": f"`{{name}}` can have at most {VARIABLES_MAX} variables.",
    "unknown_variable": f"A variable of `{{name}}` is not known: known are {', '.join(VARIABLES)}.",
}


def _keywords(value: object) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(each.strip() for each in texts(value) if each.strip()))
    if len(words) > KEYWORDS_MAX:
        raise fault("too_many_keywords", f"`{{name}}` can have at most {KEYWORDS_MAX} words.")
    for each in words:
        # One sign may stand for eighteen letters: what is held against each text counts.
        longest = max(len(each), len(folded(each[: KEYWORD_MAX + 1])))
        if longest > KEYWORD_MAX or len(each.split()) > 1 or not keyword_of(each):
            sentence = f"Each of `{{name}}` is one word of at most {KEYWORD_MAX} characters."
            raise fault("invalid_keyword", sentence)
    return words


def _days(value: object) -> tuple[str, ...]:
    days = texts(value)
    if any(each not in DAYS for each in days):
        raise fault("unknown_word", f"`{{name}}` must be of {', '.join(DAYS)}.")
    return tuple(each for each in DAYS if each in days)


def _time(value: object) -> str | None:
    """A time of day; an empty text: none."""
    time = any_text(value)
    if time and not is_time(time):
        raise fault("invalid_time", "`{name}` must be a time of day such as 18:00.")
    return time or None


def _order(value: object) -> int:
    place = whole(value)
    if not 1 <= place <= RULES_MAX:
        raise fault("invalid_number", f"`{{name}}` must be 1 to {RULES_MAX}.")
    return place


def _answer(value: object) -> str:
    answer = any_text(value)
    if len(answer) > RULE_TEXT_MAX:
        raise fault("too_long", f"`{{name}}` can have at most {RULE_TEXT_MAX} characters.")
    wrong = template_fault(answer)
    if wrong is not None:
        raise fault(wrong, _VARIABLES[wrong])
    return answer


def _tried(value: object) -> str:
    written = text(value)
    if len(written) > TEXT_CHARACTERS_MAX:
        raise fault("too_long", f"`{{name}}` can have at most {TEXT_CHARACTERS_MAX} characters.")
    return written


_NAME: Final = ArgumentKind(f"text, at most {RULE_NAME_MAX} characters")
_BODY: Final = ArgumentKind(f"text, at most {RULE_TEXT_MAX} characters")
_Words = Annotated[
    tuple[str, ...] | None,
    PlainValidator(maybe(_keywords)),
    ArgumentKind(f"list of at most {KEYWORDS_MAX} words"),
]
_Days = Annotated[
    tuple[str, ...] | None, PlainValidator(maybe(_days)), ArgumentKind("list of `mon` to `sun`")
]
_Time = Annotated[str | None, PlainValidator(maybe(_time)), ArgumentKind("time of day, or empty")]
_Place = Annotated[
    int | None, PlainValidator(maybe(_order)), ArgumentKind(f"whole number, 1 to {RULES_MAX}")
]
_Language = Annotated[
    str | None, PlainValidator(maybe(_language)), ArgumentKind("`fr`, `ar` or `en`")
]
_Answer = Annotated[str | None, PlainValidator(maybe(_answer)), _BODY]


class _Fields(ForwardFields):
    """What a rule may have beside its name."""

    place: _Place = None
    """The rule's place among all; a new one without a place comes last."""
    enabled: MaybeFlag = None
    """A new one is switched on."""
    keywords: _Words = None
    """Words of which the text has one; none: any text. Case, accents and signs do not matter."""
    anywhere: MaybeFlag = None
    """Whether the word may stand anywhere in the text; else it is the first."""
    first_contact: MaybeFlag = None
    """Only the first text of a number."""
    days: _Days = None
    """Days on which its hours begin; none: every day."""
    from_time: _Time = None
    """From this time of day on, such as `18:00`, in the organization's time zone."""
    to_time: _Time = None
    """Until before this time of day, perhaps on the next day."""
    language: _Language = None
    """The language of the answer if there is none in that of the text; a new rule has `fr`."""
    text_fr: _Answer = Field(default=None, repr=False)
    """The answer in French, with `{{number}}`, `{{name}}`, `{{keyword}}`, `{{date}}` or `{{time}}`;
    all three empty: nothing is answered."""
    text_ar: _Answer = Field(default=None, repr=False)
    """The answer in Arabic."""
    text_en: _Answer = Field(default=None, repr=False)
    """The answer in English."""


class CreateRule(OfOrganization, _Fields):
    """Answer texts that come in, without a program."""

    name: Annotated[str, PlainValidator(name_text(RULE_NAME_MAX)), _NAME] = Field(
        examples=["Opening hours"]
    )


class OfRule(Arguments):
    """Names one rule."""

    rule_id: Text = Field(examples=["rul_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])


class SetRule(OfRule, _Fields):
    """Change a rule; a value that is not given stays as it is."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(RULE_NAME_MAX))), _NAME] = None
    version: MaybeWhole = None
    """The version as ``answer.show`` has it; None: whatever changed meanwhile."""


class TryText(OfOrganization):
    """What a text would be answered now; nothing is sent."""

    text: Annotated[
        str,
        PlainValidator(_tried),
        ArgumentKind(f"text, at most {TEXT_CHARACTERS_MAX} characters"),
    ] = Field(repr=False, examples=["Vos horaires ?"])
    number: MaybeNumber = None
    """The number that writes; without one, somebody who has not written yet."""


class ResumeAnswers(OfOrganization):
    """Let automatic answers to a number leave again."""

    number: Number = Field(examples=[EXAMPLE])


_KEYWORDS: Final = "(SELECT group_concat(value, ' · ') FROM json_each(keywords))"
FOUND: Final = (
    Findable(
        kind="rule",
        table="answer_rules",
        title="name",
        names=("name", _KEYWORDS),
        texts=("text_fr", "text_ar", "text_en"),
        prefix="rul",
        newest="created_at",
        note=_KEYWORDS,
        page="answers/{}",
    ),
)
"""What a search finds of rules that answer; over all organizations nothing."""
OPERATIONS: Final = Operations()
_READ: Final[dict[str, Any]] = {"roles": VIEWERS, "operators": READERS}


def of_rule(services: Services, arguments: OfRule) -> str:
    """The organization of a rule. Raises ``NotFound``."""
    stored = services.repositories.part(AnswerRuleRepository)
    return stored.find(arguments.rule_id).organization_id


_RULE: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": of_rule, "changes": AnswerRule}


@OPERATIONS(records.LIST, owner=owners.named, **_READ)
async def _list(call: Call[OfOrganization]) -> AnswerRules:
    organization_id = call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    rules = call.stored(AnswerRuleRepository).of_organization(organization_id)
    paused = call.stored(AnswerRepository).paused(organization_id, call.now_ms)
    return AnswerRules(tuple(rules), tuple(paused))


@OPERATIONS(records.SHOW, owner=of_rule, versioned_by="rule_id", **_READ)
async def _show(call: Call[OfRule]) -> AnswerRule:
    return call.stored(AnswerRuleRepository).find(call.arguments.rule_id)


@OPERATIONS(records.CREATE, owner=owners.named, roles=DEVELOPERS, changes=AnswerRule)
async def _create(call: Call[CreateRule]) -> AnswerRule:
    arguments = call.arguments
    arguments.check(call.services.settings.webhooks)
    new = AnswerRule(
        id=call.services.ids.new("rul"),
        organization_id=arguments.organization_id,
        name=arguments.name,
        place=0,
        enabled=arguments.enabled is not False,
        keywords=arguments.keywords or (),
        anywhere=bool(arguments.anywhere),
        first_contact=bool(arguments.first_contact),
        days=arguments.days or (),
        from_time=arguments.from_time,
        to_time=arguments.to_time,
        language=arguments.language or Language.FRENCH.value,
        text_fr=arguments.text_fr or "",
        text_ar=arguments.text_ar or "",
        text_en=arguments.text_en or "",
        created_at=call.now_ms,
        forward_number=arguments.forward_number or "",
        forward_email=arguments.forward_email or "",
        forward_chat=arguments.forward_chat or "",
        forward_url=arguments.forward_url or "",
    )
    by = call.audit(AuditImage.ANSWER_RULE)
    return await call.stored(AnswerRuleRepository).add(
        by, new, arguments.place, arguments.secrets()
    )


@OPERATIONS(records.SET, versioned_by="rule_id", **_RULE)
async def _set(call: Call[SetRule]) -> AnswerRule:
    arguments = call.arguments
    arguments.check(call.services.settings.webhooks)
    values = {
        name: value
        for name, value in arguments.given_of(AnswerRule).items()
        if name != "place" and (value is not None or name in ("from_time", "to_time"))
    }
    return await call.stored(AnswerRuleRepository).change(
        _signed(call), arguments.rule_id, values, arguments.place, arguments.secrets()
    )


@OPERATIONS(records.DELETE, **_RULE)
async def _delete(call: Call[OfRule]) -> AnswerRule:
    return await call.stored(AnswerRuleRepository).delete(_signed(call), call.arguments.rule_id)


def _signed(call: Call[Any]) -> AuditEntry:
    return call.audit(AuditImage.ANSWER_RULE, call.arguments.rule_id)


@OPERATIONS(records.TRY, owner=owners.named, **_READ)
async def _try(call: Call[TryText]) -> TriedText:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    stored = call.stored(AnswerRuleRepository)
    matched = stored.tried(
        arguments.organization_id, arguments.text, arguments.number or "", call.now_ms
    )
    if matched is None:
        return TriedText(None, None)
    forwards = tried(stored, matched.rule, arguments.text, arguments.number)
    return TriedText(matched.rule, answer_of(matched, arguments.text), forwards)


@OPERATIONS(records.SENT, owner=owners.of_message, **_READ)
async def _sent(call: Call[OfMessage]) -> SentByRule:
    owners.of_message(call.services, call.arguments)  # an operator's call asks for no owner
    return call.stored(AnswerQueues).sent_by(call.arguments.message_id)


@OPERATIONS(records.RESUME, owner=owners.named, roles=DEVELOPERS, changes=PausedNumber)
async def _resume(call: Call[ResumeAnswers]) -> PausedNumber:
    arguments = call.arguments
    subject = masked(arguments.number)
    by = call.audit(subject=subject, organization_id=arguments.organization_id)
    await call.stored(AnswerRepository).lift(
        by, arguments.organization_id, arguments.number, call.now_ms
    )
    return PausedNumber(arguments.number, call.now_ms)
