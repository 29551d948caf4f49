"""A real Chromium, the demo as a process, and the example page served from another port."""

import json
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from looking import Speaker, Watch
from patience import HANG_S, until
from processes import Process, run
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

MAURITANIA = {"code": "222", "trunk": "", "example": "36 12 34 56"}
"""How its numbers are written, as the example's config.js says it."""
EXAMPLE = Path(__file__).parents[2] / "examples/verify-page"
expect.set_options(timeout=HANG_S * 1000)  # what a page is to show by itself, a busy machine too
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Chromium is no part of `make test`, whatever else is asked for with `-m`."""
    if "browser" in (config.option.markexpr or ""):
        return
    away = [item for item in items if item.get_closest_marker("browser")]
    if away:
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if not item.get_closest_marker("browser")]


@dataclass
class Demo:
    """A running `risala serve --demo`."""

    data: Path
    file: dict[str, Any]

    def risala(self, *arguments: str) -> dict:
        command = [sys.executable, "-m", "risala", *arguments, "--data", str(self.data), "--json"]
        done = run(command, self.data)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def texts(self, number: str) -> list[str]:
        lines = (self.data / "inbox.jsonl").read_text("utf-8").splitlines()
        return [each["text"] for each in map(json.loads, lines) if each["to"] == number]

    def code(self, page: Page, number: str, count: int = 1) -> str:
        """The code in the so-many-th SMS to a number."""
        for _ in range(HANG_S * 20):
            if len(found := self.texts(number)) >= count:
                return re.search(r"\d{6}", found[count - 1]).group()
            page.wait_for_timeout(50)
        raise AssertionError("no SMS arrived")

    def mailed_code(self, email: str) -> str:
        """The code in the last mail to an address."""

        def found() -> str | None:
            lines = Path(self.file["outbox"]).read_text("utf-8").splitlines()
            mails = [each for each in map(json.loads, lines) if each["to"] == email]
            return re.search(r"\b\d{6}(?:\d\d)?\b", mails[-1]["text"]).group() if mails else None

        return until(found, f"a mail to {email}")


@contextmanager
def serve_demo(data: Path, port: int = 0, options: Sequence[str | Path] = ()) -> Iterator[Demo]:
    """A demo of its own; it stops as a service does that is told to."""
    command = [sys.executable, "-m", "risala", "serve", "--demo", "--data", data]
    command += ["--port", str(port), *options]
    (data / "demo.json").unlink(missing_ok=True)
    process = Process([*map(str, command)], data)
    try:
        until = time.monotonic() + HANG_S
        while not (data / "demo.json").exists():  # written at one stroke, when it is ready
            assert process.popen.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        yield Demo(data, json.loads((data / "demo.json").read_text()))
    finally:
        process.signal(signal.SIGTERM)
        process.wait_exit()


@pytest.fixture(name="serve_demo", scope="session")
def serve_demo_fixture() -> Callable[..., AbstractContextManager[Demo]]:
    return serve_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with serve_demo(tmp_path_factory.mktemp("demo")) as served:
        yield served


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_page(
    directory: Path, api: str, key: str, home: Mapping[str, str] = MAURITANIA
) -> Iterator[str]:
    """The example with its lines changed, at a port of its own."""
    shutil.copytree(EXAMPLE, directory)
    values = {"api": api, "key": key, "home": {**home}, "origin": ""}
    config = f"window.RISALA = {json.dumps(values)};\n"
    (directory / "config.js").write_text(config)
    handler = partial(_Quiet, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def site(demo: Demo, tmp_path: Path) -> Iterator[str]:
    with serve_page(tmp_path / "site", demo.file["base_url"], demo.file["publishable_key"]) as url:
        yield url


@pytest.fixture
def site_with(tmp_path: Path) -> Callable:
    return lambda api, key, *home: serve_page(tmp_path / "other", api, key, *home)


def installed_chromium() -> str | None:
    """Chromium's path. The one without windows takes a third of the processor."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = installed_chromium()
    if chromium is None:
        pytest.fail("There is no Chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the page as a phone would; at the end nothing may have failed in it."""
    contexts, faults = [], []

    def open_one(url: str, locale: str = "en", **options: Any) -> Page:
        context = browser.new_context(locale=locale, **{**PHONE, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    """The address of the pages over a gateway in memory."""
    with _served("serve_pages.py") as url:
        yield url


@contextmanager
def _served(program: str) -> Iterator[str]:
    """The address that a program of this folder prints; in the end it has answered no 500.

    Its output is read all the time: a full pipe would make it wait for ever.
    """
    process = Process([sys.executable, Path(__file__).parent / program], Path.cwd())
    try:
        yield process.wait_line(lambda line: line.startswith("http://"))
    finally:
        process.end()
    assert [line for line in process.lines if "request failed" in line] == []


@pytest.fixture
def look(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    """Opens a page as somebody; nothing may have gone wrong in the end."""
    contexts, watches = [], []

    def open_one(path: str, who: str = "OWNER", language: str = "en", **options) -> Page:
        context = browser.new_context(locale=language, **options)
        contexts.append(context)
        watches.append(Watch(context, pages))
        context.add_cookies([{"name": "risala-language", "value": language, "url": pages}])
        if who:
            context.add_cookies([{"name": "risala", "value": who, "url": pages}])
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        page.goto(pages + path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


@pytest.fixture(scope="module")
def console(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a console of its own, over a real engine; a module's ``PROGRAM`` serves
    another one."""
    with _served(getattr(request.module, "PROGRAM", "serve_console.py")) as url:
        yield url


@pytest.fixture
def look_at_console(browser: Browser, console: str) -> Iterator[Callable[..., Page]]:
    """Opens a page of it as an operator; nothing may have gone wrong in the end."""
    contexts, watches = [], []

    def open_one(path: str, language: str = "en", **options) -> Page:
        context = browser.new_context(locale=language, **options)
        contexts.append(context)
        watches.append(Watch(context, console))
        context.add_cookies([{"name": "risala-language", "value": language, "url": console}])
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        # Without the page that it leads to, which none of them looks at here.
        entered = context.request.get(f"{console}/operator/enter", max_redirects=0)
        assert entered.headers["location"].endswith("/operator/overview"), "nobody was let in"
        page.goto(console + path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


_words_of = cache(load_words)
"""A catalogue takes longer to read than many a page to be drawn."""


@pytest.fixture(params=["fr", "ar", "en"])
def speaker(request: pytest.FixtureRequest, look_at_console: Callable[..., Page]) -> Speaker:
    """An operator of each language at the console."""
    return Speaker(request.param, _words_of(Language(request.param)), look_at_console)
