"""Customers' entries, checked against the fields of their method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from risala.engine.model.errors import FieldFault, Invalid
from risala.plugins.payment import ENTERED_CHARACTERS_MAX, normalised_reference
from risala.sms.numbering.plan import NumberingPlan


class Entry(Protocol):
    """A field in the form of methods, and in the stored form."""

    @property
    def name(self) -> str: ...

    @property
    def is_reference(self) -> bool: ...

    @property
    def is_payer(self) -> bool: ...


def entered_of(asks: Sequence[Entry], given: Mapping[str, str]) -> dict[str, str]:
    """The entries, each on one line.

    Raises:
        Invalid: a field is missing, too long, or unknown.
    """
    found = {name: " ".join(text.split()) for name, text in given.items()}
    faults = [
        FieldFault(f"entered.{name}", "unknown_argument", "This field is not expected.")
        for name in found.keys() - {each.name for each in asks}
    ]
    for each in asks:
        path, text = f"entered.{each.name}", found.get(each.name, "")
        if not text:
            faults.append(FieldFault(path, "missing", f"`{path}` is required."))
        elif len(text) > ENTERED_CHARACTERS_MAX:
            told = f"`{path}` has at most {ENTERED_CHARACTERS_MAX} characters."
            faults.append(FieldFault(path, "invalid_length", told))
    if faults:
        raise Invalid.of(faults)
    return found


def reference_of(asks: Sequence[Entry], entered: Mapping[str, str]) -> tuple[str, str | None]:
    """The field with the transaction's reference, and its value; None if no field asks for one."""
    for each in asks:
        if each.is_reference:
            return each.name, entered[each.name]
    return "", None


def payer_of(plan: NumberingPlan, asks: Sequence[Entry], entered: Mapping[str, str]) -> str | None:
    """The entered number of the payer; None if no field asks for it.

    Raises:
        Invalid: it is no number.
    """
    for each in asks:
        if each.is_payer:
            return payer_number(plan, f"entered.{each.name}", entered[each.name])
    return None


def payer_number(plan: NumberingPlan, path: str, text: str) -> str:
    """A number in people's spelling, in its one form.

    Raises:
        Invalid: it is no mobile number of this country.
    """
    try:
        return plan.read(text)
    except ValueError as error:
        raise Invalid(path, "invalid_phone_number", str(error)) from None


def key_of(name: str, reference: str) -> str:
    """A reference in comparable form.

    Args:
        name: the name of its field.

    Raises:
        Invalid: it has neither letters nor digits, or too many.
    """
    try:
        return normalised_reference(reference)
    except ValueError:
        text = "A reference has at most 100 letters and digits."
        raise Invalid(f"entered.{name}", "invalid_reference", text) from None
