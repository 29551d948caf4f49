"""The state of carriers in the reader's words: the engine has codes and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from markupsafe import Markup

from risala.engine.model.records.carriers.state import CarrierCondition
from risala.http.operator.carriers.driver_words import driver_said
from risala.http.web.formats import Formats
from risala.http.web.languages import N_

_PLAIN: Final = {
    "up": N_("It is connected."),
    "up_without_receipts": N_(
        "It is connected but gives no delivery reports, so its messages stay “sent”."
    ),
    "paused": N_("Paused: nothing is sent this way until it is resumed."),
    "driver_fault": N_("Its driver failed; it is started again."),
    "sim_denied": N_("The network refuses the SIM."),
    "searching": N_("The modem looks for its network."),
    "needs_a_hand": N_("It needs your help: it does not connect by itself."),
    "link_down": N_("The link is down."),
    "not_running": N_("The service is not running it."),
    "disabled": N_("It is disabled in the settings."),
    "chosen": N_("It takes the message."),
    "shares": N_("It shares these numbers, and would take it in its turn."),
    "later": N_("It comes later: a carrier before it takes the message."),
    "other_numbers": N_("It serves other numbers."),
}


def reason_sentence(formats: Formats, one: CarrierCondition) -> Markup:
    """The sentence of a condition or a reason."""
    if one.code in _PLAIN:
        return formats.words(_PLAIN[one.code])
    write = _WRITERS.get(one.code)
    if write is None:
        return Markup("<code>{}</code>").format(one.code)
    return write(formats, **one.values)


def _finishing(formats: Formats, in_flight: int) -> Markup:
    return formats.words.counted(
        "It takes nothing new; {n} part waits for its answer.",
        "It takes nothing new; {n} parts wait for their answer.",
        in_flight,
        n=formats.num(in_flight),
    )


def _leaving(formats: Formats, in_flight: int) -> Markup:
    return formats.words(
        "It leaves the service: it finishes what it began ({n} parts), then it is gone.",
        n=formats.num(in_flight),
    )


def _refused(formats: Formats, status: object, again_s: float | None = None) -> Markup:
    if again_s is None:
        return formats.words("The carrier refuses to let us in: {status}.", status=_raw(status))
    return formats.words(
        "The carrier refuses to let us in: {status}. Tried again in {time}.",
        status=_raw(status),
        time=formats.lasting(int(again_s * 1000)),
    )


def _refused_for_good(formats: Formats, status: object, **_: object) -> Markup:
    return formats.words(
        "The carrier refuses to let us in: {status}. It is not tried again until somebody acts:"
        " look at its name and password in the settings.",
        status=_raw(status),
    )


def _quota(formats: Formats, limit: int) -> Markup:
    return formats.words(
        "Today’s quota of {n} parts is used up; it continues tomorrow.",
        n=formats.num(limit),
    )


def _again(formats: Formats, again_s: float) -> Markup:
    return formats.words(
        "The link is down; it connects again in {time}.",
        time=formats.lasting(int(again_s * 1000)),
    )


def _resting(formats: Formats, until: str) -> Markup:
    return formats.words(
        "It failed too often and is left alone until {time}.",
        time=formats.clock(until),
    )


def _slowed(formats: Formats, rate_per_s: float, rate_max_per_s: float) -> Markup:
    return formats.words(
        "The carrier asked for a slower pace: {now} a second of {most}.",
        now=formats.pace(rate_per_s),
        most=formats.pace(rate_max_per_s),
    )


def _declined(formats: Formats, note: str, until: str | None = None) -> Markup:
    sentence = driver_said(formats.words, note)
    if until is None:
        return formats.words("Its driver does not take it: {note}", note=sentence)
    return formats.words(
        "Its driver does not take it until {time}: {note}",
        time=formats.moment(until),
        note=sentence,
    )


def _raw(word: object) -> Markup:
    return Markup('<code class="raw">{}</code>').format(word)


_WRITERS: Final[Mapping[str, Callable[..., Markup]]] = {
    "draining": _finishing,
    "leaving": _leaving,
    "refused": _refused,
    "refused_for_good": _refused_for_good,
    "quota_used": _quota,
    "connects_again": _again,
    "resting": _resting,
    "slowed": _slowed,
    "declined": _declined,
}
