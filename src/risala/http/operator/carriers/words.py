"""The state of carriers in the reader's words: the engine has codes and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from risala.http.operator.carriers.driver_words import driver_said
from risala.http.web.formats import Formats
from risala.http.web.languages import N_

Told = Mapping[str, Any]
"""A ``code`` and its ``values``."""

_PLAIN: Final = {
    "up": N_("It is connected."),
    "up_without_receipts": N_(
        "It is connected but gives no delivery reports, so its messages stay “sent”."
    ),
    "paused": N_("Paused: nothing goes this way until it is resumed."),
    "driver_fault": N_("Its driver failed; it is started again."),
    "sim_denied": N_("The network refuses the SIM."),
    "searching": N_("The modem looks for its network."),
    "needs_a_hand": N_("It needs a hand: it does not connect by itself."),
    "link_down": N_("The link is down."),
    "not_running": N_("The service does not run it."),
    "disabled": N_("It is disabled in the settings."),
    "chosen": N_("It takes the message."),
    "shares": N_("It shares these numbers, and would take it in its turn."),
    "later": N_("It comes after: what stands before it takes the message."),
    "other_numbers": N_("It serves other numbers."),
}


def reason_sentence(formats: Formats, one: Told) -> Markup:
    """The sentence of a condition or a reason."""
    code = one["code"]
    if code in _PLAIN:
        return formats.words(_PLAIN[code])
    write = _WRITERS.get(code)
    return (
        Markup("<code>{}</code>").format(code) if write is None else write(formats, one["values"])
    )


def _finishing(formats: Formats, values: Told) -> Markup:
    return formats.words.counted(
        "It takes nothing new; {n} part waits for its answer.",
        "It takes nothing new; {n} parts wait for their answer.",
        values["in_flight"],
        n=formats.num(values["in_flight"]),
    )


def _leaving(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "It leaves the service: it finishes what it began ({n} parts), then it is gone.",
        n=formats.num(values["in_flight"]),
    )


def _refused(formats: Formats, values: Told) -> Markup:
    status, again_s = _raw(values["status"]), values.get("again_s")
    if again_s is None:
        return formats.words("The carrier refuses to let us in: {status}.", status=status)
    return formats.words(
        "The carrier refuses to let us in: {status}. Tried again in {time}.",
        status=status,
        time=formats.lasting(int(again_s * 1000)),
    )


def _refused_for_good(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "The carrier refuses to let us in: {status}. It is not tried again until somebody acts:"
        " look at its name and password in the settings.",
        status=_raw(values["status"]),
    )


def _quota(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "Today’s quota of {n} parts is used up; it goes on tomorrow.",
        n=formats.num(values["limit"]),
    )


def _again(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "The link is down; it connects again in {time}.",
        time=formats.lasting(int(values["again_s"] * 1000)),
    )


def _resting(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "It failed too often and is left alone until {time}.",
        time=formats.clock(values["until"]),
    )


def _slowed(formats: Formats, values: Told) -> Markup:
    return formats.words(
        "The carrier asked for a slower pace: {now} a second of {most}.",
        now=formats.num(round(values["rate_per_s"], 1)),
        most=formats.num(round(values["rate_max_per_s"], 1)),
    )


def _declined(formats: Formats, values: Told) -> Markup:
    note = driver_said(formats.words, values["note"])
    if values.get("until") is None:
        return formats.words("Its driver does not take it: {note}", note=note)
    return formats.words(
        "Its driver does not take it until {time}: {note}",
        time=formats.moment(values["until"]),
        note=note,
    )


def _raw(word: object) -> Markup:
    return Markup('<code class="raw">{}</code>').format(word)


_WRITERS: Final = {
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
