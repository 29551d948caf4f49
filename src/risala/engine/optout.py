"""The refusal of a send to somebody who wants no more messages."""

from __future__ import annotations

import sqlite3

from risala.engine.errors import RecipientOptedOut
from risala.engine.journal import opt_outs


class OptOuts:
    """Asked at every send; costs a look into a set while the organization allows no opt-outs."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._heeding = opt_outs.policies(reader)

    def look_again(self) -> None:
        """A policy was changed."""
        self._heeding = opt_outs.policies(self._reader)

    def refuse(self, organization_id: str, recipient: str) -> None:
        """Refuse a message to somebody who wants none.

        Raises:
            RecipientOptedOut: until they send START.
        """
        if organization_id in self._heeding and opt_outs.is_out(
            self._reader, organization_id, recipient
        ):
            raise RecipientOptedOut
