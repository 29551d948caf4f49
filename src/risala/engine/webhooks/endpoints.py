"""Managing webhook endpoints: an owner's changes are checked before they are stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from risala.config.model import WebhooksSection
from risala.engine.journal.webhooks.endpoints import EndpointRepository
from risala.engine.journal.webhooks.history import DeliveryRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Conflict, FieldFault, Invalid
from risala.engine.model.events import EventType
from risala.engine.model.ids import IdSource
from risala.engine.model.records.fields import Maximum
from risala.engine.model.records.record import fields_of
from risala.engine.model.records.webhooks import (
    HEADER_CHARACTER,
    SHAPES,
    SIGNATURE_HEADER_MAX,
    SIGNATURE_KEYS,
    Endpoint,
    EndpointWithSecret,
)
from risala.engine.rules.webhooks.shapes import shape_faults
from risala.engine.rules.webhooks.signatures import new_secret
from risala.engine.rules.webhooks.types import DEFAULT_TYPES, TYPES
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of

HEADERS_MAX: Final = 10
HEADER_VALUE_MAX: Final = 1000
_TOKEN: Final = re.compile(f"{HEADER_CHARACTER}{{1,{SIGNATURE_HEADER_MAX}}}")
_VALUE: Final = re.compile(r"[!-~]([ -~]*[!-~])?")
_MAIL: Final = re.compile(r"[^@\s,;<>\"]{1,64}@[A-Za-z0-9.-]{1,190}", re.ASCII)
_OURS: Final = frozenset(
    {
        *("host", "content-length", "content-type", "content-encoding", "transfer-encoding"),
        *("connection", "keep-alive", "te", "trailer", "upgrade", "expect", "proxy-connection"),
        *("proxy-authorization", "accept", "accept-encoding", "user-agent"),
    }
)
"""Headers that an owner may not set, because they are ours or the connection's; nor may an owner
set any that begins with ``webhook-``."""


EndpointSettings = Mapping[str, Any]
"""By the names of :data:`SETTINGS`; in a new endpoint the others take their defaults."""


class Endpoints:
    """All operations on endpoints; has no state."""

    def __init__(
        self,
        settings: WebhooksSection,
        endpoints: EndpointRepository,
        deliveries: DeliveryRepository,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._rules = rules_of(settings)
        self._endpoints = endpoints
        self._deliveries = deliveries
        self._clock = clock
        self._ids = ids

    async def create(
        self,
        organization_id: str,
        mode: str,
        settings: EndpointSettings,
        *,
        by: AuditEntry | None = None,
    ) -> EndpointWithSecret:
        """Make an endpoint.

        Raises:
            Invalid: a field is wrong.
            Conflict: the organization has as many endpoints as it may.
        """
        self._check(settings, is_new=True)
        new = _drafted(settings, organization_id, mode)
        _check_shape(new)
        now_ms, secret = self._clock.now_ms(), new_secret()
        new = replace(new, id=self._ids.new("whe"), created_at=now_ms, updated_at=now_ms)
        return EndpointWithSecret(await self._endpoints.add(by, new, secret), secret)

    async def update(
        self, endpoint_id: str, settings: EndpointSettings, *, by: AuditEntry | None = None
    ) -> Endpoint:
        """Change the given settings.

        Raises:
            Invalid: a field is wrong; nothing was changed.
            NotFound: the endpoint does not exist.
        """
        self._check(settings)
        old = self._endpoints.endpoint(endpoint_id)
        new = replace(old, **settings)
        if is_twice(new):
            raise Invalid.of([_TWICE])
        if new.shape != old.shape:
            # The former template was for another shape.
            types = old.types if new.shape == "event" else _types_of(new.shape)
            settings = {"types": types, "template": "", **settings}
        _check_shape(replace(old, **settings))
        return await self._endpoints.change(by, endpoint_id, settings, self._clock.now_ms())

    async def set_enabled(
        self, endpoint_id: str, *, enabled: bool, by: AuditEntry | None = None
    ) -> Endpoint:
        """Enable or disable an endpoint. Pending deliveries of a disabled one end as failed.

        Raises:
            NotFound: the endpoint does not exist.
        """
        now_ms = self._clock.now_ms()
        changed = await self._endpoints.set_enabled(by, endpoint_id, now_ms, enabled=enabled)
        if not enabled:
            await self._deliveries.end_pending(endpoint_id, self._clock.now_ms())
        return changed

    async def rotate(
        self, endpoint_id: str, *, at_once: bool, by: AuditEntry | None = None
    ) -> EndpointWithSecret:
        """Make a new secret. The old one signs too for 24 hours; with ``at_once`` it
        stops at once.

        Raises:
            NotFound: the endpoint does not exist.
            Conflict: the secret before the present one still signs.
        """
        now_ms, secret = self._clock.now_ms(), new_secret()
        rotated = await self._endpoints.rotate(by, endpoint_id, secret, now_ms, at_once=at_once)
        return EndpointWithSecret(rotated, secret)

    async def delete(self, endpoint_id: str, *, by: AuditEntry | None = None) -> Endpoint:
        """Delete an endpoint; its pending deliveries are dropped.

        Raises:
            NotFound: the endpoint does not exist.
        """
        deleted = await self._endpoints.delete(by, endpoint_id, self._clock.now_ms())
        await self._deliveries.end_pending(endpoint_id, self._clock.now_ms())
        return deleted

    async def test(self, endpoint_id: str, *, by: AuditEntry | None = None) -> str:
        """Queue a test event for an endpoint; returns the event's id.

        Raises:
            NotFound: the endpoint does not exist.
            Conflict: it is disabled.
        """
        endpoint = self._endpoints.endpoint(endpoint_id)
        if not endpoint.enabled:
            raise Conflict("The endpoint is disabled. Enable it first.", "ENDPOINT_DISABLED")
        return await self._endpoints.owe_test(by, endpoint, self._clock.now_ms())

    def _check(self, settings: EndpointSettings, *, is_new: bool = False) -> None:
        if faults := self.faults(settings, is_new=is_new):
            raise Invalid.of(faults)

    def faults(self, settings: EndpointSettings, *, is_new: bool = False) -> Sequence[FieldFault]:
        """All faults of these settings; for a new endpoint also a missing URL."""
        url = settings.get("url")
        return [*self._url_faults(url, is_new=is_new), *setting_faults(_drafted(settings))]

    def _url_faults(self, url: str | None, *, is_new: bool) -> Iterator[FieldFault]:
        if url is None:
            if is_new:
                yield FieldFault("url", "missing", "`url` is required.")
            return
        try:
            parse_target(url, self._rules)
        except UrlRefused as error:
            yield FieldFault("url", "invalid_url", str(error))


def _drafted(settings: EndpointSettings, organization_id: str = "", mode: str = "") -> Endpoint:
    """A new endpoint with these settings, as yet without an id."""
    usual = {"url": "", "types": _types_of(settings.get("shape", SHAPES[0]))}
    return Endpoint(
        id="",
        organization_id=organization_id,
        mode=mode,
        created_at=0,
        updated_at=0,
        **{**usual, **settings},
    )


def _types_of(shape: str) -> tuple[str, ...]:
    """The events of an endpoint for which none are chosen."""
    return DEFAULT_TYPES if shape == "event" else (EventType.SMS_RECEIVED,)


def _check_shape(endpoint: Endpoint) -> None:
    """Refuse a shape that does not go with the other fields of its endpoint.

    Raises:
        Invalid: with all faults.
    """
    faults = [*shape_faults(endpoint.shape, endpoint.template, endpoint.url)]
    if endpoint.shape != "event" and endpoint.types != _types_of(endpoint.shape):
        text = "With another shape than `event`, an endpoint gets only `sms.received`."
        faults.append(FieldFault("types", "invalid_type", text))
    if faults:
        raise Invalid.of(faults)


def setting_faults(endpoint: Endpoint) -> Iterator[FieldFault]:
    """The faults other than the URL's: at most one for each field."""
    if any(kind not in TYPES for kind in endpoint.types):
        yield FieldFault("types", "invalid_type", f"`types` must be of these: {', '.join(TYPES)}.")
    if not endpoint.types:
        text = "An endpoint needs at least one event type."
        yield FieldFault("types", "missing", text)
    yield from _long_texts(endpoint)
    if endpoint.notify and not _MAIL.fullmatch(endpoint.notify):
        yield FieldFault("notify", "invalid_address", "`notify` must be one e-mail address.")
    if (fault := _headers_fault(endpoint.headers)) is not None:
        yield fault
    if endpoint.signature_key not in SIGNATURE_KEYS:
        text = "`signature_key` must be `text` or `decoded`."
        yield FieldFault("signature_key", "invalid", text)
    if endpoint.signature_header and not is_free_header(endpoint.signature_header):
        text = "`signature_header` must be the name of a header field that nothing else uses."
        yield FieldFault("signature_header", "invalid_header", text)
    elif is_twice(endpoint):
        yield _TWICE


