"""The texts of mails, in the reader's language: composed when they leave, with codes.

The words are in ``letters/*.toml``, one file for each language, each with the same kinds and the
same placeholders. Names, others' texts and numbers are put into them in a form that is safe and
usual in our own sentences.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import trio

from risala.engine.accounts.accounts import Accounts
from risala.engine.journal.repositories import Repositories
from risala.engine.model.callers import is_at_machine
from risala.engine.model.errors import NotFound
from risala.engine.model.features import Declared, features
from risala.engine.model.money import money
from risala.engine.model.people import Language
from risala.engine.model.people_records import MailKind, OwedMail
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.webhooks import Endpoint
from risala.engine.people.account import change_basis
from risala.engine.people.sign_in import code_basis
from risala.engine.people.tokens import Derived
from risala.engine.rules.people.lifetimes import (
    CHANGE_MS,
    CODE_DIGITS,
    CODE_MS,
    MINUTE_MS,
    SIGN_IN_DIGITS,
)
from risala.engine.rules.people.names import name_fault
from risala.plugins.mail import Mail

Words = Mapping[str, Any]
Values = dict[str, str]
_OURS: Final = {"title", "what"}
"""Sentences of a catalogue, with others' texts already on one line."""
_COPIED: Final = {"code", "url", "target", "issuer", "email", "head"}
"""What a reader copies or opens, and what stands at the end of its line: no marks around it."""
_GAP: Final = re.compile("\n{3,}")
"""Empty lines that a line without content leaves behind."""


@cache
def words_in(language: Language) -> Words:
    """The catalogue of one language."""
    place = resources.files("risala.engine.people") / "letters" / f"{language.value}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


_FORM: Final = "d MMM y, HH:mm"
_NOUAKCHOTT: Final = "Africa/Nouakchott"
"""The time zone of readers who call some months otherwise in Arabic than others do."""
_NAME_MAX: Final = 60
"""Characters of an endpoint's description in a mail."""


