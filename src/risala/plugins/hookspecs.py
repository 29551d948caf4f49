"""Every hook that a plugin may implement, with its exact signature."""

from __future__ import annotations

from collections.abc import Callable

import pluggy

from risala.plugins.channel import ChannelFactory
from risala.plugins.command import CommandFactory
from risala.plugins.contract import DriverFactory
from risala.plugins.face import FaceFactory
from risala.plugins.mail import MailerFactory
from risala.plugins.page import ConsolePageFactory
from risala.plugins.payment import PaymentMethodFactory
from risala.plugins.policy import MessagePolicyFactory
from risala.plugins.sink import EventSinkFactory

hookspec = pluggy.HookspecMarker("risala")
hookimpl = pluggy.HookimplMarker("risala")


@hookspec
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    """Register the drivers of this plugin: call ``register`` once for each.

    Called once at start-up, before anything is connected. Do no work here: a driver is built only
    when the configuration names it.
    """


@hookspec
def risala_register_channels(register: Callable[[ChannelFactory], None]) -> None:
    """Register the channels of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: a channel is built for each table ``[channels.NAME]``
    that names it.
    """


@hookspec
def risala_register_mailers(register: Callable[[MailerFactory], None]) -> None:
    """Register the mailers of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: the one that ``mail.mailer`` names is built, where
    ``mail.host`` is set.
    """


@hookspec
def risala_register_payment_methods(
    register: Callable[[PaymentMethodFactory], None],
) -> None:
    """Register the payment methods of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: a method is built only when the configuration has
    its table.
    """


@hookspec
def risala_register_event_sinks(register: Callable[[EventSinkFactory], None]) -> None:
    """Register the event sinks of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: a sink is built for each table ``[sinks.NAME]`` that
    names it.
    """


@hookspec
def risala_register_message_policies(
    register: Callable[[MessagePolicyFactory], None],
) -> None:
    """Register the message policies of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: a policy is built for each table ``[policies.NAME]``
    that names it.
    """


@hookspec
def risala_register_compat(register: Callable[[FaceFactory], None]) -> None:
    """Register the faces of this plugin: call ``register`` once for each.

    Called once at start-up. Do no work here: a face is built only when the configuration has its
    table, with ``enabled = true``.
    """


@hookspec
def risala_register_faces(register: Callable[[FaceFactory], None]) -> None:
    """The name of ``risala_register_compat`` before 1.0: it works in every 1.x."""


@hookspec
def risala_register_commands(register: Callable[[CommandFactory], None]) -> None:
    """Register the commands of this plugin under ``risala``: call ``register`` once for each.

    Called once at start-up of the service, and by a command line that lists its commands or does
    not know a name itself. Do no work here: a command is built when it is called.
    """


@hookspec
def risala_register_console_pages(register: Callable[[ConsolePageFactory], None]) -> None:
    """Register the pages of this plugin in the operator's console: call ``register`` for each.

    Called once at start-up. Do no work here: a page is built later, and drawn when an operator
    opens it.
    """
