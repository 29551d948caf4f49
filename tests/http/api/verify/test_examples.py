"""Every example of the reference, sent: none is refused for what it says."""

from itertools import chain

from cases import sweep
from risala.http.api.openapi.document import OPERATIONS, document

WITH_BODY = [operation for operation in OPERATIONS if operation.body]
ASKS_FOR = {
    *("/api/sms/get", "/api/sms/cancel"),
    *("/api/verify/get", "/api/verify/check", "/api/verify/cancel", "/api/verify/resend"),
    *("/api/webhooks/update", "/api/webhooks/delete", "/api/webhooks/rotate"),
    *("/api/conversations/get", "/api/conversations/reply", "/api/conversations/mark"),
    *("/api/answers/update", "/api/answers/delete", "/api/answers/resume"),
    "/api/opt-outs/words/remove",
    *("/api/repeats/get", "/api/repeats/create", "/api/repeats/update", "/api/repeats/pause"),
    *("/api/repeats/resume", "/api/repeats/end", "/api/repeats/delete"),
    *("/api/alarms/chains/get", "/api/alarms/chains/update", "/api/alarms/chains/delete"),
    *("/api/alarms/raise", "/api/alarms/get", "/api/alarms/end"),
    *("/api/opt-outs/lists/add", "/api/opt-outs/lists/remove"),
    *("/api/webhooks/test", "/api/webhooks/deliveries", "/api/webhooks/replay"),
}
"""What an example asks for is not there: 404 is the answer to a good request."""


def at(whole: dict, schema: dict) -> dict:
    while "$ref" in schema:
        schema = whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def made_up(whole: dict, schema: dict) -> object:
    """What tools make of the members' own examples, where they look at no other."""
    schema = at(whole, schema)
    if "properties" in schema:
        told = schema["properties"].items()
        values = ((name, made_up(whole, inner)) for name, inner in told)
        return {name: value for name, value in values if value is not None}
    if schema.get("type") == "array":
        return [made_up(whole, schema["items"])]
    return next(iter(schema.get("examples", ())), None)


@sweep("operation", WITH_BODY, lambda operation: operation.name)
async def test_every_example_is_answered_as_the_good_request_that_it_is(desk, operation):
    whole = document()
    media = whole["paths"][operation.path]["post"]["requestBody"]["content"]["application/json"]
    named = [example["value"] for example in media["examples"].values()]
    told = at(whole, media["schema"])["examples"]
    assert named
    for body in chain(named, told, [made_up(whole, media["schema"])]):
        is_there = "to" in body and "verificationId" not in body
        if operation.path == "/api/verify/check" and is_there:
            await desk.configure(per_phone_per_hour=100)
            await desk.sent(to=body["to"])  # the newest one: those before may be for a payment
        response = await desk.post(operation.path, body)
        expected = 404 if operation.path in ASKS_FOR and not is_there else 200
        assert response.status_code == expected, (body, await response.get_json())


async def test_the_examples_of_answers_to_a_batch_are_those_that_come(desk):
    operation = next(one for one in WITH_BODY if one.path == "/api/sms/batch")
    (request,), (answer,) = operation.body_examples.values(), operation.answer_examples.values()
    response = await desk.post(operation.path, request["value"])
    results = (await response.get_json())["results"]
    told = answer["value"]["results"]
    assert [sorted(result) for result in results] == [sorted(result) for result in told]
    assert results[1]["data"] == told[1]["data"]
