"""Each member of each body of the API gets what no database, clock or sum can hold: a refusal, and
never an error of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.http.api.test_real_engine import office

__all__ = ["office"]

NASTY = (
    *("9" * 400, "1e300", "-1e400", "NaN", "Infinity", "10000-01-01T00:00:00Z", "", " "),
    *("9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+14:00", "\\0", "\u202e", "\u3164"),
    *("x" * 70_000, "[" * 2_000, "\U0010ffff", "%s{0}{{x}}", "\ud800", "\udc00\ud800"),
    *(10**30, -(10**30), 2**63, 2**53 + 1, 1e300, float("nan"), float("inf"), -0.0, -1, 0),
    *(True, None, [], {}, [[[]]], {"a": {"a": {}}}, [None], ["\ud800"], [10**30] * 50),
)
DEEP = b'{"to":' + b"[" * 100_000


def with_nasty(example: Any, value: object) -> Iterator[tuple[str, Any]]:
    """The example with the value in the place of each of its members, one at a time."""
    if isinstance(example, dict):
        for name, inner in example.items():
            yield name, {**example, name: value}
            for path, changed in with_nasty(inner, value):
                yield f"{name}/{path}", {**example, name: changed}
        yield "another", {**example, "another": value}
    elif isinstance(example, list) and example:
        for path, changed in with_nasty(example[0], value):
            yield f"0/{path}", [changed, *example[1:]]


def examples(document: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            json_body = content.get("application/json", {})
            found = [each["value"] for each in json_body.get("examples", {}).values()]
            found += [json_body["example"]] if "example" in json_body else []
            for example in found:
                yield method, path, example


@pytest.mark.slow
async def test_each_member_of_each_body(office):
    document = await (await office.client.get("/openapi.json")).get_json()
    asked, broken = 0, []
    for method, path, example in examples(document):
        assert method == "post"
        for value in NASTY:
            for where, body in with_nasty(example, value):
                answer = await office.post(path, json.dumps(body), "sk_test")
                asked += 1
                text = await answer.get_data(as_text=True)
                if answer.status_code >= 500 or (
                    answer.status_code >= 400 and "code" not in text and "errors" not in text
                ):
                    broken.append((path, where, repr(value)[:30], answer.status_code))
        answer = await office.post(path, DEEP, "sk_test")
        assert answer.status_code in (400, 413), path
    assert not broken, "\n".join(map(str, broken[:40]))
    assert asked > 2000


@pytest.mark.slow
async def test_each_query_is_passed_over_or_refused(office):
    """With a key, so that whatever reads a query is come to; with a wrong one at one address alone:
    after thirty of those each further answer waits."""
    document = await (await office.client.get("/openapi.json")).get_json()
    good, wrong = office.keys["sk_test"], "sk_none"
    asked = [
        (path, method, key)
        for path, methods in document["paths"].items()
        for method in methods
        for key in ((good, wrong) if path == "/api/sms" else (good,))
    ]
    assert {key for *_, key in asked} == {good, wrong}
    for path, method, key in asked:
        for query in ("%00", "a=%ff", "a=" + "9" * 400, "%ed%a0%80=1", "&" * 2_000, "a[]=1"):
            answer = await office.client.open(
                f"{path}?{query}", method=method.upper(), headers={"x-api-key": key}
            )
            assert answer.status_code < 500, (path, query[:10])
            assert (answer.status_code == 401) == (key == wrong), (path, query[:10])
