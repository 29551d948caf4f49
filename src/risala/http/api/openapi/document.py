"""The OpenAPI 3.1 document, made of the models that validate (docs/decisions/0006)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from inspect import getdoc
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core import core_schema

from risala import __version__
from risala.engine.model import errors
from risala.engine.model.features import features
from risala.engine.model.money import money
from risala.http.api.answers import COMPONENTS, Component
from risala.http.api.derived import DerivedBody
from risala.http.api.openapi import (
    answer_rules,
    conversations,
    endpoints,
    management,
    service,
    sms,
    verify,
    webhooks,
)
from risala.http.api.openapi.answers import Error
from risala.http.api.openapi.sms import ApiOperation
from risala.http.api.schema import amount_pattern
from risala.http.api.verify_bodies import LOCALES
from risala.http.common.problems import CODES, Problem, plain, problem_of
from risala.sms.code_texts.catalogue import BUILT_IN
from risala.sms.currencies import DEFAULT_CURRENCY, USUAL, counting_in, decimals_of
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

_OF_FEATURES: Final = [each.api_reference() for each in features() if each.api_reference]
OPERATIONS: Final = (
    *sms.OPERATIONS,
    *verify.OPERATIONS,
    *management.OPERATIONS,
    *conversations.OPERATIONS,
    *answer_rules.OPERATIONS,
    *(each for operations, _ in _OF_FEATURES for each in operations),
    *endpoints.OPERATIONS,
    *service.OPERATIONS,
)

_COMPONENTS: Final = (*COMPONENTS, *(each for _, those in _OF_FEATURES for each in those))
_ABOUT: Final = """\
Send SMS to {recipients}, and verify numbers with one-time codes. Requests are `POST` with
a JSON body; success is 200 with a JSON object, and every error has one shape, with a stable `code`.

The key goes into `x-api-key`, or into `Authorization: Bearer`. Secret keys (`sk_…`) may do
everything; publishable keys (`pk_…`), which may be in browsers and apps, only send and check codes.
**Test keys** (`sk_test_…`, `pk_test_…`) do all that live ones do, without a carrier and without
charge. What is of test keys is unknown to live keys, and the reverse. A code of a test key is all
zeros, and the last two digits of the number choose what becomes of a test message:

| Digits | Outcome |
|---|---|
| `00` | delivered |
| `01` | refused: `failed` |
| `02` | accepted by the carrier, then `undelivered` |
| `03` | `sent`, and no receipt ever |
| `04` | throttled twice, then delivered |
| any other | delivered |
"""
_TAGS: Final = (
    {"name": "SMS", "description": "Send messages, and see what happened to them."},
    {"name": "Verify", "description": "Verify phone numbers with one-time codes."},
    {"name": "Conversations", "description": "Read what people write, and answer."},
    {"name": "Automatic answers", "description": "Answer texts by rules, without a program."},
    {"name": "Opt-outs", "description": "What people text to get no more messages."},
    {"name": "Account", "description": "The organization's balance and sender IDs."},
    {"name": "Webhooks", "description": "What the service sends to your endpoints."},
    {"name": "Service", "description": "The state of the service. No key is needed."},
)
_SECURITY: Final = {
    "key": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "`sk_live_…`, `sk_test_…`, `pk_live_…` or `pk_test_…`.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "The same key."},
}
_HEADERS: Final = {
    "RequestId": {
        "description": "Give this id when you ask about a request.",
        "required": True,
        "schema": {"type": "string", "pattern": "^req_[0-9A-Z]{32}$"},
    },
    "RetryAfter": {
        "description": "How many seconds to wait before you try again.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Challenge": {
        "description": "The scheme in which a key may be given, beside `x-api-key`.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Allow": {
        "description": "The method that the path accepts.",
        "required": True,
        "schema": {"type": "string"},
    },
}
_AMOUNT: Final = re.compile(r"(?<![\d.])(-?\d+)\.(\d{2})(?![\d.])")
_REQUEST_ID: Final = "req_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"

_MEANINGS: Final = {
    400: "The body is not valid, or the sender is not approved.",
    401: "The key is missing, unknown, disabled, deleted or expired (`data.code` is "
    "`KEY_EXPIRED`).",
    402: "The balance does not cover the price, or the organization has reached its daily spend "
    "cap (`data.code` is `SPEND_CAP`).",
    403: "The organization is not active, or the key does not allow this request or this client.",
    404: "This does not exist for this key.",
    405: "Another method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not `application/json`, or is compressed.",
    429: "A limit is reached; `data.limit` says which.",
    500: "A fault in the service.",
    503: "The service is busy, stopping or not ready, or it cannot write to the disk. Try again.",
}
_EXAMPLES: Final[dict[int, Problem]] = {
    **{status: plain(status) for status in (405, 408, 413, 415, 500)},
    **{
        error.status: error
        for error in map(
            problem_of,
            (
                errors.SenderNotApproved("Acme"),
                errors.Unauthorized(),
                errors.InsufficientBalance(),
                errors.Forbidden("This endpoint needs a secret key (sk_live_…)."),
                errors.NotFound("There is no message with this id."),
                errors.RateLimited(
                    "sms",
                    1,
                    "Your organization sends more than 10 messages a second. Send again in a "
                    "moment.",
                ),
                errors.Overloaded(),
            ),
        )
    },
}


class _Schemas(GenerateJsonSchema):
    """Leaves out what says nothing: titles made of names, defaults of null, and choices between one
    thing and null."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        made = super().default_schema(schema)
        if made.get("default", ...) is None:
            del made["default"]
        return made

    def nullable_schema(self, schema: core_schema.NullableSchema) -> dict[str, Any]:
        made = super().nullable_schema(schema)
        match made:
            case {"anyOf": [{"type": str(kind)} as inner, {"type": "null"}]}:
                words = {"enum": [*inner["enum"], None]} if "enum" in inner else {}
                return {**inner, "type": [kind, "null"], **words}
        return made