class Letters:
    """Fills the words of mails; what a feature's mails say, the feature fills."""

    def __init__(
        self,
        repositories: Repositories,
        accounts: Accounts,
        derived: Derived,
        public_url: str,
        console_url: str,
        zone: str,
        say_driver: SayDriver,
    ) -> None:
        self.repositories = repositories
        self.accounts = accounts
        self._derived = derived
        self.url = public_url
        self.console_url = console_url
        self.zone = zone
        self.say_driver = say_driver
        self._values_of: Mapping[MailKind, Callable[[OwedMail, Words], Values | None]] = {
            MailKind.SIGN_IN_CODE: self._sign_in_code,
            MailKind.INVITATION: self._invitation,
            MailKind.OLD_ADDRESS_CODE: self._address_code,
            MailKind.NEW_ADDRESS_CODE: self._address_code,
            MailKind.ADDRESS_CHANGED: self._address_changed,
            MailKind.WEBHOOK_DISABLED: self._webhook_disabled,
            MailKind.LOW_BALANCE: self._low_balance,
            MailKind.KEY_EXPIRES: self._key_expires,
            MailKind.AUDIT_HEAD: self._audit_head,
        }

    async def prepare(self, owed: OwedMail) -> None:
        """Read what the words of a mail need; slow once for each language, so in a thread."""
        if owed.kind in _quoting():
            await trio.to_thread.run_sync(self.say_driver, owed.language, "")

    def write(self, owed: OwedMail) -> Mail | None:
        """The mail in words; None: its subject has ended."""
        words = words_in(owed.language)
        try:
            values = self._filled(owed, words)
        except NotFound:
            return None
        if values is None:
            return None
        holes = {name: hole_of(owed.language, name, value) for name, value in values.items()}
        letter = words[owed.kind.value]
        subject, text = letter["subject"].format(**holes), letter["text"].format(**holes)
        return Mail(owed.recipient, subject, _GAP.sub("\n\n", text.lstrip("\n")))

    def _filled(self, owed: OwedMail, words: Words) -> Values | None:
        own = self._values_of.get(owed.kind)
        if own is not None:
            return own(owed, words)
        values: Values | None = _theirs()[owed.kind]()(self, owed, words)
        return values

    def _sign_in_code(self, owed: OwedMail, _: Words) -> Values | None:
        request = self.repositories.sign_in.request(owed.details["request"])
        if request is None:
            return None
        digits = SIGN_IN_DIGITS[request.kind]
        code = self._derived.sign_in_codes.code(code_basis(request), digits, test=False)
        return {"code": code, "minutes": str(CODE_MS // MINUTE_MS)}

    def _address_code(self, owed: OwedMail, _: Words) -> Values | None:
        change = self.repositories.users.email_change(owed.details["user"])
        if change is None or change.id != owed.details["change"]:
            return None
        which = "old" if owed.kind is MailKind.OLD_ADDRESS_CODE else "new"
        basis = change_basis(change.id, which)
        code = self._derived.address_codes.code(basis, CODE_DIGITS, test=False)
        return {"code": code, "minutes": str(CHANGE_MS // MINUTE_MS), "email": change.email}

    def _address_changed(self, owed: OwedMail, _: Words) -> Values:
        return {"email": owed.details["email"]}

    def _invitation(self, owed: OwedMail, words: Words) -> Values:
        invitation = self.repositories.members.invitation(owed.details["invitation"], owed.due_at)
        organization = self.accounts.organization(invitation.organization_id)
        return {
            "organization": named(organization),
            "who": who_did(invitation.invited_by, words, "begins"),
            "role": words["roles"][invitation.role.value],
            "until": moment(invitation.expires_at, owed.language, organization.time_zone),
            "url": f"{self.url}/sign-in",
        }

    def _webhook_disabled(self, owed: OwedMail, words: Words) -> Values:
        endpoint = self.repositories.endpoints.endpoint(owed.details["endpoint"])
        organization = self.accounts.organization(endpoint.organization_id)
        reasons = words["reasons"]
        return {
            "organization": named(organization),
            "endpoint": name_of(endpoint),
            "target": endpoint.url,
            "when": moment(owed.details["at"], owed.language, organization.time_zone),
            "why": reasons.get(owed.details["reason"], reasons["other"]),
            "url": f"{self.url}/app/{organization.id}/webhooks/{endpoint.id}",
        }

    def _low_balance(self, owed: OwedMail, _: Words) -> Values:
        organization = self.accounts.fresh_organization(owed.details["organization"])
        return {
            "organization": named(organization),
            "balance": amount(owed.details["balance"], owed.language),
            "currency": organization.currency,
            "url": f"{self.url}/app/{organization.id}/billing",
        }

    def _key_expires(self, owed: OwedMail, _: Words) -> Values | None:
        key = self.accounts.key(owed.details["key"])
        if key.expires_at is None or key.expires_at != owed.details["expires_at"]:
            return None
        organization = self.accounts.organization(key.organization_id)
        return {
            "organization": named(organization),
            "key": f"{key.name or ''} …{key.last4}".strip(),
            "when": moment(key.expires_at, owed.language, organization.time_zone),
            "url": f"{self.url}/app/{organization.id}/keys/{key.id}",
        }

    def _audit_head(self, owed: OwedMail, _: Words) -> Values:
        return {"head": owed.details["head"], "line": str(owed.details["line"])}


@cache
def _theirs() -> Mapping[MailKind, Declared]:
    """What fills the mails of features."""
    return {kind: fill for feature in features() for kind, fill in feature.letters.items()}


@cache
def _quoting() -> frozenset[MailKind]:
    """The mails that quote drivers."""
    return frozenset(kind for feature in features() for kind in feature.quoting)


def named(organization: Organization) -> str:
    """A name from before names were checked may contain a link: then the id replaces it."""
    return organization.id if name_fault(organization.name) else organization.name


def hole_of(language: Language, name: str, value: str) -> str:
    """A value for its hole, on one line; a name or a number apart where it is read the other way
    than the sentence."""
    if name in _OURS:
        return value
    return one_line(value) if name in _COPIED else apart(language, one_line(value))


def who_did(who: str, words: Words, form: str) -> str:
    """The person who did something, for a customer: a user of the service's machine is its
    operator.

    Args:
        form: ``begins`` a sentence, or ``operator`` inside of one.
    """
    return str(words["people"][form]) if is_at_machine(who) else who


def amount(minor: int, language: Language) -> str:
    """Minor units as pages write them."""
    return figure(language, money(minor))


def name_of(endpoint: Endpoint) -> str:
    """What its owners call an endpoint: its description, else the host that it sends to."""
    own = one_line(endpoint.description)[:_NAME_MAX]
    return urlsplit(endpoint.url).hostname or endpoint.id if not own or name_fault(own) else own


def moment(at_ms: int, language: Language, zone: str) -> str:
    """A time by the clock of those whom a mail is about, as pages write it."""
    from babel.dates import format_datetime  # reads the language's own data from the disk

    locale = language.value
    if language is Language.ARABIC and zone == _NOUAKCHOTT:
        locale = f"{locale}_MR"
    at = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone))
    return format_datetime(at, _FORM, locale=locale)


SayDriver = Callable[[Language, str], str]
"""Says a driver's text in a language, as far as it is one of our drivers'."""
_CONTROL: Final = "C"
"""The categories of control and format characters, and of non-characters."""
_LEFTWARD: Final = frozenset({"R", "AL"})
"""Unicode's directions of letters that are read from right to left."""
_RIGHTWARD: Final = frozenset({"L", "EN"})
"""Unicode's directions of Latin letters and of digits."""


def as_written(_: Language, text: str) -> str:
    """A driver's text as the driver wrote it."""
    return text


def one_line(text: str) -> str:
    """A text of others without anything that breaks a line or turns the reading direction."""
    return "".join(
        " " if each.isspace() else each
        for each in text
        if each.isspace() or unicodedata.category(each)[0] != _CONTROL
    ).strip()


def apart(language: Language, text: str) -> str:
    """A name or a number inside a sentence: in an isolate where it is read the other way, because
    else its parts, and those beside it, change places: a sign and its digits too."""
    turned = _RIGHTWARD if language is Language.ARABIC else _LEFTWARD
    if turned.isdisjoint(map(unicodedata.bidirectional, text)):
        return text
    return f"\u2068{text}\u2069"


def figure(language: Language, number: str) -> str:
    """A number as pages write it: ``12480.50`` is 12 480,50 in French."""
    exact = Decimal(number)
    text = f"{abs(exact):,f}"
    if language is not Language.ENGLISH:
        text = text.replace(",", "\u00a0").replace(".", ",")
    return ("\u2212" if exact < 0 else "") + text
