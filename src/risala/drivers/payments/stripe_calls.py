"""Calls of Stripe's API, by the HTTP client that webhooks go out by; see :mod:`.stripe`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2
from pydantic import SecretStr

from risala.plugins.payment import PaymentMethodError

VERSION: Final = "2024-06-20"
"""The version of the API: answers stay as they are read here, for any default of the account."""
ANSWER_BYTES_MAX: Final = 256 * 1024
"""A session has some kilobytes."""
STEP_S: Final = 8.0
"""Seconds for each of connecting, writing and reading: together less than the limit of a step."""


async def call(
    api: str,
    key: SecretStr,
    method: str,
    path: str,
    body: bytes = b"",
    more: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An answer of the API.

    Raises:
        PaymentMethodError: no answer, or a refusal.
    """
    headers = {
        "Host": urlsplit(api).netloc,
        "Authorization": f"Bearer {key.get_secret_value()}",
        "Stripe-Version": VERSION,
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": str(len(body)),
        **(more or {}),
    }
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), STEP_S)
    try:
        # A pool for each call: one that is cancelled leaves nothing behind.
        async with (
            httpcore2.AsyncConnectionPool() as pool,
            pool.stream(
                method,
                f"{api}{path}",
                headers=list(headers.items()),
                content=body,
                extensions={"timeout": timeouts},
            ) as response,
        ):
            octets = await _bounded(response)
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
    ) as error:
        raise PaymentMethodError(f"Stripe cannot be reached ({type(error).__name__})") from None
    try:
        answer = json.loads(octets)
    except ValueError:
        answer = None
    if response.status != 200 or not isinstance(answer, dict):
        code = _code(answer)
        raise PaymentMethodError(f"Stripe answered {response.status}{code}")
    return answer


async def _bounded(response: httpcore2.Response) -> bytes:
    octets = bytearray()
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            octets += chunk
            if len(octets) > ANSWER_BYTES_MAX:
                raise PaymentMethodError("Stripe's answer is too long for a session")
    return bytes(octets)


def _code(answer: object) -> str:
    """Stripe's own word for the error, if it is a simple word."""
    error = answer.get("error") if isinstance(answer, dict) else None
    code = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
    return f" ({code})" if isinstance(code, str) and code.isidentifier() else ""
