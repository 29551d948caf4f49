"""All commands, and the states in which each is allowed."""

from __future__ import annotations

from typing import Final

from risala.lab.modem.at.replies import CommandError, Reply
from risala.lab.modem.at.syntax import Form, Invocation
from risala.lab.modem.commands import general, messages, radio
from risala.lab.modem.commands.radio import CommandForms, setting_command
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.world.profiles import Profile

SETTINGS: Final = (*general.SETTINGS, *radio.SETTINGS, *messages.SETTINGS)
_OWN: Final = {**radio.OWN, **{name: general.COMMANDS[name] for name in ("+CPOWD", "+QPOWD")}}
_COMMANDS: Final[dict[str, CommandForms]] = {
    **{each.name: setting_command(each) for each in SETTINGS},
    **general.COMMANDS,
    **radio.COMMANDS,
    **messages.COMMANDS,
    "+CLAC": CommandForms(execute=lambda modem: [f"AT{name}" for name in offered(modem.profile)]),
}
# fmt: off
_NEED_A_SIM: Final = frozenset((
    "+COPS", "+CIMI", "+CNUM", "+CUSD", "+CPBS", "+CPBR", "+CPBF", "+CLIR", "+CCWA",
))
_MESSAGES: Final = frozenset((
    "+CSCA", "+CPMS", "+CNMI", "+CNMA", "+CMGL", "+CMGR", "+CMGD", "+CMGS", "+CMGW", "+CMSS",
    "+CMGC", "+CSCB", "+CSAS", "+CRES",
))
# fmt: on


def _has(profile: Profile, name: str) -> bool:
    if name in profile.lacks:
        return False
    return name in profile.own if name in _OWN else name in _COMMANDS


def offered(profile: Profile) -> list[str]:
    """The names of a profile's extended commands, as +CLAC lists them."""
    names = sorted({*_COMMANDS, *_OWN})
    return [name for name in names if name[:1] in ("+", "^") and _has(profile, name)]


def run(modem: ModemCore, call: Invocation) -> Reply:
    """Run a command, if this modem has it and its SIM allows it now.

    Raises:
        CommandError: it is refused.
    """
    name = call.name
    register = general.register_command(name)
    if register is not None:
        return register.run(modem, call)
    if not _has(modem.profile, name):
        raise CommandError
    if call.form is not Form.TEST and name in (*_NEED_A_SIM, *_MESSAGES):
        modem.card.check(for_messages=name in _MESSAGES)
    return (_OWN.get(name) or _COMMANDS[name]).run(modem, call)
