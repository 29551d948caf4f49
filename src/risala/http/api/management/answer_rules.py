"""Rules that answer texts, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.features.answers import rule_records as records
from risala.engine.features.answers.rule_records import (
    RULE_NAME_MAX,
    RULE_TEXT_MAX,
    RULES_MAX,
    AnswerRule,
)
from risala.engine.model.commands import Principal
from risala.engine.model.errors import NotFound
from risala.engine.model.states import Mode
from risala.http.api import answers, fields
from risala.http.api.fields import Compared
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

MISSING: Final = "No rule has this id, or automatic answers to this number are not paused."
NO_TEXTS: Final = "A test key has no rules: no text comes in for it. Use a live key."
RuleId = Annotated[
    str,
    Field(
        alias="ruleId",
        min_length=1,
        json_schema_extra={"pattern": fields.FIT_PATTERN},
        examples=["rul_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
    ),
]
RuleText = Annotated[
    str, Field(max_length=RULE_TEXT_MAX, json_schema_extra={"pattern": fields.FIT_PATTERN})
]
RuleName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=RULE_NAME_MAX,
        json_schema_extra={"pattern": fields.FIT_PATTERN},
        examples=["Opening hours"],
    ),
]
Word = Annotated[str, Field(json_schema_extra={"pattern": fields.FIT_PATTERN})]
Flag = Annotated[bool, Field(strict=True)]


class RuleFieldsBody(RequestBody):
    """What a rule may have beside its name; the answer says what each is."""

    place: Annotated[int | None, Field(ge=1, le=RULES_MAX), fields.WHOLE] = None
    enabled: Flag | None = None
    keywords: list[Word] | None = None
    anywhere: Flag | None = None
    first_contact: Annotated[Flag | None, Field(alias="firstContact")] = None
    days: list[Word] | None = None
    from_time: Annotated[Word | None, Field(alias="fromTime")] = None
    to_time: Annotated[Word | None, Field(alias="toTime")] = None
    language: Word | None = None
    text_fr: Annotated[RuleText | None, Field(alias="textFr", repr=False)] = None
    text_ar: Annotated[RuleText | None, Field(alias="textAr", repr=False)] = None
    text_en: Annotated[RuleText | None, Field(alias="textEn", repr=False)] = None
    forward_number: Annotated[Word | None, Field(alias="forwardNumber")] = None
    forward_email: Annotated[Word | None, Field(alias="forwardEmail")] = None
    forward_chat: Annotated[Word | None, Field(alias="forwardChat")] = None
    forward_url: Annotated[Word | None, Field(alias="forwardUrl", repr=False)] = None
    bot_token: Annotated[
        Word | None,
        Field(
            alias="botToken",
            repr=False,
            description="The token of the bot for `forwardChat`; no answer has it.",
        ),
    ] = None
    forward_secret: Annotated[
        Word | None,
        Field(
            alias="forwardSecret",
            repr=False,
            description="`whsec_` and the Base64 of 24 to 64 random bytes: signs the calls of"
            " `forwardUrl` as webhooks are signed. No answer has it.",
        ),
    ] = None


class CreateRuleBody(RuleFieldsBody):
    """A rule that answers texts which come in."""

    name: RuleName


class UpdateRuleBody(RuleFieldsBody):
    """What is to be another. What is left out stays as it is."""

    rule_id: RuleId
    name: RuleName | None = None


class RuleBody(RequestBody):
    """Which rule."""

    rule_id: RuleId


class TryTextBody(RequestBody):
    """A text, as if it came in now."""

    text: fields.MessageText
    number: Annotated[
        fields.Number | None,
        Field(description="Who writes; without it, somebody who has not written yet."),
    ] = None


class ResumeAnswersBody(RequestBody):
    """To which number."""

    number: fields.Number


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/answers/…``."""
    rules = _AnswerRules(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/answers/list": rules.list,
        "/api/answers/create": rules.create,
        "/api/answers/update": rules.update,
        "/api/answers/delete": rules.delete,
        "/api/answers/try": rules.try_text,
        "/api/answers/resume": rules.resume,
    }


@dataclass(frozen=True, slots=True)
class _AnswerRules:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody], *, of_organization: bool = False
    ) -> tuple[Principal, dict[str, Any]]:
        """The key that asks, and the arguments of its body.

        Raises:
            NotFound: for a test key.
        """
        principal = self.auth.secret(request)
        members = parse_body(model, await read_body(request), self.context()).given()
        if principal.mode is Mode.TEST:
            raise NotFound(NO_TEXTS)
        mine = {"organization_id": principal.organization_id} if of_organization else {}
        return principal, {**members, **mine}

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal = self.auth.secret(request)
        parse_body(EmptyBody, await read_body(request))
        if principal.mode is Mode.TEST:
            return PlainAnswer(json_bytes({"items": [], "paused": []}))
        mine = principal.organization_id
        listed = await self.performer.ask(principal, records.LIST, organization_id=mine)
        items = [answers.ANSWER_RULE.wire(each) for each in listed.rules]
        paused = [answers.PAUSED_NUMBER.wire(each) for each in listed.paused]
        return PlainAnswer(json_bytes({"items": items, "paused": paused}))

    async def create(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, CreateRuleBody, of_organization=True)
        return _rule(await self.performer.ask(principal, records.CREATE, **arguments))

    async def update(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, UpdateRuleBody)
        return _rule(await self.performer.ask(principal, records.SET, **arguments))

    async def delete(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, RuleBody)
        return _rule(await self.performer.ask(principal, records.DELETE, **arguments))

    async def try_text(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, TryTextBody, of_organization=True)
        tried = await self.performer.ask(principal, records.TRY, **arguments)
        rule = None if tried.rule is None else answers.ANSWER_RULE.wire(tried.rule)
        forwards = [answers.TRIED_FORWARD.wire(each) for each in tried.forwards]
        members = {"rule": rule, "answer": tried.answer, "forwards": forwards}
        return PlainAnswer(json_bytes(members))

    async def resume(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ResumeAnswersBody, of_organization=True)
        resumed = await self.performer.ask(principal, records.RESUME, **arguments)
        return PlainAnswer(json_bytes(answers.PAUSED_NUMBER.wire(resumed)))


def _rule(rule: AnswerRule) -> PlainAnswer:
    return PlainAnswer(json_bytes(answers.ANSWER_RULE.wire(rule)))
