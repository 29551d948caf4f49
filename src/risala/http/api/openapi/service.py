"""The reference of what the service tells of itself."""

from __future__ import annotations

from typing import Final

from risala.http.api.openapi.answers import Health
from risala.http.api.openapi.operation import EVERY, ApiOperation

OPERATIONS: Final = (
    ApiOperation(
        path="/healthz",
        method="get",
        name="isAlive",
        tag="Service",
        summary="Whether the process lives",
        description="For whoever restarts it when it does not. Needs no key.",
        answer=Health,
        answer_examples={"alive": {"value": {"status": "ok"}}},
    ),
    ApiOperation(
        path="/readyz",
        method="get",
        name="isReady",
        tag="Service",
        summary="Whether messages are accepted and could be delivered",
        description="503 tells why not, in `data.reasons`; while a database of an older version is"
        " brought over also how far that is, in `data.upgrading`. Needs no key.",
        answer=Health,
        answer_examples={"ready": {"value": {"status": "ready"}}},
        errors=(503, *EVERY),
    ),
    ApiOperation(
        path="/openapi.json",
        method="get",
        name="getOpenapi",
        tag="Service",
        summary="This document",
        description="OpenAPI 3.1. Needs no key.",
        answer_types={"application/json": {"schema": {"type": "object"}}},
    ),
    ApiOperation(
        path="/docs",
        method="get",
        name="getDocs",
        tag="Service",
        summary="This document, for people",
        description="A page for a browser, served without the internet. Needs no key.",
        answer_types={"text/html": {"schema": {"type": "string"}}},
    ),
)
