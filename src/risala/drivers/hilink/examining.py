"""A stick examined, for ``risala modem``: what keeps it from sending, and what it says of itself.

:func:`check_stick` asks only whether it can send. Nothing is sent, no PIN is typed, no message is
read. Of its answers only the fields named here are kept: none of them is a number of the SIM or the
stick, a text, or a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

import trio

from risala.dataclass import dataclass
from risala.drivers.hilink.calls import SILENT, StickCaller
from risala.drivers.hilink.errors import UNSUPPORTED, LinkError, StickError, UnreadyError
from risala.drivers.hilink.life import FULL, NO_REPORTS, NO_SERVICE, ODD
from risala.drivers.hilink.pin import BLOCKED, FRESH_TRIES, NEEDED, NO_CARD
from risala.drivers.hilink.session import StickSession
from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.hilink.stick import SIM_READY, SIM_WANTS_PIN, SIM_WANTS_PUK, Stick, StickCard

OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"
SKIPPED: Final = "skipped"
VALUE_CHARACTERS_MAX: Final = 60
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "device/information": (
        *("DeviceName", "HardwareVersion", "SoftwareVersion", "WebUIVersion", "ProductFamily"),
        *("Classify", "supportmode", "workmode"),
    ),
    "device/basic_information": (
        "productfamily",
        "classify",
        "multimode",
        "restore_default_status",
    ),
    "device/signal": ("rssi", "rsrp", "rsrq", "sinr", "rscp", "ecio", "mode", "band"),
    "monitoring/status": (
        *("ConnectionStatus", "ServiceStatus", "SimStatus", "RoamingStatus", "SignalIcon"),
        *("CurrentNetworkType", "CurrentNetworkTypeEx", "CurrentServiceDomain", "simlockStatus"),
    ),
    "net/current-plmn": ("State", "FullName", "Numeric", "Rat"),
    "net/net-mode": ("NetworkMode", "NetworkBand", "LTEBand"),
    "net/register": ("Mode", "Rat"),
    "pin/status": ("SimState", "PinOptState", "SimPinTimes", "SimPukTimes"),
    "sms/sms-count": (
        *("LocalUnread", "LocalInbox", "LocalOutbox", "LocalDraft", "LocalMax"),
        *("SimUnread", "SimInbox", "SimOutbox", "SimDraft", "SimMax", "NewMsg"),
    ),
    "sms/config": ("SaveMode", "Validity", "UseSReport", "SendType"),
    "sms/sms-feature-switch": ("getcontactenable", "validity_enabled", "url_enabled"),
    "sms/splitinfo-sms": ("splitinfo", "convert_type"),
    "global/module-switch": ("sms_enabled", "ussd_enabled", "pb_enabled", "encrypt_enabled"),
    "user/state-login": ("State", "password_type", "extern_password_type"),
    "user/hilink_login": ("hilink_login",),
}
"""What is asked, and which fields of the answer are kept. ``sms/config`` has the service centre's
number too, ``device/information`` the numbers of the stick and the SIM, ``net/register`` the
network that was chosen by hand: those are left out."""


@dataclass(frozen=True, slots=True)
class StickCheck:
    """One check: ``state`` is one of the words above, ``text`` its meaning and what to do."""

    name: str
    state: str
    text: str


@dataclass(slots=True)
class StickFindings:
    """What is known of a stick; empty where no check came."""

    checks: list[StickCheck] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """What it says of itself, with the numbers of the stick and the SIM."""
    answers: list[dict[str, Any]] = field(default_factory=list)
    """What it answered to the questions of a report, if those were asked."""

    @property
    def failed(self) -> StickCheck | None:
        return next((each for each in self.checks if each.state == FAIL), None)


async def examine_stick(
    settings: HilinkSettings, timeout_s: float, *, for_report: bool = False
) -> StickFindings:
    """Examine the stick, within a time.

    Args:
        for_report: ask also what a report has.
    """
    caller = StickCaller(settings.url, settings.answer_s)
    session = StickSession(caller, settings)
    findings = StickFindings()
    try:
        with trio.move_on_after(timeout_s) as time:
            await _examine(session, settings, findings)
            if for_report:
                await _ask(session, findings)
        if time.cancelled_caught and findings.failed is None:
            findings.checks.append(StickCheck("answers", FAIL, SILENT))
    finally:
        with trio.move_on_after(LEAVE_S, shield=True):
            await session.leave()
            await caller.aclose()
    return findings


async def _examine(
    session: StickSession, settings: HilinkSettings, findings: StickFindings
) -> None:
    stick, checks = Stick(session), findings.checks
    try:
        storage = await stick.storage()  # the stick tells it only to whom it lets in
        findings.facts.update(await stick.identity())
        model = findings.facts.get("model") or "HiLink stick"
        checks.append(StickCheck("answers", OK, f"{model} answers, and lets us in."))
        card = await stick.card()
        checks.append(_sim(card, has_pin=settings.pin is not None))
        network = await stick.network()
        findings.facts.update(operator=network.operator or None, signal_dbm=network.signal_dbm)
        if card.state == SIM_READY:
            checks += _network(network.has_service, network.is_roaming, network.operator)
        else:
            checks.append(StickCheck("network", SKIPPED, "Not looked at: “SIM” comes first."))
        checks.append(_signal(network.signal_dbm))
        findings.facts["storage"] = f"{storage.used}/{storage.most}" if storage.most else None
        text = f"{storage.used} of {storage.most or '?'} places are taken."
        full = StickCheck("storage", WARN, FULL)
        checks.append(full if storage.is_full else StickCheck("storage", OK, text))
        has_reports = "UseSReport" in (await session.get("sms/config")).fields
        text = "The stick hands them on: messages become “delivered”."
        row = (OK, text) if has_reports else (WARN, NO_REPORTS)
        checks.append(StickCheck("delivery reports", *row))
    except (LinkError, UnreadyError) as fault:
        checks.append(StickCheck("answers", FAIL, fault.text))
    except StickError as fault:
        name = "delivery reports" if len(checks) > 1 else "answers"
        is_less = fault.code == UNSUPPORTED and len(checks) > 1
        text = NO_REPORTS if is_less else ODD.format(code=fault.code)
        checks.append(StickCheck(name, WARN if is_less else FAIL, text))


def _sim(card: StickCard, *, has_pin: bool) -> StickCheck:
    if card.state == SIM_READY:
        return StickCheck("SIM", OK, "It is ready.")
    if card.state == SIM_WANTS_PUK:
        return StickCheck("SIM", FAIL, BLOCKED)
    if card.state != SIM_WANTS_PIN:
        return StickCheck("SIM", FAIL, NO_CARD)
    left = "" if card.tries is None else f" Tries that are left: {card.tries}."
    if card.tries is not None and card.tries < FRESH_TRIES:
        return StickCheck("SIM", FAIL, f"A wrong PIN was typed before.{left} A phone unlocks it.")
    if has_pin:
        return StickCheck("SIM", OK, f"It wants its PIN, which `risala serve` types.{left}")
    return StickCheck("SIM", FAIL, f"{NEEDED}{left}")


def _network(has_service: bool, is_roaming: bool, operator: str) -> Iterator[StickCheck]:
    where = f" ({operator})" if operator else ""
    if not has_service:
        yield StickCheck("network", FAIL, NO_SERVICE)
    elif is_roaming:
        text = f"Roaming{where}: it sends, but each message may cost more, or be barred."
        yield StickCheck("network", WARN, text)
    else:
        yield StickCheck("network", OK, f"In its home network{where}.")


def _signal(dbm: int | None) -> StickCheck:
    text = "The stick does not tell it." if dbm is None else f"{dbm} dBm."
    return StickCheck("signal", OK, text)


async def _ask(session: StickSession, findings: StickFindings) -> None:
    for path, names in FIELDS.items():
        try:
            words = await session.get(path)
        except StickError as fault:
            findings.answers.append({"asked": path, "result": str(fault.code), "answer": {}})
            continue
        except (LinkError, UnreadyError) as fault:
            findings.answers.append({"asked": path, "result": type(fault).__name__, "answer": {}})
            return
        kept = {
            name: words.fields[name].strip()[:VALUE_CHARACTERS_MAX]
            for name in names
            if name in words.fields
        }
        findings.answers.append({"asked": path, "result": "OK", "answer": kept})


CHECK_S: Final = 30.0
"""The longest that all questions take together."""
LEAVE_S: Final = 2.0


async def check_stick(settings: HilinkSettings) -> str | None:
    """Why the stick cannot send, as a sentence for the operator; None: it can."""
    caller = StickCaller(settings.url, settings.answer_s)
    session = StickSession(caller, settings)
    try:
        with trio.move_on_after(CHECK_S):
            return await _reason(Stick(session), has_pin=settings.pin is not None)
        return SILENT
    except (LinkError, UnreadyError) as fault:
        return fault.text
    except StickError as fault:
        return ODD.format(code=fault.code)
    finally:
        with trio.move_on_after(LEAVE_S, shield=True):
            await session.leave()
            await caller.aclose()


async def _reason(stick: Stick, *, has_pin: bool) -> str | None:
    await stick.storage()  # the stick tells it only to whom it lets in
    card = await stick.card()
    if card.state == SIM_WANTS_PUK:
        return BLOCKED
    if card.state == SIM_WANTS_PIN:
        return None if has_pin else NEEDED
    if card.state != SIM_READY:
        return NO_CARD
    network = await stick.network()
    return None if network.has_service else NO_SERVICE
