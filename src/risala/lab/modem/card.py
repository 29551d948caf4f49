"""The SIM: locked by its PIN after each start, blocked after three wrong ones (27.007 §8.3)."""

from __future__ import annotations

from risala.lab.modem.at.replies import Cme, CmeError, Cms, CmsError
from risala.lab.modem.world.config import PIN_TRIES, PUK_TRIES, ModemConfig


class Card:
    def __init__(self, config: ModemConfig) -> None:
        self.is_in = config.has_sim
        self.asks_pin = config.pin is not None
        self.pin_tries = PIN_TRIES
        self.puk_tries = PUK_TRIES
        self._pin = config.pin or "0000"
        self._puk = config.puk
        self._locked = self.asks_pin

    def restart(self) -> None:
        self._locked = self.asks_pin

    @property
    def is_ready(self) -> bool:
        return self.is_in and not self._locked and self.pin_tries > 0

    @property
    def word(self) -> str:
        """The SIM's state as in ``+CPIN?``. Raises :class:`CmeError` without a SIM."""
        if not self.is_in:
            raise CmeError(Cme.SIM_NOT_INSERTED)
        if self.pin_tries == 0:
            return "SIM PUK"
        return "SIM PIN" if self._locked else "READY"

    def check(self, *, for_messages: bool) -> None:
        """Raise :class:`CmeError`, or ``for_messages`` :class:`CmsError`, unless the SIM is
        ready."""
        if self.is_ready:
            return
        word = self.word if self.is_in else "absent"
        name = {"SIM PUK": "SIM_PUK_REQUIRED", "absent": "SIM_NOT_INSERTED"}.get(
            word, "SIM_PIN_REQUIRED"
        )
        raise CmsError(Cms[name]) if for_messages else CmeError(Cme[name])

    def type_pin(self, pin: str) -> None:
        """Take a PIN, as ``+CPIN="1234"`` does. Raises :class:`CmeError` if it is wrong."""
        if self.word != "SIM PIN":
            raise CmeError(Cme.OPERATION_NOT_ALLOWED)
        self.prove(pin)
        self._locked = False

    def prove(self, pin: str) -> None:
        """Check a PIN. Raises :class:`CmeError` if it is wrong, which uses up a try."""
        if self.pin_tries == 0:
            raise CmeError(Cme.SIM_PUK_REQUIRED)
        if pin != self._pin:
            self.pin_tries -= 1
            raise CmeError(Cme.INCORRECT_PASSWORD if self.pin_tries else Cme.SIM_PUK_REQUIRED)
        self.pin_tries = PIN_TRIES

    def unblock(self, puk: str, new_pin: str) -> None:
        """Set a new PIN with the PUK, as ``+CPIN="12345678","1234"`` does."""
        if self.word != "SIM PUK":
            raise CmeError(Cme.OPERATION_NOT_ALLOWED)
        if puk != self._puk:
            self.puk_tries = max(self.puk_tries - 1, 0)
            raise CmeError(Cme.INCORRECT_PASSWORD if self.puk_tries else Cme.SIM_FAILURE)
        self._pin = new_pin
        self.pin_tries, self.puk_tries = PIN_TRIES, PUK_TRIES
        self._locked = False