@cache
def document_bytes(
    plan: NumberingPlan = DEFAULT,
    currency: str = DEFAULT_CURRENCY,
    languages: tuple[str, ...] = BUILT_IN,
) -> bytes:
    """The document as it is served: made when it is first asked for, and kept."""
    made = document(plan=plan, currency=currency)
    if languages != BUILT_IN:
        made = _in_languages(made, [*languages, None])
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


def document(
    operations: Iterable[ApiOperation] = OPERATIONS,
    plan: NumberingPlan = DEFAULT,
    currency: str = DEFAULT_CURRENCY,
) -> dict[str, Any]:
    """The OpenAPI document that describes these operations, for the numbers of a plan and amounts
    in a currency."""
    with counting_in(DEFAULT_CURRENCY):
        made = _document(operations)
    if currency != DEFAULT_CURRENCY:
        made = _in_currency(made, currency)
    return made if plan.is_default else _in_plan(made, plan)


def _in_currency(made: Any, currency: str) -> Any:  # noqa: ANN401 -- any JSON
    """A part of the document of the default currency, for another one: an amount keeps its minor
    units, and gets that currency's decimals; so does the pattern of amounts."""
    match made:
        case dict():
            return {name: _in_currency(each, currency) for name, each in made.items()}
        case list() | tuple():
            return [_in_currency(each, currency) for each in made]
        case str() if made == DEFAULT_CURRENCY:
            return currency
        case str() if amount_pattern(USUAL) in made:
            return made.replace(amount_pattern(USUAL), amount_pattern(decimals_of(currency)))
        case str():
            with counting_in(currency):
                return _AMOUNT.sub(lambda hit: money(int(hit[1] + hit[2])), made)
    return made


def _in_languages(made: Any, languages: list[str | None]) -> Any:  # noqa: ANN401 -- any JSON
    """A part of the document, with these languages of codes in place of the built-in ones."""
    match made:
        case dict():
            return {name: _in_languages(each, languages) for name, each in made.items()}
        case list() if made == LOCALES:
            return languages
        case list() | tuple():
            return [_in_languages(each, languages) for each in made]
    return made


def _in_plan(made: Any, plan: NumberingPlan) -> Any:  # noqa: ANN401 -- any JSON
    """A part of the document of the default plan, for another plan's numbers."""
    match made:
        case dict():
            return {name: _in_plan(each, plan) for name, each in made.items()}
        case list() | tuple():
            return [_in_plan(each, plan) for each in made]
        case str():
            for name in ("pattern", "recipients", "kind", "example"):
                made = made.replace(getattr(DEFAULT, name), getattr(plan, name))
    return made


