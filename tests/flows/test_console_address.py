"""The console at the main address, and at one of its own."""

from __future__ import annotations

import httpx2
import pytest

from patience import HANG_S

pytestmark = pytest.mark.slow


def in_a_browser(url: str) -> httpx2.Response:
    return httpx2.get(url, headers={"accept": "text/html"}, follow_redirects=True, timeout=HANG_S)


def test_it_is_at_the_main_address(premises):
    service = premises.service()
    service.start()
    for path in ("/operator", "/operator/", "/operator/overview"):
        page = in_a_browser(service.url + path)
        assert (page.status_code, page.url.path) == (200, "/operator/sign-in"), path
    assert "/operator/sign-in" not in in_a_browser(service.url + "/app").text


def test_it_is_at_an_address_of_its_own_and_nowhere_else(premises):
    settings = premises.path / "risala.toml"
    settings.write_text('[http]\nconsole_bind = "127.0.0.1:0"\n', encoding="utf-8")
    service = premises.service("--config", str(settings))
    service.start()
    line = service.process.wait_line(lambda line: line.startswith("The console is at "))
    console = line.removeprefix("The console is at ").removesuffix("/operator/")
    for path in ("", "/", "/operator/overview"):
        page = in_a_browser(console + path)
        assert (page.status_code, page.url.path) == (200, "/operator/sign-in"), path
    for path in ("/app", "/sign-in", "/docs"):
        assert in_a_browser(console + path).status_code == 404, path
    assert httpx2.post(f"{console}/api/sms", json={}, timeout=HANG_S).status_code == 404
    for path in ("/operator", "/operator/", "/operator/overview", "/operator/sign-in"):
        page = in_a_browser(service.url + path)
        assert page.status_code == 404, path
        assert page.headers["content-type"].startswith("text/html")
    made = service.command("user", "create", "amina@example.com", "--operator")
    assert made.returncode == 0, made.stderr
    link = service.command("user", "sign-in", "amina@example.com", "--console")
    assert f"{console}/operator/sign-in/link/" in link.stdout
    assert service.stop() == 0
