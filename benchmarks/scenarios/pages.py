"""The dashboard's pages among a million messages, as multiples of the bare endpoint's time.

One connection asks, so that a page's time is what its reader waits for; a session is made by a
one-time link of the command line, as for somebody who gets no mail.
"""

from __future__ import annotations

import http.client
import re
from contextlib import ExitStack, closing
from urllib.parse import urlencode, urlsplit

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.scale.growth import old_file
from benchmarks.stand import TO, Data, Stand
from benchmarks.trees import Tree

_READER = "reader@bench.example"
_GOAL = Goal(5, "bare time", most=True)
_MARK = re.compile(r'name="form_token" value="([^"]+)"')
_ID = re.compile(r"/messages/(sms_[0-9A-Z~]+)")
PAGES = ("overview", "message list", "message detail", "search")


def _name(page: str, messages: int) -> str:
    return f"{page} among {messages:,}"


def _told(
    data: Data, path: str, cookie: str, form: dict[str, str] | None = None
) -> tuple[str, str]:
    """One page, and the cookies that it sets."""
    headers = {"cookie": cookie, "accept-language": "en"}
    if form is not None:
        headers["content-type"] = "application/x-www-form-urlencoded"
    connection = http.client.HTTPConnection("127.0.0.1", data.port, timeout=60)
    with closing(connection):
        method = "GET" if form is None else "POST"
        connection.request(method, path, urlencode(form or {}), headers)
        response = connection.getresponse()
        text = response.read().decode()
    if response.status >= 400:
        raise SystemExit(f"{path}: {response.status} {text[:300]!r}")
    cookies = response.headers.get_all("set-cookie", [])
    return text, "; ".join(each.partition(";")[0] for each in cookies)


def signed_in(data: Data, organization: str) -> str:
    """The cookie of somebody who may read the organization's pages."""
    data.risala("member", "add", organization, _READER, "--role", "owner")
    link = urlsplit(data.risala("user", "sign-in", _READER)["url"]).path
    page, door = _told(data, link, "")
    mark = _MARK.search(page)
    if mark is None:
        raise SystemExit(f"{link} has no form")
    return _told(data, link, door, {"form_token": mark.group(1)})[1]


def _open(stand: Stand, tree: Tree, stack: ExitStack, messages: int) -> Round:
    data = old_file(stack, tree, messages, lambda _: None)
    data.configure()
    data.serve(stack)
    organization = data.risala("org", "list")["organizations"][0]["id"]
    cookie = signed_in(data, organization)
    home = f"/app/{organization}"
    message = _ID.search(_told(data, f"{home}/messages", cookie)[0])
    assert message is not None, "no message is listed"
    paths = dict(
        zip(
            PAGES,
            (
                f"{home}/overview",
                f"{home}/messages",
                f"{home}/messages/{message.group(1)}",
                f"{home}/messages?{urlencode({'q': TO})}",
            ),
            strict=True,
        )
    )

    def measure() -> dict[str, float]:
        found = {}
        for page, path in paths.items():
            told = processes.load(
                flow="same",
                method="GET",
                path=path,
                # Over plain http pages are for whoever looks at this very machine.
                headers={"host": f"127.0.0.1:{data.port}", "cookie": cookie},
                port=data.port,
                connections=1,
                seconds=stand.seconds,
            )
            found[_name(page, messages)] = 1e6 / told["per_s"]
        return found

    return measure


def _bare(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
    port = stand.bare()

    def measure() -> dict[str, float]:
        ask = {"flow": "same", "method": "POST", "path": "/api/sms", "headers": {}}
        told = processes.load(
            **ask,
            bodies=['{"to": "+22236123456"}'],
            port=port,
            connections=1,
            seconds=stand.seconds,
        )
        return {"bare time": 1e6 / told["per_s"]}

    return measure


def scenario(messages: int) -> Scenario:
    """All pages at one size; the file is made when it is opened."""
    lines = tuple(Line(_name(page, messages), "µs", (_GOAL,)) for page in PAGES)
    return Scenario("pages", lines, lambda s, t, k: _open(s, t, k, messages))


SCENARIOS = (
    Scenario("bare time", (Line("bare time", "µs"),), _bare, of_tree=False),
    scenario(1_000_000),
)
