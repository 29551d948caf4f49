"""Refusals of the engine, explained to a reader of a page: the error, and how to fix it.

The API keeps the engine's own English sentences. Pages have theirs here by the code of a fault,
else by the kind of a refusal; others use the engine's words (:mod:`risala.http.web.spoken`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup, escape

from risala.engine.model import errors
from risala.engine.model.callers import OperatorRole, is_at_machine
from risala.engine.model.money import example
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_, STATES, Words, countries_of, country_name, listed
from risala.http.web.spoken import SPOKEN
from risala.sms.currencies import USUAL, decimals
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.numbering.written import SENTENCES, NumberFault

TOP: Final = ""
"""The field of an error that concerns the form as a whole."""

_NO_NUMBER: Final = "invalid_phone_number"

_NEARLY_NUMBERS: Final = {sentence: fault.value for fault, sentence in SENTENCES.items()}
"""By the engine's sentence: what is wrong with a text that is no number, where that is known."""

_NOT_SERVED: Final = re.compile(r".+ \(([A-Z]{2})\) is not open here: ")
"""The engine's sentence on a number abroad."""

_USUAL_AMOUNT: Final = N_("Write an amount in digits, like 100 or 99.50.")
FAULTS: Final[Mapping[str, str]] = {
    "missing": N_("Fill this in."),
    "invalid_length": N_("This is empty or too long."),
    "invalid_characters": N_("This contains a character that cannot be stored."),
    "invalid_amount": _USUAL_AMOUNT,
    "invalid_email": N_("This is not an e-mail address. It looks like name@example.net"),
    _NO_NUMBER: N_("A Mauritanian number has 8 digits and begins with 2, 3 or 4"),
    NumberFault.SHORTENED: N_(
        "A spreadsheet has shortened this number, and its last digits are lost. Format the column "
        "as text, then enter the number again."
    ),
    NumberFault.TWO_NUMBERS: N_("These are two numbers. Leave only one of them."),
    NumberFault.EXTENSION: N_(
        "This number has an extension, which no message reaches. Leave only the number."
    ),
    "too_few_digits": N_("Type at least four digits of the number."),
    "no_number_part": N_("Type a number, or at least four digits of one."),
    "too_many_numbers": N_("Too many numbers have these digits. Type more of them."),
    "invalid_origin": N_("An origin looks like https://shop.example, without a path."),
    "invalid_ip_address": N_("An address looks like 203.0.113.7, a network like 203.0.113.0/24."),
    "invalid_time_zone": N_("This time zone is unknown. Write one like {zone}"),
    "invalid_time": N_("This is not a valid time."),
    "past_time": N_("This time is over. To stop a key at once, disable it."),
    "beyond_key_age": N_(
        "Keys may not last that long here. Leave empty for the longest time allowed."
    ),
    "key_too_old": N_("Its value is too old. Rotate the key."),
    "invalid_age": N_("Write a number of days from 1 to 3650, or nothing."),
    "invalid_url": N_("Write an address that begins with https://"),
    "invalid_address": N_("This is not an e-mail address. It looks like name@example.net"),
    "not_a_list": N_("Write one per line."),
    "same_email": N_("This is already your address."),
    "other_name": N_("This is not the name of this organization."),
    "invalid_days": N_("Choose one of the offered numbers of days."),
    "invalid_keyword": N_("A keyword is one word of at most 30 characters."),
    "too_many_keywords": N_("These are too many, or too long."),
    "unknown_variable": N_(
        "One of the variables is not known. You can use number, name, keyword, date and time."
    ),
    "too_many_variables": N_("This has more than 10 variables."),
    "invalid_word": N_("Write one word of 1 to 20 letters."),
    "word_taken": N_("This word means something else already. Take another one."),
    "list_missing": N_("Choose a list for a word that names one, and for no other."),
    "unknown_placeholder": N_("In double braces only the names shown above may stand."),
    "invalid_fixed_code": N_("Write 6 to 8 digits."),
    "invalid_fixed_days": N_("Write a number of days from 1 to 90."),
    "amount_out_of_range": N_("This amount is below or above what can be paid at once."),
    "unknown_method": N_("Choose one of the ways to pay."),
    "invalid_reference": N_("A reference has only letters and digits. Copy it from the receipt."),
    "reference_used": N_("This reference was already credited. Each reference works once."),
    "reference_waits": N_("This reference is already waiting for confirmation."),
    "no_way_back": N_(
        "First let an owner set up a passkey or an authenticator app: with an e-mail code and that "
        "they get in when the identity provider fails."
    ),
    "invalid_domain": N_("Write domains such as example.com, one a line."),
    "invalid_hours": N_("Write a number of hours that is offered."),
    "too_many_values": N_("These are too many, or too long."),
    "wrong_code": N_("This is not the code."),
    "wrong_passkey": N_("This passkey could not be checked. Try again."),
    "invalid_name": N_("This is empty or too long."),
    "unsafe_name": N_("A name must not contain a link, an e-mail address or invisible characters."),
    "invalid_username": N_(
        "A user name has letters and digits. The characters . _ @ - may follow the first one."
    ),
    "invalid_rate": N_("Write a number above 0."),
    "several_sources": N_("Choose one of them: numbers, a list or a file."),
    "unknown_list": N_("This is neither a phone number nor the name of a list."),
    "file_too_large": N_("The file is larger than 20 MB."),
    "empty_file": N_("The file has no row with anything in it."),
    "no_rows": N_("The file has the names of its columns, and no row below them."),
    "all_hidden": N_(
        "What the workbook shows has no phone numbers, and it hides rows, columns or sheets. Show "
        "them in your spreadsheet program and save it again."
    ),
    "not_a_table": N_("The file is no table. Save the list as CSV or as Excel (.xlsx)."),
    "old_workbook": N_("This is a workbook of an old form (.xls). Save it as .xlsx."),
    "other_workbook": N_(
        "This kind of workbook cannot be read. Save the list as CSV or as Excel (.xlsx)."
    ),
    "protected_workbook": N_("The workbook has a password. Save it without one, then try again."),
    "broken_workbook": N_("The workbook is damaged. Open it in Excel and save it again."),
    "formula_without_value": N_(
        "A cell has a formula without its value. Open the file in Excel and save it again."
    ),
    "broken_encoding": N_("Some letters of the file cannot be read. Save it as Excel (.xlsx)."),
    "nul_characters": N_("The file is no text. Save the list as CSV or as Excel (.xlsx)."),
    "two_headings": N_("The file has two rows of headings. Delete one of them."),
    "no_numbers": N_("No column of the file has phone numbers that we can reach."),
    "too_many_rows": N_("The file has more than 100,000 rows. Divide it."),
    "too_many_empty_rows": N_(
        "The file has more than 200,000 empty or hidden rows. Delete them, then save it again."
    ),
    "too_many_columns": N_("The file has more than 100 columns."),
    "cell_too_long": N_("A cell has more than 1,000 characters."),
    "too_big": N_("The file takes too much memory or time to read. Divide it."),
    "unknown_sheet": N_("The workbook has no such sheet."),
    "unknown_column": N_("The file has no such column."),
    "same_name": N_("This name is taken. Choose another one."),
    "not_one": N_("A file or numbers: only one of them."),
    "invalid_reason": N_("Choose one of the reasons."),
    "invalid_prefix": N_("Write a plus sign and digits, like +221"),
    "home": N_("These are numbers at home. Their price is the price of a part."),
    "too_long": N_("This is too long."),
    "out_of_range": N_("This number is too small or too large."),
    "empty": N_("Write the text first."),
    "invalid_unit": N_("Choose days, weeks or months."),
    "invalid_day": N_("Write a day of the calendar."),
    "outside_hours": N_(
        "At this time its mailings do not send. Choose another time, or other hours below."
    ),
    "no_run": N_("So there is no run any more. Choose a later end."),
    "invalid_person": N_(
        "A line is a number, then perhaps days and hours, as the hint below says."
    ),
    "reserved_word": N_("This word begins or ends messages to its writer. Choose another one."),
    "unknown_chain": N_("This alarm is gone. Choose another one."),
    "named_twice": N_("Another header field has this name already."),
    "no_price": N_(
        "This country has no price. Set one for the organization, or a general one in the settings "
        "file."
    ),
}
"""Sentences by the code of a field's fault."""

