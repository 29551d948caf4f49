"""Hands an event to an address as the service itself would: headers, signature and all."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from risala import __version__
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

TIMEOUT_S: Final = 15.0
"""Seconds: the service's own time limit for an endpoint."""
KEPT_IN: Final = "webhook-secret"
"""Within the folder ``risala`` of the user's state (XDG Base Directory Specification)."""


@dataclass(frozen=True, slots=True)
class Handed:
    """The result of a forwarded event."""

    status: int | None
    """The status of the answer; None: no answer."""
    reason: str | None
    """Why no answer came."""
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


def secret_of(secret: str | None) -> str:
    """The secret to sign with: the given one, or this user's own on this machine.

    It stays the same, so that a receiver configured once accepts all later events.

    Raises:
        CommandRefused: the given text is no secret.
    """
    from risala.engine.rules.webhooks.signatures import is_secret

    if secret is not None and not is_secret(secret):
        raise CommandRefused(
            "This is not a secret. A secret is `whsec_` and 24 to 64 bytes in base64."
        )
    return secret or _local_secret()


def _local_secret() -> str:
    """The secret in this user's file; a new one is written if the file or the secret is missing."""
    from risala.engine.rules.webhooks.signatures import is_secret, new_secret

    state = os.environ.get("XDG_STATE_HOME")
    file = (Path(state) if state else Path.home() / ".local/state") / "risala" / KEPT_IN
    try:
        written = file.read_text(encoding="ascii").strip()
        if is_secret(written):
            return written
    except (OSError, ValueError):
        pass  # it is written now
    made = new_secret()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = file.with_name(f"{KEPT_IN}.{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(f"{made}\n")
        new.replace(file)
    except OSError as error:
        output.warned(
            f"{file} cannot be written ({error.strerror}), so the next secret will be different."
        )
    return made


async def post_event(url: str, event_id: str, body: str, secret: str) -> Handed:
    """Post an event, once."""
    import httpx2

    from risala.engine.rules.webhooks.signatures import signed

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
