"""Commands of the SIM and the network (27.007 §7, §8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from risala.lab.modem.at.replies import Cme, CmeError, CommandError, LaterReply, Reply, Rows
from risala.lab.modem.at.syntax import CommandArguments, Form, Invocation, NumberSetting
from risala.lab.modem.modem_state import REGISTRATIONS, ModemCore

# The definition of a command: the effect of each of its four forms, or a row of settings.


@dataclass(frozen=True, slots=True)
class CommandForms:
    """The effect of each form of a command. A form that is None is refused; ``=?`` may have an
    empty answer (27.007 §4.1)."""

    execute: Callable[[ModemCore], Reply] | None = None
    read: Callable[[ModemCore], Rows] | None = None
    test: Callable[[ModemCore], Reply] | None = None
    set: Callable[[ModemCore, CommandArguments], Reply] | None = None

    def run(self, modem: ModemCore, call: Invocation) -> Reply:
        match call.form:
            case Form.TEST:
                return self.test(modem) if self.test else ()
            case Form.SET if self.set:
                return self.set(modem, call.arguments)
            case Form.READ if self.read:
                return self.read(modem)
            case Form.EXECUTE if self.execute:
                return self.execute(modem)
            case Form.EXECUTE if self.set and not self.read:
                return self.set(modem, call.arguments)
            case _:
                raise CommandError


def says(*rows: str) -> Callable[[Any], Rows]:
    """A form whose answer is always the same."""
    return lambda _: rows


def accepted(*_: object) -> Rows:
    """A form that is taken and has no effect here."""
    return ()


def setting_command(setting: NumberSetting) -> CommandForms:
    """A command that sets a number, reads it back, and lists its possible values."""
    allowed = ",".join(f"({each})" for each in setting.allowed)
    return CommandForms(
        read=lambda modem: (f"{setting.name}: {modem.settings.text(setting.name)}",),
        test=says(f"{setting.name}: {allowed}"),
        set=lambda modem, arguments: modem.settings.set(setting, arguments),
    )


SETTINGS: Final = (
    *(NumberSetting(name, ("0-2",), (0,)) for name in REGISTRATIONS),
    NumberSetting("+CGATT", ("0,1",), (1,)),
    NumberSetting("+CGEREP", ("0-2", "0,1"), (0, 0)),
)
_FORMATS: Final = ("operator", "operator_short", "operator_code")
_PHONEBOOK_PLACES: Final = 250
_READ_BINARY: Final = "176"
_EF_ICCID: Final = "12258"
"""The file of the SIM's number, 2FE2."""


def _registration(name: str) -> CommandForms:
    [setting] = [each for each in SETTINGS if each.name == name]
    return CommandForms(
        read=lambda modem: (modem.registration_line(name, is_read=True),),
        test=says(f"{name}: (0-2)"),
        set=lambda modem, arguments: modem.settings.set(setting, arguments),
        execute=None,
    )


def _signal(modem: ModemCore) -> Rows:
    return (f"+CSQ: {modem.signal},99",)


def _operator(modem: ModemCore) -> Rows:
    mode, form = modem.operator_mode
    if not modem.is_registered:
        return (f"+COPS: {mode}",)
    name = getattr(modem.config, _FORMATS[form])
    technology = ",7" if modem.profile.cops_technology else ""
    return (f'+COPS: {mode},{form},"{name}"{technology}',)


def _scan(modem: ModemCore) -> Reply:
    config = modem.config

    def found() -> Rows:
        own = f'(2,"{config.operator}","{config.operator_short}","{config.operator_code}",7)'
        other = '(3,"Other","OTHER","60901",7)'
        return (f"+COPS: {own},{other},,(0-4),(0-2)",)

    return LaterReply(config.scan_s, found)


def _choose_operator(modem: ModemCore, arguments: CommandArguments) -> Rows:
    mode = arguments.number(0, None, range(5))
    if mode == 3:
        modem.operator_mode = (modem.operator_mode[0], arguments.number(1, None, range(3)))
        return ()
    if mode == 1 and arguments.text(2) not in (
        modem.config.operator,
        modem.config.operator_short,
        modem.config.operator_code,
    ):
        raise CmeError(Cme.NO_NETWORK_SERVICE)
    modem.operator_mode = (mode, modem.operator_mode[1])
    return ()


def _pin(modem: ModemCore, arguments: CommandArguments) -> Rows:
    if len(arguments) > 1:
        modem.card.unblock(arguments.text(0), arguments.text(1))
    else:
        modem.card.type_pin(arguments.text(0))
    modem.after_answer(modem.card_is_ready)
    return ()


def _pin_tries(modem: ModemCore, arguments: CommandArguments) -> Rows:
    card = modem.card
    rows = (f"+CPINR: SIM PIN,{card.pin_tries},3", f"+CPINR: SIM PUK,{card.puk_tries},10")
    return [row for row in rows if arguments.text(0) in row]


def _lock(modem: ModemCore, arguments: CommandArguments) -> Rows:
    """+CLCK (27.007 §7.4): only the SIM's PIN can be a lock here."""
    if arguments.text(0).upper() != "SC":
        return ("+CLCK: 0",) if arguments.text(1) == "2" else ()
    mode = arguments.number(1, None, (0, 1, 2))
    if mode == 2:
        return (f"+CLCK: {int(modem.card.asks_pin)}",)
    modem.card.prove(arguments.text(2))
    modem.card.asks_pin = bool(mode)
    return ()


def _ussd(modem: ModemCore, arguments: CommandArguments) -> Rows:
    if arguments.number(0, 1, (0, 1, 2)) == 1 and arguments.text(1):
        modem.dial_ussd(arguments.text(1))
    return ()


