"""Which carriers are only for banks' texts, and which methods read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from risala.engine.actors.bell import Bell
from risala.plugins.payment import PaymentMethod
from risala.plugins.payment_texts import HearsTexts


class BankLines:
    """Made before the carrier workers and the payment service, both of which need it.

    Args:
        methods: by the names of their tables.
    """

    def __init__(self, methods: Mapping[str, PaymentMethod]) -> None:
        self.listeners: Mapping[str, HearsTexts] = {
            name: method for name, method in methods.items() if isinstance(method, HearsTexts)
        }
        """The methods whose bank writes to a SIM, by name."""
        self.texts = Bell()
        """Wakes the reader of the texts: one came, or a payment changed that one may be about."""

    def hearing(self, carrier: str) -> Callable[[], None] | None:
        """What to call for a carrier's texts if they are for payments alone; else None."""
        mine = any(method.carrier == carrier for method in self.listeners.values())
        return self.texts.ring if mine else None
