"""The pages in memory, over a gateway that writes down what is done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
import trio

from risala.config.model import Settings
from risala.engine.model.callers import Role
from risala.engine.model.people import Place
from risala.engine.model.told import Lagged, Told, What
from risala.http.dashboard.app import create_dashboard
from risala.http.web.app import WebApp
from web_people import AT_MS, FakeWebGateway, key, user

HOST = "127.0.0.1:8080"


class FixedClock:
    def now_ms(self) -> int:
        return AT_MS


@dataclass
class Page:
    """An answer, as a browser would keep it."""

    status: int
    headers: Any
    text: str

    @property
    def location(self) -> str | None:
        return self.headers.get("location")

    @property
    def cookies(self) -> dict[str, str]:
        found = (each.split(";")[0].partition("=") for each in self.headers.getlist("set-cookie"))
        return {name: value for name, _, value in found}

    def field(self, name: str) -> str:
        """The hidden field of that name in the page's own form."""
        own = self.text.partition("<main")[2]
        return re.search(rf'name="{name}" value="([^"]*)"', own or self.text)[1]

    @property
    def tags(self) -> list[tuple[str, dict[str, str | None]]]:
        found: list[tuple[str, dict[str, str | None]]] = []

        class Reader(HTMLParser):
            def handle_starttag(self, tag, attrs):
                found.append((tag, dict(attrs)))

        Reader().feed(self.text)
        return found


@dataclass
class Reader:
    """One browser."""

    app: WebApp
    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=lambda: {"accept-language": "en"})
    scheme: str = "http"

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Page:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        told = {"host": HOST, "cookie": cookie, **self.headers, **more}
        client = self.app.test_client(use_cookies=False)
        response = await client.open(
            path,
            method=method,
            headers=told,
            data=body,
            scheme=self.scheme,
            scope_base={"client": ("127.0.0.1", 1)},
        )
        page = Page(response.status_code, response.headers, (await response.get_data()).decode())
        for name, value in page.cookies.items():
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        return page

    async def get(self, path: str, **headers: str) -> Page:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Page:
        form = {"content_type": "application/x-www-form-urlencoded", **headers}
        return await self.ask("POST", path, urlencode(fields).encode(), **form)

    async def submit(
        self, page: Page, path: str, fields: Mapping[str, str] | None = None, *, drawn: bool = True
    ) -> Page:
        """Post a form of a page, with the marks that it bears.

        ``drawn=False``: the page has no form that leads there; somebody made one up.
        """
        if drawn:
            assert path in [each.get("action", each.get("formaction")) for _, each in page.tags]
        hidden = ("form_token", "once", "version")
        marks = {name: page.field(name) for name in hidden if f'"{name}"' in page.text}
        return await self.post(path, {**marks, **(fields or {})})


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
        places = [] if role is None else [Place("org_1", "Baraka Market", "active", role)]
        token = gateway.people.sign_in(user(**changes), *places)
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

    def close(self) -> None:
        """Nobody waits here."""


@pytest.fixture
def short_streams(gateway: FakeWebGateway, autojump_clock: trio.testing.MockClock) -> None:
    """Streams of pieces draw once, and are over."""

    @contextmanager
    def follow(what: What, organization_id: str | None = None) -> Iterator[OneGap]:
        yield OneGap()

    gateway.follow = follow
