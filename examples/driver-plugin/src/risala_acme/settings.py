"""What the configuration tells this driver."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

Seconds = Annotated[float, Field(gt=0, le=600)]


class AcmeSettings(BaseModel):
    """The table ``[carriers.acme]``."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    """The carrier's API: ``https://api.acme.example``."""
    api_key: SecretStr
    callback_secret: SecretStr
    """The carrier signs its calls with it."""
    window_max: Annotated[int, Field(ge=1, le=1000)] = 20
    answer_s: Seconds = 20.0
    """How long a submit waits for the carrier's answer."""
    look_s: Seconds = 30.0
    """Between two looks at whether the carrier is there."""

    @field_validator("url")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        parts = urlsplit(url)
        near = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if not parts.hostname or not (parts.scheme == "https" or near):
            raise ValueError("must begin with https://, unless it is on this machine")
        return url.rstrip("/")
