"""A face that tells a guesser what it should not, so that the rig shows what it can see.

The service loads this file as a plugin. ``/planted/early`` compares a password octet by octet and
stops at the first that is wrong, with a little work for each; ``/planted/even`` does the same work
whatever was asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import trio
from pydantic import BaseModel, ConfigDict

from risala.plugins.face import (
    FaceAnswer,
    FaceFactory,
    FacePath,
    FaceRequest,
    FaceService,
    GatewayFace,
)
from risala.plugins.hookspecs import hookimpl

SECRET = "k7Rw2mXz9QbT4cVy8nLp3hGs6dFj5aWe"
WORK = 2
"""Hashes for each octet that is right: some microseconds for the whole of it."""


class PlantedSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Planted:
    """See the module's text."""

    paths: Sequence[FacePath] = (FacePath("/planted/early"), FacePath("/planted/even"))

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        await trio.lowlevel.checkpoint()
        given = request.headers.get("x-planted", "")
        stops = request.path.endswith("early")
        for ours, theirs in zip(SECRET, given, strict=False):
            if stops and ours != theirs:
                break
            for _ in range(WORK):
                hashlib.sha256(SECRET.encode()).digest()
        return FaceAnswer(b"{}", 200)


def build(settings: PlantedSettings) -> GatewayFace:
    return Planted()


@hookimpl
def risala_register_compat(register: Callable[[FaceFactory], None]) -> None:
    register(FaceFactory("planted", PlantedSettings, build, "tells what it should not"))