def _own_number(modem: ModemCore) -> Rows:
    number = modem.config.number
    if not number:
        return ()
    return (f'+CNUM: "","{modem.written(number)}",{145 if number.startswith("+") else 129}',)


def _card_file(modem: ModemCore, arguments: CommandArguments) -> Rows:
    """+CRSM (27.007 §8.18) reads the SIM's number, which needs no PIN: two digits an octet, the
    first in its lower half (ETSI TS 102 221 §13.2)."""
    if (arguments.text(0), arguments.text(1)) != (_READ_BINARY, _EF_ICCID):
        raise CmeError(Cme.OPERATION_NOT_SUPPORTED)
    if not modem.card.is_in:
        raise CmeError(Cme.SIM_NOT_INSERTED)
    digits = modem.config.iccid.ljust(20, "F")
    octets = "".join(digits[at + 1] + digits[at] for at in range(0, len(digits), 2))
    return (f'+CRSM: 144,0,"{octets}"',)


COMMANDS: Final = {
    **{name: _registration(name) for name in REGISTRATIONS},
    "+CSQ": CommandForms(execute=_signal, read=None, test=says("+CSQ: (0-31,99),(0-7,99)")),
    "+COPS": CommandForms(read=_operator, test=_scan, set=_choose_operator),
    "+CPIN": CommandForms(read=lambda modem: (f"+CPIN: {modem.card.word}",), set=_pin),
    "+CPINR": CommandForms(set=_pin_tries),
    "+CLCK": CommandForms(set=_lock, test=says('+CLCK: ("SC")')),
    "+CIMI": CommandForms(execute=lambda modem: (modem.config.imsi,)),
    "+CCID": CommandForms(
        execute=lambda modem: (f"+CCID: {modem.config.iccid}",),
        read=lambda modem: (f"+CCID: {modem.config.iccid}",),
    ),
    "+CRSM": CommandForms(set=_card_file),
    "+CNUM": CommandForms(execute=_own_number),
    "+CUSD": CommandForms(
        read=says("+CUSD: 0"), test=says("+CUSD: (0-2)"), set=_ussd, execute=accepted
    ),
    "+CPBS": CommandForms(
        read=says(f'+CPBS: "SM",0,{_PHONEBOOK_PLACES}'), test=says('+CPBS: ("SM")'), set=accepted
    ),
    "+CPBR": CommandForms(test=says(f"+CPBR: (1-{_PHONEBOOK_PLACES}),40,16"), set=accepted),
    "+CPBF": CommandForms(test=says("+CPBF: 40,16"), set=accepted),
    "+CGDCONT": CommandForms(
        read=says(), test=says('+CGDCONT: (1-5),"IP",,,(0),(0)'), set=accepted
    ),
    "+CGACT": CommandForms(read=says("+CGACT: 1,0"), test=says("+CGACT: (0,1)"), set=accepted),
}

# -- vendors' own commands -------------------------------------------------------------------------


def _huawei_pin(modem: ModemCore) -> Rows:
    card = modem.card
    word = card.word
    tries = "" if word == "READY" else card.puk_tries if word == "SIM PUK" else card.pin_tries
    return (f"^CPIN: {word},{tries},{card.puk_tries},{card.pin_tries},10,3",)


def _curc(modem: ModemCore, arguments: CommandArguments) -> Rows:
    modem.is_noisy = arguments.number(0, 1, (0, 1, 2)) > 0
    return ()


def _serving(modem: ModemCore) -> Rows:
    service = 2 if modem.is_registered else 0
    return (f"^SYSINFO:{service},3,0,5,{int(modem.card.is_ready)},,4",)


def _quectel_tries(modem: ModemCore, _: CommandArguments) -> Rows:
    card = modem.card
    return (f'+QPINC: "SC",{card.pin_tries},{card.puk_tries}',)


OWN: Final = {
    "^CURC": CommandForms(read=says("^CURC: 1"), test=says("^CURC: (0-2)"), set=_curc),
    "^ICCID": CommandForms(read=lambda modem: (f"^ICCID: {modem.config.iccid}",)),
    "^CPIN": CommandForms(read=_huawei_pin),
    "^SYSINFO": CommandForms(execute=_serving),
    "^HCSQ": CommandForms(read=lambda modem: (f'^HCSQ: "WCDMA",{modem.signal},40,60',)),
    "^CARDMODE": CommandForms(execute=says("^CARDMODE: 2")),
    "^SYSCFG": CommandForms(read=says("^SYSCFG:2,0,3FFFFFFF,1,2"), set=accepted),
    "+QCCID": CommandForms(execute=lambda modem: (f"+QCCID: {modem.config.iccid}",)),
    "+QPINC": CommandForms(
        read=lambda modem: _quectel_tries(modem, CommandArguments()), set=_quectel_tries
    ),
    "+QINDCFG": CommandForms(
        test=says('+QINDCFG: "all",(0,1),(0,1)'), set=accepted, read=says('+QINDCFG: "all",1')
    ),
    "+QURCCFG": CommandForms(read=says('+QURCCFG: "urcport","usbat"'), set=accepted),
    "+QCFG": CommandForms(set=accepted),
    "+QNWINFO": CommandForms(
        execute=lambda modem: (
            f'+QNWINFO: "FDD LTE","{modem.config.operator_code}","LTE BAND 3",1300',
        )
    ),
    "+SPIC": CommandForms(
        execute=lambda modem: (f"+SPIC: {modem.card.pin_tries},{modem.card.puk_tries},0,0",)
    ),
    "+CSPN": CommandForms(read=lambda modem: (f'+CSPN: "{modem.config.operator}",0',)),
    "+CSMINS": CommandForms(
        read=lambda modem: (f"+CSMINS: 0,{int(modem.card.is_in)}",), set=accepted
    ),
}
