"""Hands an event to an address as the service itself would: headers, signature and all."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import click

from risala import __version__
from risala.cli.reach.refused import CommandRefused

TIMEOUT_S: Final = 15.0
"""As long as the service itself waits for an endpoint."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What came of it."""

    status: int | None
    """Of the answer; None: there was none."""
    reason: str | None
    """Why there was none."""
    took_ms: int

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def words(self) -> str:
        came = self.reason if self.status is None else f"HTTP {self.status}"
        return f"{came}, {self.took_ms} ms"


def address(_: click.Context, __: click.Parameter, url: str | None) -> str | None:
    """A click callback: an address by http or https, on this machine too."""
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise click.BadParameter("write an address such as http://127.0.0.1:3000/webhooks.")
    return url


def secret_of(given: str | None) -> str:
    """The secret to sign with: the one that was given, or a new one.

    Raises:
        CommandRefused: it is none.
    """
    from risala.engine.rules.webhooks.sign import is_secret, new_secret

    if given is not None and not is_secret(given):
        raise CommandRefused("The secret is none: `whsec_` and 24 to 64 bytes in base64.")
    return given or new_secret()


async def hand(url: str, event_id: str, body: str, secret: str) -> Handed:
    """Post an event, once."""
    import httpx2

    from risala.engine.rules.webhooks.sign import signed

    headers = {
        "content-type": "application/json",
        "user-agent": f"Risala/{__version__}",
        **signed(event_id, body, (secret,), time.time_ns() // 1_000_000),
    }
    began = time.monotonic()
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as client:
            answer = await client.post(url, content=body.encode(), headers=headers)
    except httpx2.TimeoutException:
        return Handed(None, f"no answer within {TIMEOUT_S:.0f} s", _ms_since(began))
    except httpx2.TransportError as error:
        return Handed(None, str(error) or type(error).__name__, _ms_since(began))
    return Handed(answer.status_code, None, _ms_since(began))


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
