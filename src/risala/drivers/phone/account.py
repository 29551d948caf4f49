"""A phone's lines that are several carriers: one of them has the phone, the others share it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from risala.drivers.phone.link import PhoneLink


class PhoneAccount:
    """The phones of one private token that run now, by the carrier whose phone each is.

    See :class:`~risala.plugins.sharing.SharedAccount`.
    """

    def __init__(self) -> None:
        self._links: dict[str, PhoneLink] = {}
        self._changed = trio.Event()

    async def run(self) -> None:
        """Live until cancelled: all that is open is a driver's."""
        await trio.sleep_forever()

    @contextmanager
    def having(self, link: PhoneLink) -> Iterator[None]:
        """Within this context the lines of a carrier's phone may share it."""
        carrier = link.context.carrier
        self._links[carrier] = link
        self._change()
        try:
            yield
        finally:
            del self._links[carrier]
            self._change()

    def link_of(self, carrier: str) -> PhoneLink | None:
        """The phone of a carrier; None: its driver does not run."""
        return self._links.get(carrier)

    async def wait_link(self, carrier: str) -> PhoneLink:
        """Wait until a carrier's driver runs; its phone."""
        while (link := self._links.get(carrier)) is None:
            await self._changed.wait()
        return link

    def _change(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()
