"""What a check of a conformance suite ends with, other than that it is passed."""

from __future__ import annotations


class PluginFaultError(Exception):
    """A plugin does not do what the contract says.

    Args:
        check: the name of the check whose matter it is.
        text: what the plugin did wrong, and what it should do instead.
    """

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check
        self.text = text


class NotApplicable(Exception):
    """There is nothing to check: the plugin does not claim it. ``str()`` says what."""


class NotShown(Exception):
    """The stand-in cannot show it; ``str()`` says what."""
