"""Every hook that a plugin may implement, with its exact signature."""

from __future__ import annotations

from collections.abc import Callable

import pluggy

from risala.plugins.contract import DriverFactory
from risala.plugins.mail import MailerFactory
from risala.plugins.payment import PaymentMethodFactory

hookspec = pluggy.HookspecMarker("risala")
hookimpl = pluggy.HookimplMarker("risala")


@hookspec
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    """Register the drivers of this plugin: call ``register`` once for each.

    Called once at start-up, before anything is connected. Do no work here: a driver is built only
    when the configuration names it.
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
