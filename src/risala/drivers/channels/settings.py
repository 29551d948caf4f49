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


_Id = Annotated[str, Field(pattern=r"^[0-9]{1,30}$")]


class WhatsAppSettings(ChannelSettings):
    """Codes by WhatsApp's Cloud API."""

    token: SecretStr
    """The access token, of a system user: ``token_env`` names the environment variable that has
    it."""
    phone_number_id: _Id
    """The id of the number that codes come from; it is not the number."""
    template: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,512}$")]
    """The authentication template's name. It has a button that copies the code."""
    languages: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z]{2,3}(_[A-Za-z]{2,4})?$")], ...],
        Field(min_length=1, max_length=20),
    ] = ("en",)
    """The template's languages, such as ``["en_US", "fr", "ar"]``. A code in another one goes by
    the first."""
    app_secret: SecretStr
    """The secret of the app that reports are signed with (``app_secret_env``)."""
    verify_token: SecretStr
    """A word of yours, which Meta repeats when you enter the address for reports
    (``verify_token_env``)."""
    secret_address: bool = False
    """True: the address for reports has a secret too (``risala carriers rotate NAME``), so that
    several reports in one body of more than 4 KiB are read. For more than some codes a second."""
    business_id: _Id | None = None
    """The id of the WhatsApp business account. Set: it is looked whether the template is
    approved."""
    word_s: Annotated[int, Field(ge=0, le=60)] = 10
    """So long a code waits for WhatsApp's first word: who has no account there is refused in that
    time, and the delivery is refunded."""
    url: _Url = "https://graph.facebook.com/v23.0"
    """Where the API is, with its version."""
