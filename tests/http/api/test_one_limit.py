"""A body of the API has the members of the operation that it asks for, and their limits.

Each member that has a limit is filled to it, and one beyond it; body and operation must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from risala.config.model import WebhooksSection
from risala.engine.features.alarms import operations as alarms
from risala.engine.features.answers import operations as answer_rules
from risala.engine.features.code_figures import operations as code_figures
from risala.engine.features.conversations import operations as conversations
from risala.engine.features.invoices import operations as invoices
from risala.engine.features.opt_out_words import operations as opt_out_words
from risala.engine.features.repeats import operations as repeats
from risala.engine.features.search import operations as search
from risala.engine.features.statements import operations as statements
from risala.engine.kernel import arguments
from risala.engine.kernel.arguments import Arguments
from risala.engine.model.errors import Invalid
from risala.engine.model.records.record import camel
from risala.engine.model.records.webhooks import Endpoint
from risala.engine.operations import (
    deliveries,
    inbound,
    message_lists,
    messages,
    money,
    verify,
    webhooks,
)
from risala.engine.rules.webhooks import shapes
from risala.engine.rules.webhooks.types import TYPES
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of
from risala.engine.webhooks.endpoints import setting_faults
from risala.http.api.derived import BY_KEY, NOT_FOR_PROGRAMS
from risala.http.api.openapi import document
from risala.http.common.validation import names_of

TO = "+22236123456"
ENDPOINT = Endpoint(
    id="whe_1",
    organization_id="org_1",
    mode="live",
    url="",
    types=TYPES,
    created_at=0,
    updated_at=0,
)
MINE = {
    "organization_id": "org_1",
    "to": TO,
    "body": "x",
    "name": "Hours",
    "rule_id": "rul_1",
    "text": "x",
    "query": "x",
    "role": "stop",
    "language": "fr",
    "list_id": "lst_1",
    "repeat_id": "rpt_1",
    "chain_id": "alc_1",
    "alarm_id": "alm_1",
    "people": [TO],
    "unit": "weeks",
    "time": "10:00",
    "number": TO,
}


def by_operation(model: type, name: str) -> Callable[[object], bool]:
    def takes(value: object) -> bool:
        try:
            arguments.parse(model, {**{k: MINE[k] for k in required(model)}, name: value})
        except Invalid as error:
            return all(fault.path != name for fault in error.faults)
        return True

    return takes


def required(model: type) -> list[str]:
    return [name for name, each in model.model_fields.items() if each.is_required()]


def takes_url(value: object) -> bool:
    try:
        parse_target(str(value), rules_of(WebhooksSection()))
    except UrlRefused as refused:
        return "characters" not in str(refused)
    return True


def takes_field(name: str) -> Callable[[object], bool]:
    def takes(value: object) -> bool:
        faults = setting_faults(replace(ENDPOINT, **{name: value}))
        return all(fault.path != name for fault in faults)

    return takes


def takes_template(value: object) -> bool:
    return all(fault.code != "too_long" for fault in shapes.shape_faults("form", str(value), ""))


def url_of(size: int) -> str:
    return "https://example.com/".ljust(size, "x")


def text_of(size: int) -> str:
    return "x" * size


Judge = Callable[[object], bool]
SAME: dict[tuple[str, str], tuple[Judge, Callable[[int], object]]] = {
    ("SendBody", "body"): (by_operation(messages.Send, "body"), text_of),
    ("SendBody", "idempotencyKey"): (by_operation(messages.Send, "idempotency_key"), text_of),
    ("SendBody", "from"): (by_operation(messages.Send, "from"), text_of),
    ("SendBody", "validitySeconds"): (by_operation(messages.Send, "validity_s"), int),
    ("ReplyBody", "body"): (by_operation(conversations.ReplyInConversation, "body"), text_of),
    ("ReplyBody", "idempotencyKey"): (
        by_operation(conversations.ReplyInConversation, "idempotency_key"),
        text_of,
    ),
    ("CreateRuleBody", "place"): (by_operation(answer_rules.CreateRule, "place"), int),
    ("UpdateRuleBody", "place"): (by_operation(answer_rules.SetRule, "place"), int),
    ("OptOutAnswerBody", "text"): (by_operation(opt_out_words.SetOptOutAnswer, "text"), text_of),
    ("ListOptOutBody", "note"): (by_operation(opt_out_words.OfListedNumber, "note"), text_of),
    **{
        (body, name): (by_operation(model, argument), make)
        for body, model in (
            ("CreateRepeatBody", repeats.CreateRepeat),
            ("UpdateRepeatBody", repeats.SetRepeat),
        )
        for name, argument, make in (
            ("name", "name", text_of),
            ("text", "text", text_of),
            ("pace", "pace", int),
            ("every", "every", int),
            ("count", "count", int),
            ("fromHour", "from_hour", int),
            ("toHour", "to_hour", int),
        )
    },
    **{
        (body, name): (by_operation(model, argument), make)
        for body, model in (
            ("CreateChainBody", alarms.CreateChain),
            ("UpdateChainBody", alarms.SetChain),
        )
        for name, argument, make in (
            ("name", "name", text_of),
            ("people", "people", lambda count: [TO] * count),
            ("intervalSeconds", "interval_seconds", int),
            ("rounds", "rounds", int),
            ("word", "word", text_of),
        )
    },
    ("RaiseBody", "text"): (by_operation(alarms.RaiseAlarm, "text"), text_of),
    ("RaiseBody", "idempotencyKey"): (
        by_operation(alarms.RaiseAlarm, "idempotency_key"),
        text_of,
    ),
    ("TryTextBody", "text"): (by_operation(answer_rules.TryText, "text"), text_of),
    ("SearchBody", "query"): (by_operation(search.FindAnything, "query"), text_of),
    ("EstimateBody", "body"): (by_operation(messages.EstimateMessage, "body"), text_of),
    ("EstimateBody", "messageClass"): (
        by_operation(messages.EstimateMessage, "message_class"),
        int,
    ),
    **{
        (body, name): (by_operation(arguments, camelless), text_of)
        for body, arguments in (
            ("CreateRuleBody", answer_rules.CreateRule),
            ("UpdateRuleBody", answer_rules.SetRule),
        )
        for name, camelless in (
            ("name", "name"),
            ("textFr", "text_fr"),
            ("textAr", "text_ar"),
            ("textEn", "text_en"),
        )
    },
    **{
        (body, name): (judge, make)
        for body in ("CreateEndpointBody", "UpdateEndpointBody")
        for name, judge, make in (
            ("url", takes_url, url_of),
            ("description", takes_field("description"), text_of),
            ("signatureHeader", takes_field("signature_header"), text_of),
            ("template", takes_template, text_of),
        )
    },
}
ALONE = {
    ("SendBody", "metadata"): "programs alone give it",
    ("SendBody", "messageClass"): "programs alone give it",
    ("BatchBody", "messages"): "programs alone send batches",
    ("SendCodeBody", "userAgent"): "programs alone give it",
    ("SendCodeBody", "tags"): "programs alone give them",
    ("SendCodeBody", "payee"): "programs alone give it",
    ("SendCodeBody", "template"): "programs alone give it",
    ("SendCodeBody", "variables"): "programs alone give them",
    ("CheckCodeBody", "payee"): "programs alone give it",
    ("ResendCodeBody", "channel"): "programs alone ask for a code again",
    ("CheckCodeBody", "code"): "the command reads any text",
    ("ListMessagesBody", "from"): "a filter: a longer one finds nothing",
    ("ListInboundBody", "from"): "a filter",
    ("ListInboundBody", "to"): "a filter",
    ("ListConversationsBody", "assignedTo"): "a filter",
    ("MarkBody", "assignedTo"): "a longer one is no member's",
    **{
        (body, "number"): "a longer one is nobody's"
        for body in ("GetConversationBody", "ReplyBody", "MarkBody")
    },
    **{
        (body, "limit"): "contract §8: 1 to 100; pages may have more"
        for body in (
            "ListMessagesBody",
            "ListVerificationsBody",
            "ListInboundBody",
            "ListEntriesBody",
            "ListDeliveriesBody",
            "ListConversationsBody",
            "ListInvoicesBody",
            "GetConversationBody",
        )
    },
}
CURSORS = {"before", "after"}
BODIES = {each.body.__name__: each.body for each in document.OPERATIONS if each.body is not None}


def limited() -> dict[tuple[str, str], tuple[int | None, int]]:
    """Least and most of each member of a body that has a most."""
    found = {}
    for body, model in BODIES.items():
        for member, schema in model.model_json_schema().get("properties", {}).items():
            for each in (schema, *schema.get("anyOf", ())):
                most = [each[key] for key in MOST if key in each]
                least = [each[key] for key in LEAST if key in each]
                if most and member not in CURSORS:
                    found[body, member] = (least[0] if least else None, most[0])
    return found


MOST = ("maxLength", "maximum", "maxItems", "maxProperties")
LEAST = ("minLength", "minimum", "minItems")


ASKED: dict[str, tuple[type[Arguments], ...]] = {
    "SendBody": (messages.Send,),
    "GetBody": (messages.OfMessage,),
    "EstimateBody": (messages.EstimateMessage,),
    "SendCodeBody": (verify.SendCodeTo,),
    "CheckCodeBody": (verify.CheckCode,),
    "GetVerificationBody": (verify.OfVerification,),
    "ListMessagesBody": (message_lists.ListMessages,),
    "ListVerificationsBody": (verify.ListSessions,),
    "CodeFiguresBody": (code_figures.SumCodes,),
    "ListInboundBody": (inbound.ListReceived,),
    "ListConversationsBody": (conversations.ListConversations,),
    "ListInvoicesBody": (invoices.ListInvoices,),
    "StatementBody": (statements.OfMonth,),
    "GetConversationBody": (conversations.GetConversation,),
    "ReplyBody": (conversations.ReplyInConversation,),
    "MarkBody": (conversations.MarkConversation,),
    "CreateRuleBody": (answer_rules.CreateRule,),
    "UpdateRuleBody": (answer_rules.SetRule,),
    "RuleBody": (answer_rules.OfRule,),
    "TryTextBody": (answer_rules.TryText,),
    "ResumeAnswersBody": (answer_rules.ResumeAnswers,),
    "UpdateOptOutsBody": (opt_out_words.SetOptOutWords,),
    "AddOptOutWordBody": (opt_out_words.AddOptOutWord,),
    "RemoveOptOutWordBody": (opt_out_words.NamesWord,),
    "OptOutAnswerBody": (opt_out_words.SetOptOutAnswer,),
    "ListOptOutBody": (opt_out_words.OfListedNumber,),
    "CreateRepeatBody": (repeats.CreateRepeat,),
    "UpdateRepeatBody": (repeats.SetRepeat,),
    "RepeatBody": (repeats.OfRepeat,),
    "CreateChainBody": (alarms.CreateChain,),
    "UpdateChainBody": (alarms.SetChain,),
    "ChainBody": (alarms.OfChain,),
    "RaiseBody": (alarms.RaiseAlarm,),
    "AlarmBody": (alarms.OfAlarm,),
    "ListEntriesBody": (money.ListEntries,),
    "SearchBody": (search.FindAnything,),
    "CreateEndpointBody": (webhooks.CreateEndpoint,),
    "UpdateEndpointBody": (webhooks.UpdateEndpoint,),
    "EndpointBody": (webhooks.OfEndpoint,),
    "RotateBody": (webhooks.RotateSecret,),
    "ListDeliveriesBody": (deliveries.ListDeliveries,),
    "ReplayBody": (deliveries.OfDelivery, deliveries.ReplayFailed),
}
BY_API = {
    ("SendBody", "metadata"): "programs alone give it",
    ("SendBody", "messageClass"): "programs alone give it",
    ("SendBody", "validitySeconds"): "`validity_s` of the operation",
    **{
        ("SendCodeBody", name): "programs alone give it"
        for name in (
            "clientIp",
            "userAgent",
            "tags",
            "code",
            "amount",
            "currency",
            "payee",
            "template",
            "variables",
            "channels",
            "challenge",
        )
    },
    **{
        ("CheckCodeBody", name): "programs alone give it"
        for name in ("amount", "currency", "payee", "reported")
    },
    ("ListInboundBody", "status"): "all have the same",
    ("ListEntriesBody", "kind"): "one of `kinds` of the operation",
    ("UpdateEndpointBody", "enabled"): "operations of their own",
}
BY_OTHERS = {
    ("SendBody", "urgent"): "for people",
    ("SendBody", "validityS"): "`validitySeconds` of the body",
    ("ListMessagesBody", "kind"): "codes are the verifications' matter",
    ("ListMessagesBody", "keyId"): "a filter of pages",
    ("ListMessagesBody", "cause"): "a filter of pages",
    ("ListMessagesBody", "contains"): "a filter of pages",
    ("ListVerificationsBody", "digits"): "a filter of pages",
    ("ListInboundBody", "digits"): "a filter of pages",
    ("ListInboundBody", "contains"): "a filter of pages",
    ("ListConversationsBody", "number"): "a filter of pages",
    ("ListConversationsBody", "digits"): "a filter of pages",
    ("ListConversationsBody", "contains"): "a filter of pages",
    ("ListConversationsBody", "optedOut"): "a filter of pages",
    ("CodeFiguresBody", "daily"): "what pages draw",
    ("ReplyBody", "seen"): "for people who answer at the same time",
    ("ListEntriesBody", "kinds"): "`kind` of the body",
    ("ListEntriesBody", "byHand"): "a filter of pages",
    ("ListInvoicesBody", "month"): "a filter of pages",
}


def test_each_body_asks_for_an_operation():
    assert BODIES.keys() - ASKED.keys() == {
        *("BatchBody", "EmptyBody", "ResendCodeBody", "StartVerificationBody")
    }


@pytest.mark.parametrize("name", ASKED)
def test_a_body_has_the_arguments_of_its_operation(name):
    members = names_of(BODIES[name])
    arguments = {
        camel(field.alias or each)
        for source in ASKED[name]
        for each, field in source.model_fields.items()
        if each not in BY_KEY | NOT_FOR_PROGRAMS
    }
    assert members - arguments == {member for body, member in BY_API if body == name}
    assert arguments - members == {member for body, member in BY_OTHERS if body == name}


def test_each_limit_of_a_body_is_compared_or_says_why_not():
    assert limited().keys() == SAME.keys() | ALONE.keys()


@pytest.mark.parametrize("member", SAME, ids=".".join)
def test_body_and_operation_have_the_same_limit(member):
    least, most = limited()[member]
    judge, make = SAME[member]
    assert judge(make(most))
    assert not judge(make(most + 1))
    if least is not None and least > 1:
        assert judge(make(least))
        assert not judge(make(least - 1))