KINDS: Final[Mapping[type[errors.EngineError], str]] = {
    errors.InsufficientBalance: N_("The balance does not cover the price. Top up, then try again."),
    errors.SpendCapReached: N_(
        "The spending limit for today is reached. Raise the limit, or continue after midnight."
    ),
    errors.SenderNotApproved: N_(
        "This sender is not approved for your organization. Ask for it under Sender IDs, or leave "
        "it out."
    ),
    errors.RecipientOptedOut: N_(
        "The recipient has opted out of your messages. They can opt in again by replying START."
    ),
    errors.CountryNotOpen: N_(
        "This country is not open to your organization. Ask the operator of this service to open "
        "it."
    ),
    errors.OutcomeUnknown: N_(
        "The disk failed, and it is not yet known whether this was done. Check before you try "
        "again."
    ),
    errors.Unavailable: N_("The service cannot do this right now. Try again in a moment."),
    errors.NotFound: N_("This does not exist in this organization."),
    errors.Forbidden: N_("Your role does not allow this."),
}
"""Sentences by the kind of a refusal, if the engine's own is not known; the most derived kind
decides."""


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{([a-z]+)\\}", r"(?P<\1>.+?)", re.escape(sentence)))


_PATTERNS: Final = tuple((sentence, _pattern(sentence)) for sentence in SPOKEN)


