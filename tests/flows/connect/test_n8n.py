"""The node of *Connect n8n*: what n8n makes of its parameters (n8n-nodes-base 2.41.2,
``nodes/HttpRequest/V3``, read on 2026-11-30) is taken by the whole service, and sent once."""

from __future__ import annotations

import json
import re

import pytest

from doc_blocks import ROOT, blocks_of

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs/how-to/connect/n8n.md"
VALUES = {
    "$json.to": "+22236123456",
    "$json.text": "Salam",
    "$execution.id": "1",
    "$itemIndex": "0",
}


def evaluated(expression: str) -> str:
    """An expression of n8n's, which begins with ``=``."""
    assert expression.startswith("=")
    return re.sub(r"\{\{ (.+?) \}\}", lambda match: VALUES[match[1]], expression[1:])


def test_the_first_execution_sends_and_its_repeat_does_not(premises):
    (node,) = next(
        json.loads(each.text)["nodes"] for each in blocks_of(PAGE) if each.language == "json"
    )
    parameters = node["parameters"]
    assert node["type"] == "n8n-nodes-base.httpRequest"
    assert (parameters["method"], parameters["sendBody"]) == ("POST", True)
    body = {
        each["name"]: evaluated(each["value"])
        for each in parameters["bodyParameters"]["parameters"]
    }
    simulator = premises.simulator()
    service = premises.running(simulator)
    account = service.organization()
    path = parameters["url"].removeprefix("https://sms.example")
    for _ in range(2):
        answer = service.client.post(path, json=body, headers={"x-api-key": account.secret_key})
        assert answer.status_code == 200, answer.text
    service.wait_settled()
    assert [each.text for each in simulator.received()] == ["Salam"]
