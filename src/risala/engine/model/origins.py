"""Origins that a publishable key may be used from (contract §2). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from risala.engine.model.errors import Invalid

ORIGINS_MAX: Final = 20
"""Origins of one key: sites beyond these deserve a key of their own."""
_ORIGIN: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,31})://"
    r"(?P<host>[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:(?P<port>[0-9]{1,5}))?/?",
    re.IGNORECASE,
)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def parse_origins(values: Iterable[object]) -> tuple[str, ...]:
    """Origins as browsers spell them, each once, in the order given.

    Raises:
        Invalid: one of them is no origin, or there are too many.
    """
    origins = tuple(dict.fromkeys(_parse(value) for value in values))
    if len(origins) > ORIGINS_MAX:
        text = f"A key has at most {ORIGINS_MAX} allowed origins."
        raise Invalid("allowed_origins", "too_many", text)
    return origins


def _parse(value: object) -> str:
    found = _ORIGIN.fullmatch(value) if isinstance(value, str) else None
    port = int(found["port"]) if found and found["port"] else None
    if found is None or (port is not None and not 0 < port < 65536):
        raise Invalid(
            "allowed_origins",
            "invalid_origin",
            "An origin is a scheme and a host, like https://app.example or"
            " http://localhost:3000, without a path.",
        )
    scheme, host = found["scheme"].lower(), found["host"].lower()
    # Browsers leave a scheme's default port out.
    tail = "" if port in (None, _DEFAULT_PORTS.get(scheme)) else f":{port}"
    return f"{scheme}://{host}{tail}"
