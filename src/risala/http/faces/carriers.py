"""Carriers' own addresses on the API's listener, ``/carriers/NAME/…``: the driver answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from risala.engine.model.records.asks import FeatureAccess
from risala.http.common.plain import PlainPath
from risala.http.common.request import is_plain_path
from risala.http.faces.paths import PathMounting

if TYPE_CHECKING:
    from risala.engine.features.answering.calls import CarrierCalls
    from risala.http.faces.carrier_requests import CarrierRequests

_START: Final = b"/carriers/"
_TARGET: Final = re.compile(rb"/carriers/([a-z0-9][a-z0-9_-]{0,39})((?:/.*)?)")
TARGET_BYTES_MAX: Final = 2048
"""The longest path of a carrier, with its secret."""
ACCESS: Final[FeatureAccess[CarrierCalls]] = FeatureAccess("answering")


class CarrierPaths:
    """Finds the addresses of carriers. What answers is imported with the first call."""

    def __init__(self, open_requests: Callable[[], CarrierRequests]) -> None:
        self._open_requests = open_requests
        self._requests: CarrierRequests | None = None

    def find(self, target: bytes) -> PlainPath | None:
        """The path for a target; None: it is no carrier's that is called."""
        if not target.startswith(_START):
            return None
        place, _, query = target.partition(b"?")
        match = _TARGET.fullmatch(place)
        if match is None or len(place) > TARGET_BYTES_MAX or not is_plain_path(place):
            return None
        if self._requests is None:
            self._requests = self._open_requests()
        word, rest = match[1].decode(), match[2].decode("latin-1")
        return self._requests.path(word, rest, query.decode("latin-1"))


def mount(mounting: PathMounting) -> None:
    """Answer the addresses of carriers."""

    def open_requests() -> CarrierRequests:
        from risala.http.common.failed_keys import GuessBrake
        from risala.http.faces.carrier_requests import CarrierRequests

        calls, proxies = mounting.gateway.access(ACCESS), mounting.settings.http.trusted_proxies
        return CarrierRequests(calls, proxies, mounting.stop, brake=GuessBrake())

    mounting.app.plain.mount(CarrierPaths(open_requests).find)
