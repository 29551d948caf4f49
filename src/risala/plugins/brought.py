"""What one plugin brings: its hooks are called, and all that they register is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pluggy

from risala.config.model import CarrierSection
from risala.plugins import hookspecs
from risala.plugins.contract import DriverFactory
from risala.plugins.mail import MailerFactory
from risala.plugins.payment import PaymentMethodFactory

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # as in [[carriers]]


Factory = TypeVar("Factory")


class UnfitPluginError(Exception):
    """What we ourselves found wrong with a plugin; ``str()`` is the reason."""


@dataclass(frozen=True, slots=True)
class Brought:
    """All that one plugin registered, in the order in which it did."""

    drivers: tuple[DriverFactory, ...] = ()
    mailers: tuple[MailerFactory, ...] = ()
    payment_methods: tuple[PaymentMethodFactory, ...] = ()

    def named(self) -> Iterator[tuple[str, str]]:
        """The kind and the name of each thing: no two plugins may bring the same pair."""
        for kind, factories in (
            ("driver", self.drivers),
            ("mailer", self.mailers),
            ("payment method", self.payment_methods),
        ):
            for factory in factories:
                yield kind, factory.name


def brought_by(plugin: object) -> Brought:
    """Call one plugin's hooks, and check all that it registers.

    Each plugin has a pluggy manager of its own: in a common one a hook that raises ends the call
    for the plugins after it, and a misspelt hook is nobody's.

    Raises:
        UnfitPluginError: a hook failed or is misspelt, or what it registered cannot be used.
    """
    hooks = pluggy.PluginManager("risala")
    hooks.add_hookspecs(hookspecs)
    try:
        hooks.register(plugin)
        hooks.check_pending()
    except pluggy.PluginValidationError as error:
        reason = " ".join(str(error).partition(" in plugin ")[0].split())
        raise UnfitPluginError(f"{reason}; see docs/reference/plugin-hooks.md") from error
    if not hooks.get_hookcallers(plugin):
        raise UnfitPluginError("it has no function marked with @hookimpl")
    call = hooks.hook
    brought = Brought(
        _asked(call.risala_register_drivers, DriverFactory),
        _asked(call.risala_register_mailers, MailerFactory),
        _asked(call.risala_register_payment_methods, PaymentMethodFactory),
    )
    for driver in brought.drivers:
        # The driver's name is also the key of its table within [[carriers]].
        if driver.name in CarrierSection.model_fields:
            raise UnfitPluginError(f'"{driver.name}" cannot be the name of a driver')
    named: set[tuple[str, str]] = set()
    for kind, name in brought.named():
        if not _NAME.fullmatch(name):
            raise UnfitPluginError(f'"{name}" cannot be the name of a {kind}')
        if (kind, name) in named:
            raise UnfitPluginError(f'it registers the {kind} "{name}" twice')
        named.add((kind, name))
    return brought


def _asked(hook: Callable[..., Any], wanted: type[Factory]) -> tuple[Factory, ...]:
    found: list[object] = []
    hook(register=found.append)
    return tuple(_of(wanted, found))


def _of(wanted: type[Factory], found: Sequence[object]) -> Iterator[Factory]:
    for one in found:
        if not isinstance(one, wanted):
            kind = type(one).__name__
            raise UnfitPluginError(f"it registered a {kind} instead of a {wanted.__name__}")
        yield one