def _document(operations: Iterable[ApiOperation]) -> dict[str, Any]:
    operations = tuple(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Risala",
            "version": __version__,
            "summary": "SMS gateway and phone verification on one machine, in any country",
            "description": _ABOUT.replace("{recipients}", DEFAULT.recipients),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": list(_TAGS),
        "paths": paths,
        "webhooks": webhooks.webhooks(),
        "components": {
            "schemas": _schemas(operations),
            "responses": {_name(status): _error(status) for status in sorted(_MEANINGS)},
            "headers": _HEADERS,
            "securitySchemes": _SECURITY,
        },
    }


def _schemas(operations: Iterable[ApiOperation]) -> dict[str, Any]:
    models: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {
        (model, "validation"): None for model in (Error,)
    }
    for operation in operations:
        for model in (operation.body, operation.answer):
            if isinstance(model, type):
                models[model, "validation"] = None
    _, made = models_json_schema(
        list(models),
        by_alias=True,
        ref_template="#/components/schemas/{model}",
        schema_generator=_Schemas,
    )
    schemas: dict[str, Any] = made["$defs"]
    for schema in schemas.values():
        del schema["title"]
    schemas |= {each.name: each.schema() for each in (*_COMPONENTS, *webhooks.MODELS.values())}
    for operation in operations:
        if operation.body is not None:
            # Without examples of the whole body, tools put one together from the members' examples,
            # which need not fit together.
            values = [example["value"] for example in operation.body_examples.values()]
            schema = schemas[operation.body.__name__]
            schema["examples"] = values
            if issubclass(operation.body, DerivedBody):
                members = schema["properties"]
                for name, text in operation.body.descriptions().items():
                    described = {"description": text, **members[name]}
                    members[name] = dict(sorted(described.items()))
    return dict(sorted(schemas.items()))


def _operation(operation: ApiOperation) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
    }
    if operation.body is not None:
        made["security"] = [{scheme: []} for scheme in _SECURITY]
        made["requestBody"] = {
            "required": True,
            "content": {"application/json": _media(operation.body, operation.body_examples)},
        }
    content = operation.answer_types or {
        "application/json": _media(operation.answer, operation.answer_examples)
    }
    made["responses"] = {
        "200": {
            "description": _about(operation),
            "headers": _headers("RequestId"),
            "content": content,
            **({"links": operation.links} if operation.links else {}),
        },
        **{
            str(status): {"$ref": f"#/components/responses/{_name(status)}"}
            for status in sorted(operation.errors)
        },
    }
    return made


def _about(operation: ApiOperation) -> str | None:
    answer = operation.answer
    if isinstance(answer, Component):
        about: str = answer.schema()["description"]
        return about
    return getdoc(answer) if answer else operation.summary


def _media(model: type[BaseModel] | Component | None, examples: object) -> dict[str, Any]:
    assert model is not None, "an operation without an answer's model has answer_types"
    return {"schema": _reference(model), "examples": examples}


def _reference(model: type[BaseModel] | Component) -> dict[str, str]:
    if isinstance(model, Component):
        return {"$ref": model.reference}
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _error(status: int) -> dict[str, Any]:
    names = ["RequestId"]
    if status == 401:
        names.append("Challenge")
    if status == 405:
        names.append("Allow")
    if status in (429, 503):
        names.append("RetryAfter")
    return {
        "description": _MEANINGS[status],
        "headers": _headers(*names),
        "content": {
            "application/json": {
                "schema": _reference(Error),
                "example": _EXAMPLES[status].wire(_REQUEST_ID),
            }
        },
    }


def _headers(*names: str) -> dict[str, Any]:
    words = {
        "RequestId": "x-request-id",
        "Challenge": "WWW-Authenticate",
        "RetryAfter": "Retry-After",
        "Allow": "Allow",
    }
    return {words[name]: {"$ref": f"#/components/headers/{name}"} for name in names}


def _name(status: int) -> str:
    """The name of a status's answer in the document: ``TooManyRequests`` for 429."""
    return "".join(word.capitalize() for word in CODES[status].split("_"))
