"""Refusals of the engine, explained to a reader of a page: the error, and how to fix it.

The API keeps the engine's own English sentences. Pages have theirs here by the code of a fault,
else by the kind of a refusal; others use the engine's words, which are in ``SPOKEN`` so that the
catalogues have them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup, escape

from risala.engine.model import errors
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_, Words

TOP: Final = ""
"""The field of an error that concerns the form as a whole."""

FAULTS: Final[Mapping[str, str]] = {
    "missing": N_("Fill this in."),
    "invalid_length": N_("This is too long, or empty."),
    "invalid_characters": N_("There is a character in it that cannot be kept."),
    "invalid_amount": N_("Write an amount in digits, like 100 or 99.50."),
    "invalid_email": N_("This is not an e-mail address. It looks like name@example.mr"),
    "invalid_phone_number": N_("A Mauritanian number has 8 digits and begins with 2, 3 or 4"),
    "too_few_digits": N_("Type at least four digits of the number."),
    "too_many_numbers": N_(
        "Too many numbers have these digits. Type more of them, or choose what it is."
    ),
    "invalid_origin": N_("An origin looks like https://shop.example, without a path."),
    "invalid_ip_address": N_("An address looks like 203.0.113.7, a network like 203.0.113.0/24."),
    "invalid_time_zone": N_("This is no time zone that we know. One looks like Africa/Nouakchott"),
    "invalid_time": N_("This is not a time that we understand."),
    "invalid_url": N_("Write an address that begins with https://"),
    "invalid_address": N_("This is not an e-mail address. It looks like name@example.mr"),
    "not_a_list": N_("Write one a line."),
    "same_email": N_("This is the address that you have."),
    "other_name": N_("This is not the name of this organization."),
    "invalid_days": N_("Choose one of the days that are offered."),
    "amount_out_of_range": N_("This is less, or more, than can be paid at once."),
    "unknown_method": N_("Choose one of the ways to pay."),
    "invalid_reference": N_("A reference has letters and digits: copy it from the receipt."),
    "reference_used": N_("This reference was credited already. Each works once."),
    "reference_waits": N_("This reference waits for confirmation already."),
    "wrong_code": N_("This is not the code."),
    "invalid_name": N_("This is too long, or empty."),
    "unsafe_name": N_("A name has no link, no e-mail address and no invisible characters."),
    "invalid_username": N_("A user name has letters, digits, and . _ @ - after the first."),
    "invalid_rate": N_("Write a number above 0."),
    "invalid_reason": N_("Choose one of the reasons."),
}
"""Sentences by the code of a field's fault."""

KINDS: Final[Mapping[type[errors.EngineError], str]] = {
    errors.InsufficientBalance: N_("The balance does not cover the price. Top up, then try again."),
    errors.SpendCapReached: N_(
        "The most that may be spent today is spent. Raise the limit, or go on after midnight."
    ),
    errors.RecipientOptedOut: N_("The recipient wants no messages; they can reply START."),
    errors.OutcomeUnknown: N_(
        "The disk failed in the middle of it: nobody knows yet whether it was done. Look first."
    ),
    errors.Unavailable: N_("The service cannot do this right now. Try again in a moment."),
    errors.NotFound: N_("There is no such thing in this organization."),
    errors.Forbidden: N_("This is not for your role."),
}
"""Sentences by the kind of a refusal; the most derived one decides."""


