"""How a check of a conformance suite ends if it does not pass."""

from __future__ import annotations


class PluginFaultError(Exception):
    """A plugin does not do what the contract says.

    Args:
        check: the name of the check that the fault belongs to.
        text: what the plugin did wrong, and what it should do instead.
    """

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check
        self.text = text


class NotApplicable(Exception):
    """The plugin does not claim what a check would test. ``str()`` says why."""


class NotShown(Exception):
    """The stand-in cannot show it; ``str()`` says what."""
