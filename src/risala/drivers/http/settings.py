"""The settings of ``[carriers.http]``. Units are in the names; unknown keys are faults.

The tables that say how an API is called are checked by :mod:`risala.drivers.http.shape`, which is
imported with the first such carrier.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    field_validator,
    model_validator,
)

if TYPE_CHECKING:
    from risala.drivers.http.shape import Shape

Seconds = Annotated[float, Field(gt=0, le=600)]
SUBMIT_SPARE_S: Final = 5.0
"""What a submit may take beside connecting and the answer: waiting for a connection, and for a
token of OAuth."""


class HttpSettings(BaseModel):
    """One account at one HTTP API."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    preset: str = ""
    """The aggregator's name, from `risala carriers presets`. Empty: the tables below say all."""
    url: str = ""
    """The address of the API, without a path of a single call, if the preset's is not yours."""
    user: str = ""
    """The account's name, id or client id."""
    password: SecretStr = SecretStr("")
    """The account's password, key or client secret; better by `password_env`."""
    token: SecretStr = SecretStr("")
    """A key that stands alone; better by `token_env`."""
    signing_secret: SecretStr = SecretStr("")
    """What the carrier signs its calls with, if that is not the password."""
    secret_address: SecretStr = SecretStr("")
    """Our address for the carrier, as `risala carriers rotate NAME` prints it, for APIs that are
    told it with each message. For a carrier that signs its calls, `https://…/carriers/NAME`."""
    values: dict[str, str] = {}
    """More words for templates: `{values.NAME}`."""

    auth: dict[str, Any] = {}
    """Overrides of the preset's table of this name, as those below: how we prove who we are."""
    send: dict[str, Any] = {}
    """How a message is sent."""
    answer: dict[str, Any] = {}
    """What an answer means."""
    receipt: dict[str, Any] = {}
    """How receipts come."""
    inbound: dict[str, Any] = {}
    """How texts from phones come."""
    proof: dict[str, Any] = {}
    """How the carrier proves that a call is its own."""
    query: dict[str, Any] = {}
    """How it is asked for one message."""
    look: dict[str, Any] = {}
    """How the account is looked at."""

    window_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """Submits unanswered at once: as many connections."""
    connect_s: Seconds = 10.0
    """Seconds for a connection, its TLS included; after that nothing has left."""
    answer_s: Seconds = 30.0
    """Seconds for an answer; after that a submit is uncertain."""
    look_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds between two looks at whether the carrier is there."""
    tls_ca_file: Path | None = None
    """Certificates to trust instead of the system's."""

    _shape: Shape | None = PrivateAttr(default=None)

    @property
    def folder(self) -> str:
        """Where its presets are."""
        return "presets"

    @field_validator("url", "secret_address")
    @classmethod
    def _is_address(cls, value: str | SecretStr) -> str | SecretStr:
        url = value.get_secret_value() if isinstance(value, SecretStr) else value
        if url and not is_address(url):
            raise ValueError(
                "must be an address such as https://api.example.com, without user, password and #"
            )
        if isinstance(value, SecretStr):
            return SecretStr(url.rstrip("/"))
        return url.rstrip("/")

    @model_validator(mode="after")
    def _has_a_shape(self) -> Self:
        from risala.drivers.http.presets import ShapeError, shape_of

        try:
            self._shape = shape_of(self)
        except ShapeError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def shape(self) -> Shape:
        """How the API is called: the preset's tables, with this table's overrides."""
        assert self._shape is not None
        return self._shape

    @property
    def submit_s(self) -> float:
        """The longest that a submit takes."""
        return self.connect_s + self.answer_s + SUBMIT_SPARE_S

    @property
    def secrets(self) -> tuple[str, ...]:
        """Each secret of this table, and the end of the secret address: none is ever told."""
        whole = (self.password, self.token, self.signing_secret, self.secret_address)
        words = [each.get_secret_value() for each in whole]
        return tuple(each for each in (*words, words[-1].rpartition("/")[2]) if len(each) > 3)


class CallSettings(HttpSettings):
    """An account that calls: the settings of an HTTP carrier, with presets of its own."""

    caller: Annotated[str, Field(pattern=r"^\+?[0-9]{3,15}$")]
    """The number that calls, which the account has."""
    name: Annotated[
        str, Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f<>&\"{}]*$")
    ] = "Risala"
    """Who sends the code, as the voice says it."""
    ring_s: Annotated[int, Field(ge=5, le=60)] = 25
    """Seconds that the phone rings."""

    @property
    def folder(self) -> str:
        return "presets/calls"


def is_address(url: str) -> bool:
    """Whether this is an address of HTTP without anything that would be shown or dropped."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and port != 0
        and parts.username is None
        and not parts.fragment
        and url.isascii()
        and url.isprintable()
        and " " not in url
    )
