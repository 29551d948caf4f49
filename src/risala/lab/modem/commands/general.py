"""Commands of every modem: V.250, and identification (27.007 §5)."""

from __future__ import annotations

from typing import Final

from risala.lab.modem.at.replies import Cme, CmeError, CommandError, Rows
from risala.lab.modem.at.syntax import CommandArguments, NumberSetting
from risala.lab.modem.commands.radio import CommandForms, accepted, says
from risala.lab.modem.modem_state import ModemCore

CLIP: Final = NumberSetting("+CLIP", ("0,1",), (0,))
SETTINGS: Final = (
    NumberSetting("+CMEE", ("0-2",), (0,)),
    NumberSetting("+ICF", ("0-6", "0-3"), (3, 3)),
    NumberSetting("+IFC", ("0-2", "0-2"), (0, 0)),
    NumberSetting("+CRC", ("0,1",), (0,)),
    NumberSetting("+CR", ("0,1",), (0,)),
    NumberSetting("+COLP", ("0,1",), (0,)),
    CLIP,
    NumberSetting("+CCWA", ("0,1",), (0,)),
    NumberSetting("+CSSN", ("0,1", "0,1"), (0, 0)),
    NumberSetting("+CVHU", ("0-2",), (0,)),
    NumberSetting("+CTZU", ("0,1",), (0,)),
    NumberSetting("+CTZR", ("0,1",), (0,)),
    NumberSetting("+CMUX", ("0",), (0,)),
)
_BAUDS: Final = "0,1200,2400,4800,9600,19200,38400,57600,115200,230400,460800,921600"


def _switch(name: str) -> CommandForms:
    """A basic command that is on or off (``E0``, ``E1``, ``E``): any number but 0 is on."""

    def put(modem: ModemCore, arguments: CommandArguments) -> Rows:
        modem.switch(name, arguments.number(0, 0, (0, 1)))
        return ()

    return CommandForms(set=put)


def _register(number: int) -> CommandForms:
    def put(modem: ModemCore, arguments: CommandArguments) -> Rows:
        modem.registers[number] = arguments.number(0, 0, range(256))
        return ()

    return CommandForms(set=put, read=lambda modem: (f"{modem.registers.get(number, 0):03d}",))


def register_command(name: str) -> CommandForms | None:
    """The command of an S register (``S3``); None for a name that is no register."""
    number = name[1:]
    if not name.startswith("S") or not number.isdigit() or int(number) > 255:
        return None
    return _register(int(number))


def _reset(modem: ModemCore) -> Rows:
    modem.reset_settings()
    return ()


def _about(modem: ModemCore, arguments: CommandArguments) -> Rows:
    if arguments.number(0, 0) not in range(10):
        raise CommandError
    return [line.format(imei=modem.config.imei) for line in modem.profile.about]


def _dial(modem: ModemCore, arguments: CommandArguments) -> Rows:
    number = arguments.text(0).removesuffix(";").strip()
    if number.startswith(("*", "#")) and number.endswith("#"):
        modem.ask_ussd(number)
        return ()
    raise NoCarrier


class NoCarrier(CommandError):
    """Calls are never answered."""


def _imei(modem: ModemCore) -> Rows:
    return (modem.config.imei,)


def _function(modem: ModemCore, arguments: CommandArguments) -> Rows:
    """+CFUN (27.007 §8.2): 1 full, 4 radio off, 0 minimum; with ``,1`` the modem restarts."""
    level = arguments.number(0, None, (0, 1, 4))
    if arguments.number(1, 0, (0, 1)):
        modem.after_answer(lambda: modem.power.restart("+CFUN=1,1"))
    else:
        modem.after_answer(lambda: modem.set_function(level))
    return ()


def _power_off(modem: ModemCore, arguments: CommandArguments) -> Rows:
    if arguments.number(0, 1) not in (0, 1):
        raise CmeError(Cme.INCORRECT_PARAMETERS)
    modem.after_answer(modem.power.off)
    return ()


def _named(text: str) -> CommandForms:
    return CommandForms(execute=lambda modem: (getattr(modem.profile, text),))


_ACCEPTED: Final = CommandForms(execute=accepted, set=accepted)


def _callers_shown(modem: ModemCore) -> int:
    return int(modem.config.shows_callers)


COMMANDS: Final = {
    "": CommandForms(execute=accepted),
    "E": _switch("E"),
    "V": _switch("V"),
    "Q": _switch("Q"),
    "Z": CommandForms(execute=_reset, set=lambda modem, _: _reset(modem)),
    "&F": CommandForms(execute=_reset, set=lambda modem, _: _reset(modem)),
    "I": CommandForms(set=_about),
    "D": CommandForms(set=_dial),
    "A": CommandForms(execute=lambda _: _no_carrier()),
    "H": CommandForms(
        execute=lambda modem: modem.ringing.hang_up(modem),
        set=lambda modem, _: modem.ringing.hang_up(modem),
    ),
    **dict.fromkeys(("O", "L", "M", "X", "&C", "&D", "&W", "&K", "&S", "&V"), _ACCEPTED),
    **dict.fromkeys(("+CGMI", "+GMI"), _named("manufacturer")),
    **dict.fromkeys(("+CGMM", "+GMM"), _named("model")),
    **dict.fromkeys(("+CGMR", "+GMR"), _named("revision")),
    **dict.fromkeys(
        ("+CGSN", "+GSN"), CommandForms(execute=_imei, set=lambda modem, _: _imei(modem))
    ),
    "+GCAP": CommandForms(execute=says("+GCAP: +CGSM,+FCLASS,+DS")),
    "+FCLASS": CommandForms(read=says("0"), test=says("0,1"), set=accepted),
    "+WS46": CommandForms(read=says("12"), test=says("(12,22,25,28,29,30,31)"), set=accepted),
    "+CFUN": CommandForms(
        read=lambda modem: (f"+CFUN: {modem.function}",),
        test=says("+CFUN: (0,1,4),(0,1)"),
        set=_function,
    ),
    "+IPR": CommandForms(read=says("+IPR: 0"), test=says(f"+IPR: (),({_BAUDS})"), set=accepted),
    "+CPAS": CommandForms(execute=says("+CPAS: 0"), test=says("+CPAS: (0,3,4)")),
    "+CEER": CommandForms(execute=says("+CEER: No error")),
    "+CHUP": CommandForms(execute=lambda modem: modem.ringing.hang_up(modem)),
    "+VTS": _ACCEPTED,
    "+CPOWD": CommandForms(set=_power_off, execute=None),
    "+QPOWD": CommandForms(set=_power_off),
    "+CBC": CommandForms(
        execute=says("+CBC: 0,100"), read=says("+CBC: 0,100"), test=says("+CBC: (0-3),(0-100)")
    ),
    "+CCLK": CommandForms(
        read=lambda modem: (f'+CCLK: "{modem.clock_text()}"',), test=says(), set=accepted
    ),
    "+CLIP": CommandForms(
        read=lambda modem: (f"+CLIP: {modem.settings.text('+CLIP')},{_callers_shown(modem)}",),
        test=says("+CLIP: (0,1)"),
        set=lambda modem, arguments: modem.settings.set(CLIP, arguments),
    ),
    "+CLIR": CommandForms(read=says("+CLIR: 0,4"), test=says("+CLIR: (0-2)"), set=accepted),
}


def _no_carrier() -> Rows:
    raise NoCarrier