SPOKEN: Final = (
    N_("Changed meanwhile by {who}: look again, then change it."),
    N_("A message is sent within {count} days."),
    N_("A user owns at most {count} organizations."),
    N_("They are a member already."),
    N_("An organization has at most {count} members."),
    N_("An organization has at most {count} members and invitations."),
    N_("A user is in at most {count} organizations."),
    N_("An organization needs an owner: make somebody else one first."),
    N_("There is a user {address} already."),
    N_("The organization is deleted."),
    N_("A key has at most {count} allowed addresses."),
    N_("A key has at most {count} allowed origins."),
    N_("At most {count} deletions are under way at a time."),
    N_("A file is being written already."),
    N_("There are {count} files already: delete one first."),
    N_("The service is not running, which writes files."),
    N_("These codes are over; ask for the change again."),
    N_("At most {count} payments of an organization are under way at once."),
    N_("Nothing is asked of this payment any more."),
    N_("No more codes are sent for this payment: we check it by hand."),
    N_("No code was sent for this payment: ask for one."),
    N_("There is nobody to ask about this payment."),
    N_("The text is credited already."),
    N_(
        "The customer has not shown that the payer's number is theirs. Where you know whose money"
        " it is, confirm it as unchecked."
    ),
    N_(
        "The customer has not shown that the payer's number is theirs. Where you know whose money"
        " it is, confirm it as unchecked."
    ),
    N_("The reference {reference} was credited already: {sum} to {organization}, at {time}."),
    N_("The balance is {sum}: the adjustment would make it negative."),
    N_("The sender {name} was denied; it must be requested again."),
    N_("The name {name} is used by the organization {organization}."),
    N_("The payment is confirmed and credited; correct it by an adjustment."),
    N_("The text is credited already."),
    N_(
        "The customer has not shown that the payer's number is theirs. Where you know whose money"
        " it is, confirm it as unchecked."
    ),
    N_("There is nobody to ask about this payment."),
)
"""Refusals in the engine's own words, with placeholders for the values. A new refusal that a page
may meet needs its sentence here."""


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{([a-z]+)\\}", r"(?P<\1>.+?)", re.escape(sentence)))


_PATTERNS: Final = tuple((sentence, _pattern(sentence)) for sentence in SPOKEN)


def _in_words(words: Words, text: str) -> Markup:
    """The engine's sentence, in the reader's language where the catalogue has it."""
    for sentence, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None:
            holes = {
                name: Markup("<bdi>{}</bdi>").format(what)
                for name, what in found.groupdict().items()
            }
            return words(sentence, **holes)
    return escape(text)


ROLES: Final[Mapping[PageAccess, str]] = {
    PageAccess.VIEWER: N_("Members of this organization may do this."),
    PageAccess.DEVELOPER: N_(
        "Developers and owners of this organization may do this. Ask one of them."
    ),
    PageAccess.OWNER: N_("Only owners of this organization may do this. Ask one of them."),
}
"""The sentence for a reader whose role is too low."""


class RoleTooLow(errors.Forbidden):
    """A page or a form that the reader's role does not reach."""

    def __init__(self, access: PageAccess) -> None:
        super().__init__("This is not for your role.")
        self.access = access


def faults_of(words: Words, error: errors.EngineError) -> dict[str, Markup]:
    """The errors, by field; those of no field, or of one that no form has, under ``TOP``."""
    if not isinstance(error, errors.Invalid):
        return {TOP: refusal_sentence(words, error)}
    found: dict[str, Markup] = {}
    for fault in error.faults:
        known = FAULTS.get(fault.code)
        sentence = _in_words(words, fault.message) if known is None else words(known)
        found.setdefault(fault.path.partition(".")[0], sentence)
    return found


def refusal_sentence(words: Words, error: errors.EngineError) -> Markup:
    """A refusal as a sentence."""
    if isinstance(error, errors.RateLimited):
        return waiting(words, error.retry_after_s)
    if isinstance(error, RoleTooLow):
        return words(ROLES[error.access])
    for kind in type(error).__mro__:
        if kind in KINDS and kind is not errors.EngineError:
            return words(KINDS[kind])
    return _in_words(words, str(error))


def waiting(words: Words, seconds: int) -> Markup:
    """Too often: and when again."""
    if seconds < 120:
        return words.counted(
            "That was too often. Try again in {n} second.",
            "That was too often. Try again in {n} seconds.",
            seconds,
            n=seconds,
        )
    minutes = -(-seconds // 60)
    return words.counted(
        "That was too often. Try again in {n} minute.",
        "That was too often. Try again in {n} minutes.",
        minutes,
        n=minutes,
    )
