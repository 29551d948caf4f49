"""Reading one answer of the first run: the value that it means, or what is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from babel.core import get_global

from risala.config.payments import PARTS_PER_DAY_MAX
from risala.engine.model.records.fields import NAME_MAX
from risala.engine.rules.people.names import UnfitName, name_in_mails
from risala.http.web.languages import N_
from risala.sms.address import sender_fault, spelled
from risala.sms.currencies import decimals_of, example_amount, has_too_many
from risala.sms.numbering.plan import NumberingPlan, plan_of

Answers = Mapping[str, str]
"""The answers until now, by the questions' names."""
Reader = Callable[[str, Answers], str]
YES: Final = "yes"
NO: Final = "no"
_PORT_MAX: Final = 65_535
_RATE_MAX: Final = 100_000
_AMOUNT: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,4})?")
_AT_HOME: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Wrong(ValueError):
    """An answer that cannot be used.

    Args:
        sentence: what is wrong and what to do, as the catalogues have it.
        remark: what a carrier, a modem or a server said; it stands behind the sentence.
        holes: the values of the sentence's placeholders.
    """

    def __init__(self, sentence: str = "", remark: str = "", **holes: object) -> None:
        self.sentence = sentence
        self.remark = remark
        self.holes = holes
        super().__init__(" ".join(filter(None, (sentence.format(**holes), remark))))


def one_line(text: str, _: Answers) -> str:
    """Any text of one line; a password."""
    if not text.isprintable():
        raise Wrong(N_("It has a line end or another character that cannot be typed."))
    return text


def _matching(pattern: str, sentence: str) -> Reader:
    def read(text: str, _: Answers) -> str:
        if re.fullmatch(pattern, text) is None:
            raise Wrong(sentence)
        return text

    return read


def _number(sentence: str, least: int, most: int) -> Reader:
    def read(text: str, _: Answers) -> str:
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
            raise Wrong(sentence, least=least, most=most)
        return str(int(text))

    return read


def port(least: int = 1) -> Reader:
    return _number(N_("A port is a number from {least} to 65535."), least, _PORT_MAX)


_parts: Final = _number(
    N_("Write a whole number of parts, from 1 to {most}."), 1, PARTS_PER_DAY_MAX
)
carrier_name: Final = _matching(
    r"(?!test$)[a-z0-9][a-z0-9_-]{0,39}",
    N_("A name has small letters, digits, - and _, at most 40, such as carrier-1 or sim-1."),
)
host: Final = _matching(
    r"[A-Za-z0-9_.:-]{1,253}",
    N_("Write only the name or the address of the machine, such as smsc.example.net."),
)
system_id: Final = _matching(
    r"[ -~]{1,15}", N_("A system_id has 1 to 15 letters, digits and signs, without accents.")
)
pin: Final = _matching(r"[0-9]{4,8}", N_("A PIN has 4 to 8 digits."))
email: Final = _matching(
    r"[^@\s<>\"]{1,64}@[^@\s<>\"]+\.[^@\s.<>\"]+",
    N_("This is not an e-mail address. It looks like name@example.net"),
)


def parts_per_day(text: str, answers: Answers) -> str:
    return _parts(text.replace(" ", ""), answers)


def one_of(*keys: str) -> Reader:
    def read(text: str, _: Answers) -> str:
        choice = text.lower()
        if choice not in keys:
            raise Wrong(N_("Choose one of these: {choices}."), choices=", ".join(keys))
        return choice

    return read


def yes_or_no(text: str, _: Answers) -> str:
    if text.lower() in ("y", YES, "true", "on"):
        return YES
    if text.lower() in ("n", NO, "false", "off", ""):
        return NO
    raise Wrong(N_("Answer yes or no."))


def country(text: str, _: Answers) -> str:
    code = text.upper()
    try:
        plan_of((code,))
    except ValueError:
        raise Wrong(
            N_("{code} is no country that Risala knows. Write its two letters, such as FR or SN."),
            code=text,
        ) from None
    return code


