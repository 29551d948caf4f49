"""A newcomer's way in a country of their own: nothing on it speaks of the default one."""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest

from doc_blocks import ROOT
from patience import HANG_S
from processes import run

pytestmark = pytest.mark.slow

ELSEWHERE = re.compile(
    r"mauritan|موريتان|nouakchott|نواكشوط|\bMRU\b|(?<![\w.+-])\+?222(?:[ \d]{8,}|\b)(?!\.\d)", re.I
)
HOME = {"FR": ("06 12 34 56 78", "+33612345678"), "KE": ("0712 123456", "+254712123456")}
UNSEEN = re.compile(r"<(script|style|svg)\b.*?</\1>|\b[a-z]{3}_[0-9A-Z]+", re.S)
"""Of a page, what nobody reads; and ids, which may have any digits."""
AWAY = re.compile(r"/(?:static|assets|handbook)/|sign-out|\?")
"""What is no page, or ends the visit. The handbook's examples are of one country, and say so."""
LANGUAGES = ("en", "fr", "ar")
READ_FIRST = ("README*.md", "docs/**/tutorials/first-message.md", "docs/**/tutorials/dashboard.md")


def strange(text: str) -> list[str]:
    """What is said of the other country, with a few words around it."""
    return [text[max(0, m.start() - 60) : m.end() + 20] for m in ELSEWHERE.finditer(text)]


class Visitor:
    """A browser without script, of one language."""

    def __init__(self, base: str, language: str) -> None:
        asks = {"accept-language": language, "origin": base}
        self.base = base
        self.client = httpx2.Client(
            base_url=base, headers=asks, follow_redirects=True, timeout=HANG_S
        )

    def submit(self, page: httpx2.Response, name: str, value: str) -> httpx2.Response:
        """Fill the form that has this field."""
        forms = re.findall(r"<form\b.*?</form>", page.text, re.S)
        form = next(each for each in forms if f'name="{name}"' in each)
        hidden = re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form)
        values = {key: html.unescape(each) for key, each in hidden}
        action = re.search(r'<form[^>]*action="([^"]*)"', form)
        return self.client.post(
            urljoin(str(page.url), html.unescape(action[1]) if action else ""),
            data=values | {name: value},
        )

    def read_all(self, todo: list[str]) -> dict[str, str]:
        """Every page that links lead to from these, by its address."""
        read: dict[str, str] = {}
        while todo:
            address = todo.pop()
            if address in read:
                continue
            page = self.client.get(address)
            assert page.status_code == 200, address
            read[address] = UNSEEN.sub(" ", page.text)
            if "html" not in page.headers["content-type"]:
                continue
            links = (html.unescape(each) for each in re.findall(r'href="([^"#]+)"', page.text))
            whole = (urljoin(str(page.url), each) for each in links)
            todo += [w for w in whole if w.startswith(self.base) and not AWAY.search(w)]
        return read


@pytest.mark.parametrize(("country", "language"), [("FR", "en"), ("KE", "fr"), ("KE", "ar")])
def test_no_page_of_the_way_speaks_of_another_country(premises, until, country, language):
    service = premises.service("--demo", "--country", country)
    service.start()
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    facts = json.loads((service.data / "demo.json").read_text("utf-8"))
    visitor = Visitor(facts["base_url"], language)
    page = visitor.submit(visitor.client.get("/sign-in"), "email", facts["owner_email"])
    mails = Path(facts["outbox"])
    mail = json.loads(until(lambda: mails.read_text("utf-8"), "a mail").splitlines()[-1])
    page = visitor.submit(page, "code", re.search(r"\b\d{6}\b", mail["text"])[0])
    base = facts["base_url"]
    read = visitor.read_all(
        [str(page.url), *(f"{base}/{p}" for p in ("", "sign-up", "openapi.json"))]
    )
    visitor.client.close()
    assert len(read) > 50
    found = {address: strange(text) for address, text in read.items() if strange(text)}
    assert found == {}

    local, number = HOME[country]
    for typed in (local, number):
        sent = service.command("send", typed, "Hello")
        assert (sent.returncode, number in sent.stdout) == (0, True), sent.stderr
    said = "\n".join([sent.stdout, mail["text"], *service.process.lines])
    assert strange(said) == []


@pytest.mark.parametrize("country", HOME)
def test_no_word_of_a_first_run_speaks_of_another_country(tmp_path, country):
    local, number = HOME[country]
    (tmp_path / "answers.toml").write_text(
        f'country = "{country}"\npayer = "self"\ncarrier = "trial"\noperator = "me@example.com"\n'
        f'phone = "{local}"\nport = "0"\n'
    )
    command = [sys.executable, "-m", "risala", "init", "--yes", "--file", "answers.toml"]
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert number in done.stdout + done.stderr
    settings = (tmp_path / "risala.toml").read_text("utf-8")
    assert strange(done.stdout + done.stderr + settings) == []


def test_no_page_that_is_read_first_speaks_of_another_country():
    pages = [page for pattern in READ_FIRST for page in ROOT.glob(pattern)]
    assert len(pages) == 9
    assert {
        str(p): strange(p.read_text("utf-8")) for p in pages if strange(p.read_text("utf-8"))
    } == {}
