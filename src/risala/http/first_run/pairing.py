"""Pairing an Android phone: what its driver answers, and what keeps a phone from calling.

The terminal's first run, its page and ``risala phone pair`` say it alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self
from urllib.parse import urlsplit

from risala.dataclass import dataclass
from risala.http.web.languages import N_

API_PATH: Final = "/mobile/v1"
"""Behind the carrier's address; the app calls the whole its *API URL*."""
NO_TLS: Final = N_(
    "The app only calls https: put a reverse proxy with a certificate in front, and set"
    " http.public_url."
)
AT_HOME: Final = N_(
    "The phone cannot reach {host}, which is each machine's own address: set http.public_url to the"
    " address of this service."
)
WRONG_TOKEN: Final = N_(
    "A phone called with another private token. Type the token again on it: letters and digits,"
    " without a blank."
)
NO_CALL: Final = N_(
    "No phone has called. Open {address} in the phone's browser: where that fails too, the name"
    " does not lead here or a firewall is between; where it warns of the certificate, the phone's"
    " clock is wrong or it does not know who signed it. In the app, Cloud server must be on and"
    " Online."
)
PAIR: Final = "pair"
"""The driver's command that waits for a phone."""
TOKEN: Final = "token"  # noqa: S105 -- a name
"""The driver's command that answers the private token, under this name."""
_OWN: Final = ("127.0.0.1", "localhost", "::1", "0.0.0.0")  # noqa: S104 -- a comparison


def fault_of(url: str) -> tuple[str, dict[str, str]] | None:
    """Why the app cannot call an address: a sentence and its holes; None: nothing is seen from
    here."""
    parts = urlsplit(url)
    if parts.hostname in _OWN:
        return AT_HOME, {"host": str(parts.hostname)}
    return None if parts.scheme == "https" else (NO_TLS, {})


def why_none_came(url: str, strangers: int) -> tuple[str, dict[str, str]]:
    """Why no phone has registered: a sentence and its holes.

    Args:
        url: the app's API URL.
        strangers: how many calls came with another token.
    """
    if strangers:
        return WRONG_TOKEN, {}
    return fault_of(url) or (NO_CALL, {"address": urlsplit(url)._replace(path="/").geturl()})


@dataclass(frozen=True, slots=True)
class PairingAnswer:
    """What the driver answers to :data:`PAIR`."""

    phone: str | None
    """Maker and model; None: none has registered."""
    state: str
    """``registered``, ``silent``: it has not called since the service started, ``waits``: another
    phone is this carrier, or ``none``."""
    strangers: int
    """How many calls came with another token."""

    @classmethod
    def of(cls, answer: Mapping[str, str | int | float | None]) -> Self:
        """Read a command's answer."""
        phone = answer.get("phone")
        strangers = int(answer.get("strangers") or 0)
        return cls(None if phone is None else str(phone), str(answer.get("state")), strangers)
