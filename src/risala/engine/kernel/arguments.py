"""The arguments of operations: models that take JSON values strictly and name every fault at once.

A value that is null counts as not given, except where an argument says what its null means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from risala.dataclass import dataclass
from risala.engine.model.errors import FieldFault, Invalid
from risala.engine.model.money import minor_units
from risala.engine.model.origins import parse_addresses, parse_origins
from risala.engine.model.records.fields import NAME_MAX
from risala.engine.model.records.record import fields_of
from risala.engine.model.wire import Unstorable, is_text, unstorable
from risala.engine.rules.people.names import NameTooLong, UnfitName, as_name
from risala.sms.address import sender_fault
from risala.sms.numbering.plan import DEFAULT, NumberingPlan
from risala.sms.numbering.written import NumberFault, UnreadNumber

Json = dict[str, Any]
A = TypeVar("A", bound="Arguments")
T = TypeVar("T")

AMOUNT_MAX: Final = 10**14
"""The largest amount in minor units, a trillion ouguiyas: more is a typing mistake, and would
leave the range in which SQLite's integers are exact."""
RATE_MAX: Final = 1e5
SEARCH_MAX: Final = 254
"""Characters: as an e-mail address has at most."""
MOMENT_MIN_MS: Final = -62_135_596_800_000
MOMENT_MAX_MS: Final = 253_402_300_799_999
"""The years 1 to 9999: others can be written neither in answers nor in mails."""
_UNSTORABLE: Final = {
    Unstorable.CHARACTERS: "NUL and lone surrogates are not allowed in `{name}`.",
    Unstorable.NUMBER: "`{name}` has a number of more than 64 bits, or one that is none.",
}
CONTAINED_MAX: Final = 60
"""The most characters of a search: more than anybody types."""


class Arguments(BaseModel):
    """Base of all arguments: frozen, no coercion, no unknown names."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True
    )

    def values_of(self, record: type[Any], *, besides: Iterable[str] = ()) -> dict[str, Any]:
        """The fields that a record has too, with given or default values; some are left out."""
        names = {each.name for each in fields_of(record)} - {*besides}
        return {name: getattr(self, name) for name in type(self).model_fields if name in names}

    def given_of(self, record: type[Any]) -> dict[str, Any]:
        """The given fields that a record has too."""
        names = self.model_fields_set
        return {name: value for name, value in self.values_of(record).items() if name in names}


class NoArguments(Arguments):
    """For operations without arguments."""


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """An argument's kind, as the reference calls it."""

    text: str


def parse(model: type[A], values: Json, plan: NumberingPlan = DEFAULT) -> A:
    """The arguments of one operation.

    Args:
        plan: whose numbers are read as people write them.

    Raises:
        Invalid: each fault, with its path, code and a sentence.
    """
    refuse_unstorable(values)
    try:
        return model.model_validate(values, context=plan)
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False)
        raise Invalid.of([_fault(each) for each in errors]) from None


def refuse_unstorable(values: Json) -> None:
    """Refuse what no database and no answer can keep, whatever argument it is in.

    Raises:
        Invalid: each of them.
    """
    reasons = {name: why for name, value in values.items() if (why := unstorable({name: value}))}
    if reasons:
        raise Invalid.of([_unstorable(name, why) for name, why in reasons.items()])


def _unstorable(name: str, why: Unstorable) -> FieldFault:
    shown = name if is_text(name) else ""
    return FieldFault(shown, why.value, _UNSTORABLE[why].replace("{name}", shown))


def _fault(error: ErrorDetails) -> FieldFault:
    path, code, text = ".".join(map(str, error["loc"])), error["type"], error["msg"]
    if code == "missing":
        text = "`{name}` is required."
    elif code == "extra_forbidden":
        code, text = "unknown_argument", "There is no such argument: `{name}`."
    return FieldFault(path, code, text.replace("{name}", path))


def fault(code: str, text: str) -> PydanticCustomError:
    """The error that refuses a value; ``{name}`` in its text stands for the argument's name."""
    return PydanticCustomError(code, text)


def maybe(parse_one: Callable[[object], T]) -> Callable[[object], T | None]:
    """A parser that reads null as not given, and gives any other value to ``parse_one``."""

    def parse_maybe(value: object) -> T | None:
        return None if value is None else parse_one(value)

    return parse_maybe


def maybe_at_home(
    parse_one: Callable[[object, ValidationInfo], T],
) -> Callable[[object, ValidationInfo], T | None]:
    """As :func:`maybe`, for a parser that asks the numbering plan."""

    def parse_maybe(value: object, info: ValidationInfo) -> T | None:
        return None if value is None else parse_one(value, info)

    return parse_maybe


def one_of(code: str, words: Iterable[str]) -> Callable[[object], str]:
    """A parser of a text that must be one of these; ``code`` is the fault's code."""
    known = tuple(words)

    def parse_word(value: object) -> str:
        word = text(value)
        if word not in known:
            raise fault(code, f"`{{name}}` is one of: {', '.join(known)}.")
        return word

    return parse_word


