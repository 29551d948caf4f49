"""Both clients know what the API has: its document says what that is."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from risala.client import answers, webhooks
from risala.client.decoding import WIRE, camel
from risala.http.api.openapi.document import document

ROOT = Path(__file__).parents[2]
DOCUMENT = document()
ASKED = {path for path, item in DOCUMENT["paths"].items() if "post" in item}
SCHEMAS = DOCUMENT["components"]["schemas"]
SHAPES = {
    answers.SentMessage: "SendAnswer",
    answers.PendingSenderNotice: "Notice",
    answers.Message: "MessageAnswer",
    answers.StartedVerification: "SendCodeAnswer",
    answers.CheckedCode: "CheckAnswer",
    answers.CodeDelivery: "CodeDeliveryAnswer",
    answers.ReverseStart: "StartVerificationAnswer",
    answers.Verification: "VerificationAnswer",
    answers.CodeReportItem: "CodeFigure",
    answers.CodeReport: "CodeFiguresAnswer",
    answers.InboundMessage: "InboundAnswer",
    answers.Page: "MessagePage",
    answers.FoundThing: "FoundItem",
    answers.ConversationMessage: "ConversationMessage",
    answers.MarkedConversation: "ConversationAnswer",
    answers.ListedConversation: "ListedConversationAnswer",
    answers.ConversationThread: "ThreadAnswer",
    answers.ReplyRule: "AnswerRuleAnswer",
    answers.ForwardedText: "ForwardedAnswer",
    answers.TriedForward: "TriedForwardAnswer",
    answers.ReplyRules: "AnswerRulesAnswer",
    answers.PausedReplies: "PausedNumberAnswer",
    answers.TriedReply: "TriedTextAnswer",
    answers.EffectiveWord: "OptOutWordAnswer",
    answers.OptOutText: "OptOutTextAnswer",
    answers.NetworkDemand: "OptOutDemandAnswer",
    answers.OptOutSetup: "OptOutsAnswer",
    answers.ListedOptOut: "ListOptOutAnswer",
    answers.RepeatedMailing: "RepeatAnswer",
    answers.RepeatedMailingView: "RepeatViewAnswer",
    answers.ComingRun: "UpcomingRunAnswer",
    answers.PastRun: "RepeatRunAnswer",
    answers.OnCallChain: "AlarmChainAnswer",
    answers.OnCallChainView: "AlarmChainViewAnswer",
    answers.OnCallChains: "AlarmChainsAnswer",
    answers.OnCallAlarm: "AlarmAnswer",
    answers.OnCallAlarmView: "AlarmViewAnswer",
    answers.OnCallStep: "AlarmStepAnswer",
    answers.UnicodeCharacter: "OddCharacter",
    answers.MessageEstimate: "EstimateAnswer",
    answers.SegmentPrice: "SegmentPriceAnswer",
    answers.ServedCountry: "CountryAnswer",
    answers.OrganizationBalance: "BalanceAnswer",
    answers.LedgerLine: "LedgerEntryAnswer",
    answers.InvoiceIssuer: "IssuerAnswer",
    answers.BilledKind: "SourceCostAnswer",
    answers.BilledSender: "SenderCostAnswer",
    answers.BilledDay: "StatementDayAnswer",
    answers.InvoicedDay: "InvoiceDayAnswer",
    answers.UnbilledDay: "PartsDayAnswer",
    answers.BilledMonth: "StatementAnswer",
    answers.IssuedInvoice: "InvoiceAnswer",
    answers.SenderName: "SenderAnswer",
    answers.WebhookEndpoint: "EndpointSecretAnswer",
    answers.EndpointDelivery: "DeliveryAnswer",
    answers.ReplayedChunk: "ReplayedAnswer",
    webhooks.MessageEvent: "MessageEventModel",
    webhooks.InboundEvent: "InboundEventModel",
    webhooks.VerificationEvent: "VerificationEventModel",
    webhooks.SenderEvent: "SenderEventModel",
    webhooks.BalanceEvent: "BalanceEventModel",
    webhooks.ConversationEvent: "ConversationEventModel",
    webhooks.RepeatEvent: "RepeatEventModel",
    webhooks.TrialEvent: "TrialEventModel",
}
KINDS = {
    **dict.fromkeys((str, datetime, Decimal), "string"),
    int: "integer",
    bool: "boolean",
    Mapping: "object",
    type(None): "null",
}
NOT_READ = {
    # Said twice on the wire, or the same for each.
    *("accepted", "messageId", "createdAt", "status"),
    # Of an inbound event: what only an outgoing message can have.
    *("errorCode", "errorText", "carrierCode", "metadata"),
}


def members(kind: type) -> set[str]:
    """What a class reads, as the wire calls it."""
    fields = [each for each in dataclasses.fields(kind) if each.name != "data"]
    return {each.metadata.get(WIRE, camel(each.name)) for each in fields}


def test_every_path_has_its_method():
    source = "".join(path.read_text() for path in (ROOT / "src/risala/client").glob("*.py"))
    assert {*re.findall(r'"(/api/[a-z/-]+)"', source)} == ASKED


def test_the_javascript_module_asks_nothing_else():
    source = (ROOT / "clients/javascript/risala.js").read_text()
    assert {*re.findall(r'"(/api/[a-z/-]+)"', source)} < ASKED


def test_every_answer_and_event_has_its_shape():
    classes = [
        each
        for module in (answers, webhooks)
        for each in vars(module).values()
        if dataclasses.is_dataclass(each) and each.__module__ == module.__name__
    ]
    assert {*classes} - {*SHAPES} == {webhooks.WebhookEvent}


@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: kind.__name__)
def test_a_shape_has_the_members_of_the_document(kind):
    told, known = {*SCHEMAS[SHAPES[kind]]["properties"]}, members(kind)
    assert known <= told
    assert told - known <= NOT_READ, "client/answers.py lacks what the service tells"


def fits(hint: object, schema: dict) -> bool:
    """Whether the client reads a member as what it is in the document."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(fits(each, schema) for each in typing.get_args(hint))
    if hint in SHAPES:
        return schema.get("$ref") == f"#/components/schemas/{SHAPES[hint]}"
    if "anyOf" in schema:
        return any(fits(hint, each) for each in schema["anyOf"])
    if "$ref" in schema:
        return fits(hint, SCHEMAS[schema["$ref"].rpartition("/")[2]])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return {*typing.get_args(hint)} == {*schema["enum"]} - {None}
    if origin is tuple:
        (item, _) = typing.get_args(hint)
        return "array" in kinds and fits(item, schema["items"])
    return KINDS[origin or hint] in kinds


def may_be_null(schema: dict) -> bool:
    return {"type": "null"} in schema.get("anyOf", ()) or "null" in schema.get("type", ())


@pytest.mark.parametrize("kind", SHAPES, ids=lambda kind: kind.__name__)
def test_each_member_has_the_type_of_the_document(kind):
    hints, members = typing.get_type_hints(kind), SCHEMAS[SHAPES[kind]]["properties"]
    for field in dataclasses.fields(kind):
        if field.name == "data" or kind is answers.Page:  # of a page the item is a parameter
            continue
        name, hint = field.metadata.get(WIRE, camel(field.name)), hints[field.name]
        assert fits(hint, members[name]), f"{name} is {members[name]}, not {hint}"
        is_instant = members[name].get("format") == "date-time"
        assert is_instant == (datetime in (hint, *typing.get_args(hint))) or name == "until", name
        # A text with a pattern is an amount.
        assert "pattern" not in members[name] or Decimal in (hint, *typing.get_args(hint)), name
        if may_be_null(members[name]):
            has_default = field.default is not dataclasses.MISSING
            assert has_default or type(None) in typing.get_args(hint), f"{name} may be null"


def test_every_event_has_its_class():
    assert {*DOCUMENT["webhooks"]} == {*webhooks.KINDS}
