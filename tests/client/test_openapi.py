"""Both clients know what the API has: its document says what that is."""

from __future__ import annotations

import dataclasses
import re
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
    answers.Verification: "VerificationAnswer",
    answers.InboundMessage: "InboundAnswer",
    answers.Page: "MessagePage",
    answers.UnicodeCharacter: "OddCharacter",
    answers.MessageEstimate: "EstimateAnswer",
    answers.OrganizationBalance: "BalanceAnswer",
    answers.LedgerLine: "LedgerEntryAnswer",
    answers.SenderName: "SenderAnswer",
    answers.WebhookEndpoint: "EndpointSecretAnswer",
    answers.EndpointDelivery: "DeliveryAnswer",
    answers.ReplayedChunk: "ReplayedAnswer",
    webhooks.MessageEvent: "MessageEventModel",
    webhooks.InboundEvent: "InboundEventModel",
    webhooks.VerificationEvent: "VerificationEventModel",
    webhooks.SenderEvent: "SenderEventModel",
    webhooks.BalanceEvent: "BalanceEventModel",
    webhooks.TrialEvent: "TrialEventModel",
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
    assert {*re.findall(r'"(/api/[a-z/]+)"', source)} == ASKED


def test_the_javascript_module_asks_nothing_else():
    source = (ROOT / "clients/javascript/risala.js").read_text()
    assert {*re.findall(r'"(/api/[a-z/]+)"', source)} < ASKED


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
    assert told - known <= NOT_READ, "the service tells more than the client reads"


def test_every_event_has_its_class():
    assert {*DOCUMENT["webhooks"]} == {*webhooks.KINDS}
