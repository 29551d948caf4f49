"""A browser over an app in memory: its cookies, its forms, and what it was answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from risala.http.web.app import WebApp
from web_people import AT_MS

HOST = "127.0.0.1:8080"
BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW"


class FixedClock:
    def now_ms(self) -> int:
        return AT_MS


def on_one_line(html: str) -> str:
    """Tags without the line breaks at which templates wrap them."""
    wrapped = r"<[a-zA-Z][^>\n]*\n[^>]*>"
    tags = re.sub(wrapped, lambda tag: re.sub(r"\s{2,}", " ", tag[0]), html)
    return re.sub(r">\s{2,}<", "><", tags)


@dataclass
class Page:
    """An answer, as a browser would keep it."""

    status: int
    headers: Any
    text: str

    def __post_init__(self) -> None:
        self.text = on_one_line(self.text)

    @property
    def location(self) -> str | None:
        return self.headers.get("location")

    @property
    def cookies(self) -> dict[str, str]:
        found = (each.split(";")[0].partition("=") for each in self.headers.getlist("set-cookie"))
        return {name: value for name, _, value in found}

    def field(self, name: str) -> str:
        """The hidden field of that name in the page's own form, else in those around it."""
        own = self.text.partition("<main")[2]
        wanted = rf'name="{name}" value="([^"]*)"'
        return (re.search(wanted, own) or re.search(wanted, self.text))[1]

    @cached_property
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
    client: str = "127.0.0.1"
    """Its address; another one than of this machine is sent away by plain http."""

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
            scope_base={"client": (self.client, 1)},
        )
        page = Page(
            response.status_code,
            response.headers,
            (await response.get_data()).decode(errors="replace"),
        )
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

    async def upload(
        self,
        page: Page,
        path: str,
        fields: Mapping[str, str],
        file: tuple[str, bytes] = ("", b""),
        **headers: str,
    ) -> Page:
        """Post a form that may carry a file, as a browser writes it, with the page's marks."""
        marks = {name: page.field(name) for name in ("form_token", "once")}
        disposition = 'Content-Disposition: form-data; name="{}"'
        parts = [
            f"--{BOUNDARY}\r\n{disposition.format(name)}\r\n\r\n{value}\r\n".encode()
            for name, value in {**marks, **fields}.items()
        ]
        head = f'--{BOUNDARY}\r\n{disposition.format("file")}; filename="{file[0]}"\r\n'
        parts.insert(2, f"{head}Content-Type: text/csv\r\n\r\n".encode() + file[1] + b"\r\n")
        form = {"content_type": f"multipart/form-data; boundary={BOUNDARY}", **headers}
        return await self.ask(
            "POST", path, b"".join(parts) + f"--{BOUNDARY}--\r\n".encode(), **form
        )

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


def assert_nothing_inline(page: Page) -> None:
    """What the policy forbids is not there."""
    for tag, attributes in page.tags:
        assert tag != "style"
        assert tag != "script" or attributes["src"].startswith("/static/")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        assert not [name for name in attributes if name.startswith("hx-on")]
        for name in ("href", "src", "action"):
            value = attributes.get(name) or ""
            assert not value.lower().startswith(("javascript:", "data:", "//"))
    title = re.search(r"<title>(.*?)</title>", page.text, re.DOTALL)
    assert title is None or "<" not in title[1], "a browser shows markup in a title as text"