def in_words(words: Words, text: str) -> Markup:
    """The engine's sentence, in the reader's language where the catalogue has it, without the
    marks that stand around names in it."""
    known = _known(words, text)
    return escape(text) if known is None else known


def _known(words: Words, text: str) -> Markup | None:
    for sentence, pattern in _PATTERNS:
        match = pattern.fullmatch(text)
        if match is not None:
            holes = {name: _value(words, name, what) for name, what in match.groupdict().items()}
            return words(sentence, **holes)
    return None


def _value(words: Words, name: str, what: str) -> Markup:
    if name == "state" and what in STATES:
        return words.among("state", STATES[what].word)
    return Markup("<bdi>{}</bdi>").format(what.replace("`", ""))


_IN_ROW: Final = re.compile(r"Row (\d+): ")
"""How the engine begins what is wrong with a row of a file."""
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
        super().__init__("Your role does not allow this.")
        self.access = access


OPERATOR_ROLES: Final[Mapping[OperatorRole, str]] = {
    OperatorRole.ADMINISTRATOR: NC_("operator", "administrator"),
    OperatorRole.FINANCE: NC_("operator", "finance"),
    OperatorRole.SUPPORT: NC_("operator", "support"),
    OperatorRole.VIEWER: NC_("operator", "viewer"),
}
"""The names of operators' roles."""


class ConsoleLocked(errors.Forbidden):
    """The console answers another address alone."""

    def __init__(self) -> None:
        super().__init__("The console is locked to another address.")


class OperatorRoleTooLow(errors.Forbidden):
    """A page or a form of the console that the operator's role does not reach."""

    def __init__(self, role: OperatorRole) -> None:
        super().__init__(f"This is not for the role {role.value!r}.")
        self.role = role


