"""The mails of a demo, for browsers on this machine."""

import json

import pytest
import trio

from risala.config.model import MailSection, Settings
from risala.http.dashboard.app import create_dashboard
from risala.http.web.entry import outbox


@pytest.fixture
def mails(tmp_path):
    return tmp_path / "outbox.jsonl"


@pytest.fixture
def visitor(gateway, browser_on, mails):
    mail = MailSection(mailer="outbox", outbox=mails)
    return browser_on(create_dashboard(gateway, Settings(mail=mail), shutdown=trio.Event()))


def write(mails, *texts):
    with mails.open("a") as file:
        for text in texts:
            mail = {"to": "<a@b.example>", "subject": text, "text": text}
            file.write(json.dumps({"at": "2026-11-21T08:41:16.123Z", **mail}) + "\n")


async def test_the_newest_comes_first_and_is_text(visitor, mails):
    assert "None yet." in (await visitor.get("/outbox")).text
    write(mails, "older one", "<script>second</script>")
    page = await visitor.get("/outbox")
    assert page.text.index("second") < page.text.index("older one")
    assert "<script>second" not in page.text


async def test_only_the_end_of_a_long_file_is_read(visitor, mails, monkeypatch):
    monkeypatch.setattr(outbox, "_TAIL_BYTES", 500)
    write(mails, *(f"mail {number}" for number in range(100)))
    page = await visitor.get("/outbox")
    assert "mail 99" in page.text
    assert "mail 90<" not in page.text


async def test_nobody_else_sees_them(visitor, stranger, mails):
    write(mails, "secret")
    page = await visitor.get("/outbox", x_forwarded_for="192.0.2.7")
    assert (page.status, "secret" in page.text) == (403, False)
    assert (await stranger.get("/outbox")).status == 404  # where mails are sent


async def test_who_waits_for_a_code_is_led_there(visitor):
    await visitor.submit(await visitor.get("/sign-in"), "/sign-in", {"email": "a@b.example"})
    assert 'href="/outbox"' in (await visitor.get("/sign-in")).text


async def test_the_first_page_of_a_demo_says_how_to_begin_one_elsewhere(visitor, stranger):
    page = (await visitor.get("/sign-in")).text
    assert "this demo are those of <bdi>Mauritania</bdi>." in page
    assert '<code dir="auto">risala serve --demo --country SN</code>' in page
    assert "--demo" not in (await stranger.get("/sign-in")).text  # where mails are sent
