"""The reference of what the service tells of itself."""

from __future__ import annotations

from typing import Final

from risala.http.api.openapi.answers import Health
from risala.http.api.openapi.sms import EVERY, ApiOperation

OPERATIONS: Final = (
    ApiOperation(
        path="/healthz",
        method="get",
        name="isAlive",
        tag="Service",
        summary="Check that the process is running",
        description="For the program that restarts the service. Needs no key.",
        answer=Health,
        answer_examples={"alive": {"value": {"status": "ok"}}},
    ),
    ApiOperation(
        path="/readyz",
        method="get",
        name="isReady",
        tag="Service",
        summary="Check that messages are accepted and can be delivered",
        description="503 gives the reasons in `data.reasons`. During the upgrade of an older "
        "database, `data.upgrading` shows the progress. Needs no key.",
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
        summary="Show this document as a page",
        description="A page for a browser. It works without the internet. Needs no key.",
        answer_types={"text/html": {"schema": {"type": "string"}}},
    ),
)
