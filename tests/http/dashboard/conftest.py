"""The pages in memory, over a gateway that writes down what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trio

from risala.config.model import Settings
from risala.engine.model.callers import Role
from risala.engine.model.following import Lagged, Told, What
from risala.engine.model.people import ReachableOrganization
from risala.http.dashboard.app import create_dashboard
from risala.http.web.app import WebApp
from web_browser import FixedClock, Reader
from web_people import FakeWebGateway, key, user


@pytest.fixture
def gateway() -> FakeWebGateway:
    return FakeWebGateway(keys={"key_1": key(1), "key_2": key(2, name="Old", last4="9aKe")})


@pytest.fixture
def app(gateway: FakeWebGateway) -> WebApp:
    return create_dashboard(gateway, Settings(), shutdown=trio.Event(), clock=FixedClock())


@pytest.fixture
def browser_on() -> Callable[..., Reader]:
    """A browser on some app, with its cookies."""
    return Reader


@pytest.fixture
def stranger(app: WebApp) -> Reader:
    return Reader(app)


@pytest.fixture
def reader_as(app: WebApp, gateway: FakeWebGateway):
    """A browser of somebody who is signed in, in a role of org_1."""

    def make(role: Role | None = Role.OWNER, **changes: Any) -> Reader:
        places = (
            []
            if role is None
            else [ReachableOrganization("org_1", "Baraka Market", "active", role)]
        )
        token = gateway.people.enter(user(**changes), *places)
        return Reader(app, {"risala": token})

    return make


@pytest.fixture
def owner(reader_as) -> Reader:
    return reader_as()


class OneGap:
    """A follower that is told of a gap, and ends a beat later."""

    def __init__(self) -> None:
        self._asked = 0

    async def __anext__(self) -> Told:
        self._asked += 1
        if self._asked == 1:
            return Lagged(1)
        if self._asked == 2:
            await trio.sleep_forever()
        raise StopAsyncIteration

    def skip(self) -> None:
        """There is nothing else to tell."""

    def close(self) -> None:
        """Nobody waits here."""


@pytest.fixture
def short_streams(
    gateway: FakeWebGateway, autojump_clock: trio.testing.MockClock
) -> trio.testing.MockClock:
    """Streams of pieces draw once, and are over. It is the clock, by which a test's waits pass."""

    @contextmanager
    def follow(what: What, organization_id: str | None = None) -> Iterator[OneGap]:
        yield OneGap()

    gateway.follow = follow
    return autojump_clock