def faults_of(words: Words, error: errors.EngineError, plan: NumberingPlan) -> dict[str, Markup]:
    """The errors, by field; those of no field, or of one that no form has, under ``TOP``.

    Args:
        plan: the numbers that are served.
    """
    if not isinstance(error, errors.Invalid):
        return {TOP: refusal_sentence(words, error)}
    sentences: dict[str, Markup] = {}
    zone = plan.home.time_zone
    for fault in error.faults:
        code = _NEARLY_NUMBERS.get(fault.message, fault.code)
        known = FAULTS.get(code)
        sentence = in_words(words, fault.message) if known is None else words(known, zone=zone)
        if code == _NO_NUMBER and not plan.is_default:
            sentence = no_number(words, plan)
        abroad = _NOT_SERVED.match(fault.message)
        if abroad is not None:
            sentence = not_served(words, plan, abroad[1])
        if fault.code in ("too_few_digits", "no_number_part") and not plan.is_default:
            sentence = words("Type at least {n} digits of the number.", n=plan.part_min)
        if fault.code == "invalid_amount":
            sentence = amount_sentence(words)
        if (known is not None or abroad) and (in_row := _IN_ROW.match(fault.message)):
            sentence = words("Row {n}: {fault}", n=in_row[1], fault=sentence)
        sentences.setdefault(fault.path.partition(".")[0], sentence)
    return sentences


def not_served(words: Words, plan: NumberingPlan, code: str) -> Markup:
    """A number is of a country that is not served: which one, and which ones are."""
    return words(
        "{country} is not open here: messages go to {countries}. The operator of this service can "
        "open it.",
        country=country_name(words.language, code, code),
        countries=listed(words.language, countries_of(plan, words.language)),
    )


def no_number(words: Words, plan: NumberingPlan) -> Markup:
    """A text is no number of the served countries: which ones these are."""
    return words(
        "This is no mobile number of a country that is served: {countries}. A number looks like "
        "{example}",
        countries=listed(words.language, countries_of(plan, words.language)),
        example=plan.example,
    )


_WHOLE_AMOUNT: Final = N_("Write an amount in digits, without decimals, like 100.")
_OTHER_AMOUNT: Final = N_("Write an amount in digits, like 100 or {amount}.")


def amount_sentence(words: Words) -> Markup:
    """What an amount must be, in the service's currency."""
    places = decimals()
    if places == USUAL:
        return words(_USUAL_AMOUNT)
    return words(_OTHER_AMOUNT, amount=example()) if places else words(_WHOLE_AMOUNT)


def done_by(words: Words, who: str, *, alone: bool = False) -> Markup:
    """The actor of something: a person's address or a program's id; a user of the service's
    machine is named as the operator.

    Args:
        alone: it is not part of a sentence, or begins one.
    """
    if not is_at_machine(who):
        return Markup("<bdi>{}</bdi>").format(who)
    if alone:
        return words("The operator of this service")
    return words("the operator of this service")


def refusal_sentence(words: Words, error: errors.EngineError) -> Markup:
    """A refusal as a sentence."""
    if isinstance(error, errors.EditConflict):
        return words(
            "{who} changed this meanwhile. Check what the form has now, then save it again.",
            who=done_by(words, error.who, alone=True),
        )
    if isinstance(error, errors.RateLimited):
        return waiting(words, error.retry_after_s)
    if isinstance(error, RoleTooLow):
        return words(ROLES[error.access])
    if isinstance(error, ConsoleLocked):
        return words(
            "The console is locked to another address. On the machine, {command} opens it.",
            command=Markup("<code>risala console unlock</code>"),
        )
    if isinstance(error, OperatorRoleTooLow):
        return words(
            "Your role in the console, {role}, does not allow this. Ask an administrator.",
            role=words.among("operator", OPERATOR_ROLES[error.role]),
        )
    if (known := _known(words, str(error))) is not None:
        return known
    for kind in type(error).__mro__:
        if kind in KINDS and kind is not errors.EngineError:
            return words(KINDS[kind])
    return escape(str(error))


def waiting(words: Words, seconds: int) -> Markup:
    """Too often: and when again."""
    if seconds < 120:
        return words.counted(
            "Too many attempts. Try again in {n} second.",
            "Too many attempts. Try again in {n} seconds.",
            seconds,
            n=seconds,
        )
    minutes = -(-seconds // 60)
    return words.counted(
        "Too many attempts. Try again in {n} minute.",
        "Too many attempts. Try again in {n} minutes.",
        minutes,
        n=minutes,
    )