def country_here() -> str:
    """The country of this machine, by its time zone or its language; empty where neither names
    one that is known."""
    zones: Mapping[str, str] = get_global("zone_territories")
    named = os.environ.get("TZ", "").lstrip(":")
    zone = named or os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    codes = [zones.get(zone, "")]
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        language = re.match(r"[a-z]{2,3}_([A-Z]{2})\b", os.environ.get(name, ""))
        codes += [] if language is None else [language[1]]
    for code in codes:
        with suppress(ValueError):
            return plan_of((code,)).home.code
    return ""


def currency(text: str, _: Answers) -> str:
    code = text.upper()
    if re.fullmatch("[A-Z]{3}", code) is None:
        raise Wrong(N_("A currency has three letters, such as EUR or XOF."))
    return code


def price(text: str, answers: Answers) -> str:
    money, plain = answers.get("currency", ""), text.replace(",", ".").strip()
    if _AMOUNT.fullmatch(plain) is None:
        raise Wrong(
            N_("Write an amount in digits, such as {amount}."), amount=example_amount(money)
        )
    if has_too_many(plain.partition(".")[2], decimals_of(money)):
        raise Wrong(
            N_("{currency} has {places} decimals. Write an amount such as {amount}."),
            currency=money,
            places=decimals_of(money),
            amount=example_amount(money),
        )
    return plain


def rate(text: str, _: Answers) -> str:
    try:
        parts = float(text.replace(",", "."))
    except ValueError:
        parts = 0.0
    if not 0 < parts <= _RATE_MAX:
        raise Wrong(N_("Write how many parts a second your contract allows, such as 10."))
    return f"{parts:g}"


def rate_of(text: str) -> float:
    """A whole number where it is one, as people write it."""
    number = float(text)
    return int(number) if number.is_integer() else number


def sender(text: str, _: Answers) -> str:
    name = spelled(text.upper())
    if sender_fault(name) is not None:
        raise Wrong(
            N_("A sender name has 1 to 11 letters, digits and spaces, and at least one letter.")
        )
    return name


preset: Final = _matching(
    "[a-z0-9][a-z0-9-]*", N_("Choose one of the aggregators in the list, by its name.")
)


def digits(text: str, _: Answers) -> str:
    number = text.removeprefix("+")
    if re.fullmatch("[0-9]{3,15}", number) is None:
        raise Wrong(N_("Write digits only, such as 2240000."))
    return number


def web_address(text: str, _: Answers) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Wrong(N_("Write the whole address, such as https://api.example.com."))
    return text.rstrip("/")


def modem_port(text: str, _: Answers) -> str:
    url = urlsplit(text)
    if text.startswith("/") or (url.scheme == "socket" and url.hostname):
        return text
    raise Wrong(N_("A port is a path such as /dev/ttyUSB0, or socket://host:port."))


def public_url(text: str, _: Answers) -> str:
    parts = urlsplit(text)
    try:
        at_home = parts.netloc.rpartition(":")[0] in _AT_HOME or parts.netloc in _AT_HOME
        good = bool(parts.hostname) and parts.username is None and (parts.port or 1) > 0
    except ValueError:
        good = at_home = False
    if not good or not (parts.scheme == "https" or (parts.scheme == "http" and at_home)):
        raise Wrong(N_("Write the whole address, such as https://sms.example.net."))
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise Wrong(N_("Enter the name only, no path: Risala needs a name of its own."))
    return f"{parts.scheme}://{parts.netloc.lower()}"


def organization(text: str, _: Answers) -> str:
    try:
        name = name_in_mails(text, NAME_MAX)
    except UnfitName:
        name = ""
    if not name or re.search("[<>@]", name):
        sentence = N_("A name has at most {most} characters, and no link or e-mail address.")
        raise Wrong(sentence, most=NAME_MAX)
    return name


def phone(text: str, answers: Answers) -> str:
    try:
        return plan_in(answers).read(text)
    except ValueError:
        raise Wrong(
            N_("This is no mobile number of your country. Write it like {example}."),
            example=plan_in(answers).local_example,
        ) from None


def plan_in(answers: Answers) -> NumberingPlan:
    """The numbers of the country that was answered."""
    return plan_of((answers["country"],))
