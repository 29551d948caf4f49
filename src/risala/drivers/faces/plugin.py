"""The HTTP of other gateways (Kannel, Twilio, playSMS, SMSGate), as plugins like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.faces.kannel import KANNEL
from risala.drivers.faces.playsms import PLAYSMS
from risala.drivers.faces.smsgate import SMSGATE
from risala.drivers.faces.twilio.compat import TWILIO
from risala.plugins.face import FaceFactory
from risala.plugins.hookspecs import hookimpl


@hookimpl
def risala_register_compat(register: Callable[[FaceFactory], None]) -> None:
    register(KANNEL)
    register(TWILIO)
    register(PLAYSMS)
    register(SMSGATE)
