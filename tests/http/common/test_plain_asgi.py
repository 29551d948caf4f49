"""Plain paths on a server of others, which tells by ``receive`` that a client has gone."""

import pytest
import trio

from risala.http.common.base import JsonApp
from risala.http.common.parse import read_body
from risala.http.common.plain import PlainAnswer

BODY = {"type": "http.request", "body": b"{}", "more_body": False}
PART = {"type": "http.request", "body": b"{", "more_body": True}
GONE = {"type": "http.disconnect"}


class Server:
    """Asks the app for ``POST /slow``, and says these things to it."""

    def __init__(self, *says):
        self.says = list(says)
        self.sent = []

    async def receive(self):
        await trio.lowlevel.checkpoint()
        if not self.says:
            await trio.sleep_forever()
        return self.says.pop(0)

    async def send(self, event):
        self.sent.append(event)

    async def ask(self, app, *headers):
        scope = {
            "type": "http", "method": "POST", "path": "/slow", "raw_path": b"/slow",
            "headers": [(b"content-type", b"application/json"), *headers], "client": None,
        }  # fmt: skip
        await app(scope, self.receive, self.send)


@pytest.fixture
def told():
    return []


@pytest.fixture
def app(told):
    app = JsonApp("test", body_bytes_max=100, body_timeout_s=60)

    async def slow(request):
        told.append("began")
        body = await read_body(request)
        told.append(body)
        if body == b"{}":
            await trio.sleep_forever()
        return PlainAnswer(body)

    app.route_plain("/slow", slow)
    return app


async def test_who_goes_away_after_its_body_ends_what_is_done_for_it(app, told, autojump_clock):
    server = Server(BODY, GONE)
    await server.ask(app)
    assert told == ["began", b"{}"]
    assert server.sent == []


async def test_who_goes_away_amid_its_body_ends_it_too(app, told, autojump_clock):
    server = Server(PART, GONE)
    await server.ask(app)
    assert told == ["began"]
    assert server.sent == []


async def test_a_body_that_does_not_end_is_408(app, told, autojump_clock):
    server = Server(PART)
    await server.ask(app)
    assert [event.get("status") for event in server.sent] == [408, None]


async def test_parts_are_one_body(app, told, autojump_clock):
    server = Server(PART, {**PART, "body": b""}, {**BODY, "body": b'"a":1}'})
    await server.ask(app)
    assert server.sent[1]["body"] == b'{"a":1}'


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\0"])
def test_no_field_of_an_answer_breaks_out_of_its_line(end):
    answer = PlainAnswer(b"", 204, [("x", f"a{end}set-cookie: b")])
    with pytest.raises(ValueError, match="end of line"):
        answer.lines("req_1")