def text(value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise fault("missing", "`{name}` is required.")
    if not is_text(value):
        raise fault("invalid_characters", _UNSTORABLE[Unstorable.CHARACTERS])
    return value


def words(characters_max: int) -> Callable[[object], str]:
    """A parser of texts on one line, of 1 to ``characters_max`` characters."""

    def parse_words(value: object) -> str:
        line = " ".join(text(value).split())
        if not 1 <= len(line) <= characters_max:
            raise fault("invalid_length", f"`{{name}}` has 1 to {characters_max} characters.")
        return line

    return parse_words


def search(value: object) -> str:
    """A text that is looked for: longer ones are in nothing, and SQLite has a bound for them."""
    searched = text(value)
    if len(searched) > SEARCH_MAX:
        raise fault("invalid_length", f"`{{name}}` has at most {SEARCH_MAX} characters.")
    return searched


def name_text(
    characters_max: int,
    code: str = "invalid_length",
    sentence: str = "",
    *,
    may_be_empty: bool = False,
) -> Callable[[object], str]:
    """A parser of what a person calls something, whatever it is: :func:`as_name` is the rule.

    Args:
        code: of the fault that it is too long.
        sentence: of that fault.
    """
    allowed = "can have at most" if may_be_empty else "has 1 to"
    length = sentence or f"`{{name}}` {allowed} {characters_max} characters."

    def parse_name(value: object) -> str:
        try:
            name = as_name(any_text(value) if may_be_empty else text(value), characters_max)
        except NameTooLong:
            raise fault(code, length) from None
        except UnfitName as error:
            raise fault("unsafe_name", str(error)) from None
        if not name and not may_be_empty:
            raise fault(code, length)
        return name

    return parse_name


def any_text(value: object) -> str:
    """A text that may be empty."""
    if not (isinstance(value, str) and is_text(value)):
        raise fault("invalid_text", "`{name}` must be text.")
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list | tuple):
        raise fault("invalid_list", "`{name}` must be a list of texts.")
    return tuple(text(each) for each in value)


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise fault("invalid_flag", "`{name}` must be true or false.")
    return value


