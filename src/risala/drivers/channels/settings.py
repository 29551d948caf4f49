"""Settings of the built-in channels: the tables ``[channels.NAME.WORD]``."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class ChannelSettings(BaseModel):
    """The base of each: unknown keys are faults, and no fault repeats a value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


class EmailSettings(ChannelSettings):
    """Codes by e-mail."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$")] = (
        "Risala"
    )
    """Who sends the code, in the mail's subject."""


_Url = Annotated[str, Field(pattern=r"^https?://[^\s?#]+[^\s?#/]$", max_length=500)]


class TelegramSettings(ChannelSettings):
    """Codes by Telegram's Gateway."""

    token: SecretStr
    """The account's API token: ``token_env`` names the environment variable that has it."""
    ttl_s: Annotated[int, Field(ge=30, le=3600)] = 60
    """So long Telegram tries to deliver a code; then the delivery has failed, and costs nothing."""
    callback_url: _Url | None = None
    """Where Telegram reports what became of a code: this service's public address and
    ``/carriers/NAME``. Not set: it is asked every five seconds."""
    sender: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The verified Telegram channel of yours that codes come from. Not set: Telegram's own."""
    url: _Url = "https://gatewayapi.telegram.org"
    """Where the API is."""
