"""Reads the calls of a carrier: who calls, and what it brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from risala.drivers.http.proving import Signed, is_signed, key_of
from risala.drivers.http.settings import HttpSettings
from risala.drivers.http.shape import HeardShape
from risala.drivers.http.sources import CarrierContent, content_of
from risala.plugins.answering import CarrierRequest


class CallbackReader:
    """Proves who calls, and parses what was told."""

    def __init__(self, settings: HttpSettings) -> None:
        shape = settings.shape
        self._proof = shape.proof
        self._heard = [each for each in (shape.receipt, shape.inbound) if each is not None]
        self._address = settings.secret_address.get_secret_value()
        self._key = b""
        if self._proof.kind == "hmac":
            self._key = key_of(
                self._proof, getattr(settings, self._proof.secret).get_secret_value()
            )

    async def read(
        self, request: CarrierRequest, now_s: float
    ) -> tuple[Sequence[HeardShape], CarrierContent]:
        """What a request tells, and which of its preset's tables read it; none: its path is none of
        theirs, or the caller is not proved.

        Raises:
            RequestRefusedError: the service does not go on with it.
        """
        body = await request.read()
        if not request.is_proved() and self._is_theirs(request, body, now_s):
            request.prove()
        if not request.is_proved():
            return (), CarrierContent()
        path = request.path.rstrip("/")
        heard = [each for each in self._heard if each.path == path]
        query = {name: values[0] for name, values in request.query.items() if values}
        content_type = request.headers.get("content-type", "")
        return heard, content_of(body, content_type, request.headers, query)

    def _is_theirs(self, request: CarrierRequest, body: bytes, now_s: float) -> bool:
        if not self._key:
            return False
        url = f"{self._address}{request.path}{_query(request.query)}"
        signed = Signed(url, request.headers, body)
        return is_signed(self._proof, self._key, signed, now_s)


def _query(query: Mapping[str, tuple[str, ...]]) -> str:
    pairs = [(name, value) for name, values in query.items() for value in values]
    return f"?{urlencode(pairs)}" if pairs else ""