def rate(value: object) -> float:
    """A number above 0, per second."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= RATE_MAX:
        raise fault("invalid_rate", "`{name}` must be a number above 0.")
    return float(value)


def whole(value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise fault("invalid_number", "`{name}` must be a whole number.")
    return value


def moment(value: object) -> int:
    """UTC epoch milliseconds of an ISO 8601 time with its offset."""
    written = text(value)
    try:
        instant = datetime.fromisoformat(written)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise fault("invalid_time", "`{name}` must be a time like 2026-11-21T08:30:00Z.")
    at_ms = round(instant.timestamp() * 1000)
    if not MOMENT_MIN_MS <= at_ms <= MOMENT_MAX_MS:
        raise fault("invalid_time", "`{name}` must be in the years 1 to 9999, in UTC.")
    return at_ms


def amount(value: object) -> int:
    """Minor units."""
    written = text(value)
    try:
        units = minor_units(written)
    except ValueError as error:
        raise fault("invalid_amount", f"`{{name}}`: {error}.") from error
    if units > AMOUNT_MAX:
        raise fault("invalid_amount", "`{name}` is too large for an amount.")
    return units


def amount_above_0(value: object) -> int:
    """An amount above 0, as minor units."""
    units = amount(value)
    if not units:
        raise fault("invalid_amount", "`{name}` must be more than 0.")
    return units


def signed_amount(value: object) -> int:
    """Minor units, not zero, of an amount with or without a sign."""
    written = text(value)
    sign = -1 if written.startswith("-") else 1
    units = amount(written.removeprefix("-" if sign < 0 else "+"))
    if not units:
        raise fault("invalid_amount", "`{name}` must not be 0.")
    return sign * units


def number(value: object, info: ValidationInfo) -> str:
    """A phone number of a served country as a person writes it, as ``+`` and digits."""
    plan: NumberingPlan = info.context or DEFAULT
    written = text(value)
    try:
        return plan.read(written)
    except UnreadNumber as error:
        raise unread(error, plan) from None


def unread(error: UnreadNumber, plan: NumberingPlan) -> PydanticCustomError:
    """The error that refuses what a person typed as a number."""
    usual = f"`{{name}}` must look like {plan.example}."
    return fault("invalid_phone_number", usual if error.fault is NumberFault.NUMBER else str(error))


def number_part(value: object, info: ValidationInfo) -> str:
    """Digits in a row of a phone number, as many as a search needs."""
    plan: NumberingPlan = info.context or DEFAULT
    digits = plan.digits_of(text(value))
    if digits is None:
        raise fault("invalid_phone_number", "`{name}` must be digits of a phone number.")
    if len(digits) < plan.part_min:
        raise fault("too_few_digits", f"`{{name}}` has at least {plan.part_min} digits.")
    return digits


def mode(value: object) -> str:
    """``live`` or ``test``."""
    word = text(value)
    if word not in ("live", "test"):
        raise fault("invalid_mode", "`{name}` must be live or test.")
    return word


def origins(value: object) -> tuple[str, ...] | None:
    """None, null or an empty list: any origin."""
    if value is not None and not isinstance(value, list):
        raise fault("not_a_list", "`{name}` must be a list.")
    try:
        return parse_origins(value or []) or None
    except Invalid as error:
        raise fault(error.code, str(error)) from None


def addresses(value: object) -> tuple[str, ...] | None:
    """None, null or an empty list: any address."""
    if value is not None and not isinstance(value, list):
        raise fault("not_a_list", "`{name}` must be a list.")
    try:
        return parse_addresses(value or []) or None
    except Invalid as error:
        raise fault(error.code, str(error)) from None


def sender(value: object) -> str:
    """Whom a message is from: a name or a number that phones can show."""
    name = text(value)
    if wrong := sender_fault(name):
        raise fault("invalid_sender", wrong)
    return name


TEXT: Final = ArgumentKind("text")
MOMENT: Final = ArgumentKind("ISO 8601 time")
NUMBER: Final = ArgumentKind("phone number")
Text = Annotated[str, PlainValidator(text), TEXT]
MaybeText = Annotated[str | None, PlainValidator(maybe(text)), TEXT]
MaybeSearch = Annotated[str | None, PlainValidator(maybe(search)), ArgumentKind("text")]
MaybeAnyText = Annotated[
    str | None, PlainValidator(maybe(any_text)), ArgumentKind("text, also empty")
]
_NAME_CODE: Final = "invalid_name"
_NAME_LENGTH: Final = f"A name can have at most {NAME_MAX} characters."
_name: Final = name_text(NAME_MAX, _NAME_CODE, _NAME_LENGTH)
_any_name: Final = name_text(NAME_MAX, _NAME_CODE, _NAME_LENGTH, may_be_empty=True)
Name = Annotated[str, PlainValidator(_name), ArgumentKind("text")]
"""The name of an organization; others read it in mails."""
MaybeName = Annotated[str | None, PlainValidator(maybe(_name)), ArgumentKind("text")]
MaybeSender = Annotated[str | None, PlainValidator(maybe(sender)), ArgumentKind("sender")]
MaybeAnyName = Annotated[
    str | None,
    PlainValidator(maybe(_any_name)),
    ArgumentKind("text, also empty"),
]
MaybeTexts = Annotated[
    tuple[str, ...] | None, PlainValidator(maybe(texts)), ArgumentKind("list of texts")
]
MaybeFlag = Annotated[bool | None, PlainValidator(maybe(flag)), ArgumentKind("true or false")]
Flag = Annotated[
    bool,
    PlainValidator(lambda value: value is not None and flag(value)),
    ArgumentKind("true or false"),
]
"""False where it is not given."""
MaybeRate = Annotated[float | None, PlainValidator(maybe(rate)), ArgumentKind("number above 0")]
MaybeWhole = Annotated[int | None, PlainValidator(maybe(whole)), ArgumentKind("whole number")]
Moment = Annotated[int, PlainValidator(moment), ArgumentKind("time")]
MaybeMoment = Annotated[int | None, PlainValidator(maybe(moment)), MOMENT]
Amount = Annotated[int, PlainValidator(amount_above_0), ArgumentKind("decimal text above 0")]
SignedAmount = Annotated[int, PlainValidator(signed_amount), ArgumentKind("decimal text, not 0")]
MaybeAmount = Annotated[int | None, PlainValidator(maybe(amount)), ArgumentKind("decimal text")]
Number = Annotated[str, PlainValidator(number), NUMBER]
MaybeNumber = Annotated[str | None, PlainValidator(maybe_at_home(number)), NUMBER]
MaybeContained = Annotated[
    str | None,
    PlainValidator(maybe(words(CONTAINED_MAX))),
    ArgumentKind("words of a text"),
]
MaybeDigits = Annotated[
    str | None,
    PlainValidator(maybe_at_home(number_part)),
    ArgumentKind("consecutive digits of a phone number"),
]
ModeWord = Annotated[str, PlainValidator(mode), ArgumentKind("`live` or `test`")]
Origins = Annotated[
    tuple[str, ...] | None, PlainValidator(origins), ArgumentKind("list of origins; empty: any")
]
Addresses = Annotated[
    tuple[str, ...] | None,
    PlainValidator(addresses),
    ArgumentKind("list of addresses and networks; empty: any"),
]


class OfOrganization(Arguments):
    """Names one organization."""

    organization_id: Text


class OfMaybeOrganization(Arguments):
    """Names one organization, or none for all of them."""

    organization_id: MaybeText = None
    """None: all organizations."""
