"""Paths on the API's listener that are not the API's: where features add theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import trio

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.http.common.plain import PlainAnswer, PlainRoutes
from risala.plugins.face import FaceAnswer, GatewayFace

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


class FacedApp(Protocol):
    """The app beside whose paths a face's own are mounted."""

    @property
    def plain(self) -> PlainRoutes: ...

    def answers_at(self, path: str, /) -> bool:
        """Whether a path already has a handler."""


class TypedAnswer(PlainAnswer):
    """An answer whose body need not be JSON."""

    __slots__ = ("content_type",)

    def __init__(self, answer: FaceAnswer) -> None:
        super().__init__(answer.body, answer.status, answer.headers)
        self.content_type = answer.content_type

    def lines(self, request_id: str) -> bytes:
        own = super().lines(request_id)
        if any(each in self.content_type for each in "\r\n\0"):
            raise ValueError("a content type of the answer has an end of line in it")
        first, _, rest = own.partition(b"\r\n")
        if not first.startswith(b"content-type:"):
            return own
        return b"content-type: %s\r\n%s" % (self.content_type.encode("latin-1"), rest)


@dataclass(frozen=True, slots=True)
class PathMounting:
    """What a feature is given that answers paths."""

    app: FacedApp
    gateway: Gateway
    settings: Settings
    faces: Mapping[str, GatewayFace]
    """The faces of plugins, by their names."""
    base_url: str
    """The listener's address."""
    stop: trio.Event
    """Set when the service ends: answers without an end are over then."""
