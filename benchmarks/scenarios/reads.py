"""What is asked about messages, codes that are sent and checked, and pages."""

from __future__ import annotations

import json
from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.stand import TEXT, TO, Data, Stand
from benchmarks.trees import Tree

_ASKED_FOR = 200
"""Messages that are asked for in turn: more than one page of the table."""


def _sent(data: Data) -> list[str]:
    """Ids of messages that the service has accepted."""
    messages = [{"to": TO, "body": TEXT}] * _ASKED_FOR
    answer = processes.post_once(data.port, "/api/sms/batch", data.headers, {"messages": messages})
    return [each["messageId"] for each in answer["results"]]


def _get(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)
    bodies = [json.dumps({"messageId": each}) for each in _sent(data)]

    def measure() -> dict[str, float]:
        found = data.post("/api/sms/get", bodies, connections=64, seconds=stand.seconds)
        return {"get 64": found["per_s"]}

    return measure


_FOR_WHOM = {"clientIp": "203.0.113.9", "userAgent": "Firefox/133", "tags": ["sign-up"]}
"""What a server says of a code; it is stored with the session."""


def _pairs(connections: int, goals: tuple[Goal, ...], **said: object) -> Scenario:
    name = f"verify pairs {connections}{', for whom is said' if said else ''}"

    def start(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
        data = stand.service(tree)

        def measure() -> dict[str, float]:
            found = processes.load(
                flow="pairs",
                headers={"x-api-key": data.test_key},
                body=json.dumps({"to": TO, **said}),
                port=data.port,
                connections=connections,
                seconds=stand.seconds,
            )
            return {name: found["per_s"]}

        return measure

    return Scenario(name, (Line(name, "pairs/s", goals),), start)


def _page(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)

    def get(**job: object) -> dict:
        ask = {"flow": "same", "method": "GET", "path": "/docs", "headers": {}}
        return processes.load(**ask, port=data.port, **job)

    get(connections=1, requests=1)  # the first one makes the page

    def measure() -> dict[str, float]:
        return {"page 64": get(connections=64, seconds=stand.seconds)["per_s"]}

    return measure


SCENARIOS = (
    Scenario("get", (Line("get 64", "/s", (Goal(6, "bare 64"),)),), _get),
    _pairs(64, (Goal(2.5, "bare 64"),)),
    _pairs(1, ()),
    _pairs(64, (Goal(0.7, "verify pairs 64"),), **_FOR_WHOM),
    Scenario("page", (Line("page 64", "/s", (Goal(2.5, "bare 64"),)),), _page),
)