_NOUNS: Final = {"description": "A description"}
"""How the sentence of a text that is too long begins; of the others it has the field's name."""
_LIMITED: Final = tuple(
    (each.name, most.characters, _NOUNS.get(each.name, f"`{each.name}`"))
    for each in fields_of(Endpoint)
    if each.name not in ("url", "signature_header", "template")
    and (most := each.note(Maximum)) is not None
)
"""The texts with no other rule than that they end: their limits stand in the record."""


def _long_texts(endpoint: Endpoint) -> Iterator[FieldFault]:
    for name, most, noun in _LIMITED:
        if len(getattr(endpoint, name) or "") > most:
            yield FieldFault(name, "too_long", f"{noun} can have at most {most} characters.")


_TWICE: Final = FieldFault(
    "signature_header",
    "named_twice",
    "`signature_header` must be the name of a header field that nothing else uses.",
)


def is_twice(endpoint: Endpoint) -> bool:
    """Whether the header of the second signature is one of the owner's own too."""
    name = (endpoint.signature_header or "").lower()
    return name in {each.lower() for each in endpoint.headers}


def _headers_fault(headers: Mapping[str, str]) -> FieldFault | None:
    if len(headers) > HEADERS_MAX:
        text = f"An endpoint can have at most {HEADERS_MAX} custom headers."
        return FieldFault("headers", "too_many", text)
    for name, value in headers.items():
        if not is_free_header(name):
            text = "A header has a name that is not allowed."
            return FieldFault("headers", "invalid_header", text)
        if len(value) > HEADER_VALUE_MAX or not _VALUE.fullmatch(value):
            text = f"A header value must have 1 to {HEADER_VALUE_MAX} printable ASCII characters."
            return FieldFault("headers", "invalid_header", text)
    if len({name.lower() for name in headers}) < len(headers):
        return FieldFault("headers", "invalid_header", "A header is given twice.")
    return None


def is_free_header(name: str) -> bool:
    """Whether an owner may give a header field of this name to the calls to an endpoint."""
    folded = name.lower()
    is_ours = folded in _OURS or folded.startswith("webhook-")
    return _TOKEN.fullmatch(name) is not None and not is_ours
