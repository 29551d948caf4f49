"""Whether a carrier repeats ``user_message_reference`` in its receipts: found out, then used. Pure.

If a carrier repeats it, a receipt shows the result of a submit whose answer, and with it the
carrier's id, never came. The bind does not show whether it does (only that an SMSC of SMPP 3.3 has
no optional parameters), so the first submits carry a reference, and the first receipts show whether
it comes back.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from typing import Final, TypeVar

from risala.drivers.smpp.protocol.receipt import plain_id
from risala.sms.message import octet_reference
from risala.sms.receipt import Receipt

_Value = TypeVar("_Value")

WATCHED_MAX: Final = 2000
"""Answers whose receipts are waited for: receipts mostly come within seconds."""
RECEIPTS_MIN: Final = 20
"""Receipts without the reference, and none with it, before the carrier is taken not to repeat it:
behind one SMSC are networks with different habits. One receipt with the right reference, out of
65,535 numbers, is proof enough that it does."""
CUT_MIN: Final = 3
"""Receipts with the low octet of their submit's reference before the carrier is taken to cut it:
one in 256 has it by chance."""
FIRST_WITH_PARAMETERS: Final = 0x34
"""``sc_interface_version`` from which an SMSC takes optional parameters (§5.2.25)."""
REFUSALS: Final = frozenset({0x02, 0xC0, 0xC1, 0xC2, 0xC4})
"""ESME_RINVCMDLEN, ESME_RINVOPTPARSTREAM, ESME_ROPTPARNOTALLWD, ESME_RINVPARLEN and
ESME_RINVOPTPARAMVAL: statuses of carriers that do not take the parameter."""


class Wanted(StrEnum):
    """The words for ``user_message_reference`` in the settings, in addition to true and false."""

    AUTO = "auto"
    OCTET = "octet"
    """Given, as 1 to 255: the carrier keeps one octet of it."""


class Repeating(StrEnum):
    """Whether the carrier repeats references, as far as is known; ``risala carriers show`` shows
    these words."""

    UNKNOWN = "not known yet"
    REPEATED = "repeated in receipts"
    CUT = "repeated in receipts, its low octet alone"
    NOT_REPEATED = "not repeated in receipts"
    REFUSED = "not taken by the carrier"
    TOO_OLD = "not taken: the carrier speaks SMPP 3.3"
    NO_RECEIPTS = "not used: no receipts are asked for"
    OFF = "off"


NEWS: Final = {
    Repeating.REPEATED: "Receipts repeat user_message_reference: they tell what became of submits"
    " without an answer.",
    Repeating.CUT: "Receipts repeat the low octet of user_message_reference: set"
    ' user_message_reference = "octet", and it is whole.',
    Repeating.NOT_REPEATED: "Receipts do not repeat user_message_reference: they cannot tell what"
    " became of submits without an answer.",
    Repeating.REFUSED: "The carrier takes no user_message_reference: receipts cannot tell what"
    " became of submits without an answer.",
    Repeating.TOO_OLD: "The carrier speaks SMPP 3.3, which has no user_message_reference: receipts"
    " cannot tell what became of submits without an answer.",
}
"""Sentences for the trace when something was found out."""


class ReferenceWatch:
    """Finds out whether one carrier repeats references.

    Args:
        setting: True and False are fixed, ``auto`` is found out.
        has_receipts: whether submits ask for receipts at all.
    """

    def __init__(self, setting: Wanted | bool, *, has_receipts: bool = True) -> None:
        self._is_auto = setting is Wanted.AUTO
        self.state = Repeating.UNKNOWN if setting else Repeating.OFF
        if self.state is Repeating.UNKNOWN and self._is_auto and not has_receipts:
            self.state = Repeating.NO_RECEIPTS
        self._answered: OrderedDict[str, int] = OrderedDict()
        self._early: OrderedDict[str, int | None] = OrderedDict()
        """References by the ids of receipts to which no answer is known yet: some receipts come
        before the submit's answer."""
        self._without = 0
        self._cut = 0
        self._is_octet = setting is Wanted.OCTET
        self._is_innocent = False

    @property
    def is_given(self) -> bool:
        """Whether submits carry a reference."""
        if self._is_auto:
            return self.state in (Repeating.UNKNOWN, Repeating.REPEATED, Repeating.CUT)
        return self.state is not Repeating.OFF

    def may_be_why(self, command_status: int) -> bool:
        """Whether a submit with this status was perhaps refused for its reference alone, so that it
        is worth sending once more without."""
        return (
            self._is_auto
            and self.state is Repeating.UNKNOWN
            and not self._is_innocent
            and command_status in REFUSALS
        )

    def tried_without(self, *, is_taken: bool) -> None:
        """Learn from the result of a submit without a reference that had been refused with one."""
        if not is_taken:
            self._is_innocent = True  # it was refused for another reason: try no second time
        elif self.state is Repeating.UNKNOWN:
            self._settle(Repeating.REFUSED)

    def bound(self, sc_interface_version: int | None) -> None:
        """Learn from a bind the SMPP version of the SMSC; None: unknown, as with many that use
        3.4."""
        if not self._is_auto or sc_interface_version is None:
            return
        is_old = sc_interface_version < FIRST_WITH_PARAMETERS
        if is_old and self.state is Repeating.UNKNOWN:
            self._settle(Repeating.TOO_OLD)
        elif not is_old and self.state is Repeating.TOO_OLD:
            self.state = Repeating.UNKNOWN

    def answered(self, carrier_id: str, reference: int) -> None:
        """Learn that a submit with this reference was answered with this id."""
        if self.state is not Repeating.UNKNOWN or not carrier_id:
            return
        name = plain_id(carrier_id)
        if name in self._early:
            self._judge(reference, self._early.pop(name))
            return
        _keep(self._answered, name, reference)

    def shared(self, carrier_id: str) -> None:
        """Learn that several messages have this id: its receipts prove nothing about references."""
        self._answered.pop(plain_id(carrier_id), None)

    def receipt(self, receipt: Receipt) -> None:
        """Learn from a receipt for one of the submits that carried a reference; others prove
        nothing."""
        if self.state is not Repeating.UNKNOWN:
            return
        names = {plain_id(name) for name in (receipt.carrier_id, *receipt.also_known_as)}
        for name in names:
            if name in self._answered:
                self._judge(self._answered[name], receipt.reference)
                return
        for name in names:
            _keep(self._early, name, receipt.reference)

    def _judge(self, reference: int, repeated: int | None) -> None:
        octet = octet_reference(reference)
        if repeated == (octet if self._is_octet else reference):
            self._settle(Repeating.REPEATED)
            return
        if repeated == octet:
            self._cut += 1
            if self._cut >= CUT_MIN:
                self._settle(Repeating.CUT)
            return
        self._without += 1
        if self._without >= RECEIPTS_MIN:
            self._settle(Repeating.NOT_REPEATED)

    def _settle(self, state: Repeating) -> None:
        self.state = state
        self._answered.clear()
        self._early.clear()


def _keep(kept: OrderedDict[str, _Value], name: str, value: _Value) -> None:
    kept[name] = value
    if len(kept) > WATCHED_MAX:
        kept.popitem(last=False)
