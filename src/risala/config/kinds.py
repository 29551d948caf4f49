"""Parts of settings: the base of every table, and values with rules of their own."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from risala.sms.address import sender_fault, spelled
from risala.sms.currencies import decimals, has_too_many

_CODE: Final = "+33"


def _as_sender(text: str) -> str:
    if fault := sender_fault(text):
        raise ValueError(fault)
    return spelled(text)


UpperSender = Annotated[
    str,
    Field(
        pattern=r"^[A-Z0-9 ]+$",
        json_schema_extra={"words": "1 to 11 upper-case letters, digits and spaces"},
    ),
    AfterValidator(_as_sender),
]

SenderName = Annotated[
    str,
    Field(json_schema_extra={"words": "1 to 11 letters, digits and spaces"}),
    AfterValidator(_as_sender),
]


def _as_money(text: str) -> str:
    places = decimals()
    if has_too_many(text.partition(".")[2], places):
        raise ValueError(money_words(places))
    return text


def money_words(places: int) -> str:
    """What an amount must be, in a currency with so many decimals."""
    if not places:
        return 'must be an amount in quotes, without decimals, such as "25"'
    return f'must be an amount in quotes, such as "0.{"500"[:places]}"'


Money = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,12}(\.[0-9]{1,4})?$",
        json_schema_extra={"words": 'an amount in quotes, such as "0.50"'},
    ),
    AfterValidator(_as_money),
]
"""An amount with the decimals of ``service.currency``, in which settings are read."""
Prefix = Annotated[
    str,
    Field(
        pattern=r"^\+[1-9][0-9]{0,14}$",
        json_schema_extra={"words": f'the beginning of a number in quotes, such as "{_CODE}76"'},
    ),
]
NationalPrefix = Annotated[
    str,
    Field(
        pattern=r"^(\+[1-9][0-9]{0,3})?$",
        json_schema_extra={"words": f'a country code in quotes, such as "{_CODE}", or "" for none'},
    ),
]
OwnNumber = Annotated[
    str,
    Field(
        pattern=r"^(\+[1-9][0-9]{3,14}|[0-9]{2,8})$",
        json_schema_extra={"words": f'a number of ours in quotes, such as "{_CODE}612345678"'},
    ),
]
"""With ``+`` and its country, or a short number."""
Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$",
        json_schema_extra={
            "words": 'a name of lower-case letters, digits, "-" and "_", at most 40 characters'
        },
    ),
]
Currency = Annotated[
    str,
    Field(
        pattern=r"^[A-Z]{3}$",
        json_schema_extra={"words": 'three upper-case letters in quotes, such as "EUR"'},
    ),
]


def _as_network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ValueError("is no address or network, such as 10.0.0.2 or 10.0.0.0/24") from None
    return text


Network = Annotated[
    str,
    Field(
        json_schema_extra={
            "words": 'an address or a network in quotes, such as "127.0.0.1" or "10.0.0.0/24"'
        }
    ),
    AfterValidator(_as_network),
]


def _as_origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError('is no address such as "https://sms.example.com"')
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError('has a path: only "https://", the name and perhaps a port belong here')
    return f"{parts.scheme}://{parts.netloc.lower()}"


_PORT_MAX: Final = 65_535


def _as_bind(text: str) -> str:
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not colon or not bare or (":" in host and f"[{bare}]" != host):
        raise ValueError('is no address and port such as "127.0.0.1:8081" or "[::1]:8081"')
    if not port.isascii() or not port.isdecimal() or int(port) > _PORT_MAX:
        raise ValueError("has a wrong port: give a number from 0 to 65535; 0 takes a free one")
    return text


def bind_parts(bind: str) -> tuple[str, int]:
    """The host and the port of an address to listen on."""
    host, _, port = bind.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


Bind = Annotated[
    str,
    Field(json_schema_extra={"words": 'an address and a port in quotes: "127.0.0.1:8081"'}),
    AfterValidator(_as_bind),
]
PublicUrl = Annotated[
    str,
    Field(json_schema_extra={"words": 'an address in quotes, such as "https://sms.example.com"'}),
    AfterValidator(_as_origin),
]


class Section(BaseModel):
    """One table of the file: unknown keys are faults, values never change at run time."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


# Settings of the log of requests.


class RequestLogSection(Section):
    """The log of requests, by key: in a separate file, ``requests.db``, without texts, codes or
    secrets. It may be incomplete, and slows down no send."""

    enabled: bool = True
    """False: requests are no longer logged."""
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Days after which a request is deleted."""
    size_max_mb: Annotated[int, Field(ge=1, le=100_000)] = 256
    """The largest size of the file in megabytes; beyond it the oldest requests are deleted."""
    a_second_max: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The most requests logged in a second; further ones are counted and dropped. It bounds the
    log's cost for a loaded service."""


# Settings of sender names.

Word = Annotated[
    str,
    Field(
        min_length=1,
        max_length=40,
        json_schema_extra={"words": "a name of at most 40 characters"},
    ),
]

_GENERIC: Final = (
    *("admin", "alert", "alerte", "alerts", "auth", "bank", "banque", "cash", "client", "code"),
    *("company", "contact", "credit", "delivery", "demo", "info", "infos", "livraison", "login"),
    *("message", "mobile", "money", "msg", "news", "notice", "notif", "number", "offer", "offre"),
    *("otp", "paiement", "pay", "payment", "phone", "promo", "pub", "sante", "securite"),
    *("security", "service", "services", "shop", "sms", "store", "support", "test", "update"),
    *("verif", "verify", "welcome"),
)
_PROTECTED: Final = (
    # Networks and their brands.
    *("Chinguitel", "Mattel", "Mauritel", "Moov", "Orange"),
    # Banks and wallets of Mauritania.
    *("Amanty", "Attijari", "AUB", "BAMIS", "Bankily", "BCI", "BCM", "BEA", "BFI", "BIM", "BMCI"),
    *("BMI", "BNM", "BPM", "Click", "GazaPay", "GBM", "IBM", "Masrvi", "NBM", "Orabank"),
    *("QNB", "Sedad", "Société Générale"),
    # The state and public services.
    *("CNAM", "CNSS", "Douane", "Gendarmerie", "Houwiyeti", "Impots", "Mauripost", "Mauritanie"),
    *("Police", "SNDE", "SNIM", "Somelec"),
    # Names that are faked everywhere.
    *("Amazon", "Apple", "DHL", "Facebook", "FedEx", "Google", "Instagram", "Mastercard"),
    *("Microsoft", "MoneyGram", "Netflix", "PayPal", "Telegram", "TikTok", "UPS", "Visa"),
    *("Western Union", "WhatsApp"),
)


class SendersSection(Section):
    """Requests for senders that are marked for the operator, who decides; none is refused
    automatically. Names are compared as people read them quickly: ``M4TTEL`` is like Mattel. Names
    similar to the service's own sender, or to another organization's name or sender, are marked
    too."""

    generic: tuple[Word, ...] = _GENERIC
    """Words that are not a name: a sender made only of these is marked."""
    protected: tuple[Word, ...] = _PROTECTED
    """Banks, operators and others whose names are worth faking."""
