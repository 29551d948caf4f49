"""The dashboard's pages among a million messages, as multiples of the bare endpoint's time.

One connection asks, so that a page's time is what its reader waits for; a session is made by a
one-time link of the command line, as for somebody who gets no mail.
"""

from __future__ import annotations

import http.client
import itertools
import re
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlencode, urlsplit

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.scale.growth import old_file
from benchmarks.stand import TO, Data, Stand
from benchmarks.trees import Tree

_READER = "reader@bench.example"
_GOAL = Goal(5, "bare time", most=True)
_CPU_GOAL = Goal(5, "bare CPU", most=True)
_MARK = re.compile(r'name="form_token" value="([^"]+)"')
_ID = re.compile(r"/messages/(sms_[0-9A-Z~]+)")
_CHUNK = 1 << 16
_EVERY_S = 0.6
"""Between two searches: a hundred a minute."""
PAGES = ("overview", "message list", "message detail", "search")
_LIST = "message list"
SEARCHES = ("digits", "a word", "no word", "an id's end", "a carrier's word")
"""What the search over everything is asked for."""
_SEARCHES = 4
"""Of each in a round: somebody may search 120 times a minute."""


def _name(page: str, messages: int) -> str:
    return f"{page} among {messages:,}"


def _search_name(words: str, messages: int) -> str:
    return f"search everything by {words} among {messages:,}"


def _cpu_name(page: str, messages: int) -> str:
    return f"{_name(page, messages)}, CPU"


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


def reader_of(data: Data) -> tuple[str, str]:
    """Where the pages of the only organization are, and the cookie of somebody who may read
    them."""
    organization = data.risala("org", "list")["organizations"][0]["id"]
    return f"/app/{organization}", signed_in(data, organization)


@contextmanager
def open_pages(data: Data, home: str, cookie: str) -> Iterator[None]:
    """The overview and the list as they stand open before somebody, and draw themselves anew."""
    with ExitStack() as stack:
        for page in ("overview/live", "messages/live?after=0"):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", data.port)))
            head = f"GET {home}/{page} HTTP/1.1\r\nhost: 127.0.0.1:{data.port}\r\n"
            sock.sendall(f"{head}cookie: {cookie}\r\n\r\n".encode())
            if b" 200 " not in (first := sock.recv(_CHUNK)):
                raise SystemExit(f"{page}: {first[:300]!r}")
            reading = threading.Thread(target=_read_on, args=(sock,))
            reading.start()
            stack.callback(reading.join)
            stack.callback(sock.shutdown, socket.SHUT_RDWR)
        yield


def _read_on(sock: socket.socket) -> None:
    """Read until somebody closes it."""
    while sock.recv(_CHUNK):
        pass


def _open(stand: Stand, tree: Tree, stack: ExitStack, messages: int) -> Round:
    data = old_file(stack, tree, messages, lambda _: None)
    data.configure()
    service = data.serve(stack)
    home, cookie = reader_of(data)
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

    id_end = message.group(1)[-8:]
    sought = dict(
        zip(SEARCHES, (TO[-4:], "ordinary", "nobodysaysthis", id_end, "UNDELIV"), strict=True)
    )

    def measure() -> dict[str, float]:
        found = {
            _search_name(words, messages): _search_us(data, home, cookie, text)
            for words, text in sought.items()
        }
        for page, path in paths.items():
            before_s = processes.cpu_s(service.pid)
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
            cpu_s = processes.cpu_s(service.pid) - before_s
            found[_name(page, messages)] = 1e6 / told["per_s"]
            found[_cpu_name(page, messages)] = _each_us(cpu_s, told)
        return found

    return measure


def _search_us(data: Data, home: str, cookie: str, text: str) -> float:
    """What its reader waits for, of a few the middle one."""
    took = []
    for _ in range(_SEARCHES):
        began = time.perf_counter()
        _told(data, f"{home}/search/found?{urlencode({'q': text})}", cookie)
        took.append(time.perf_counter() - began)
    return 1e6 * statistics.median(took)


@contextmanager
def somebody_searching(data: Data, home: str, cookie: str) -> Iterator[None]:
    """Somebody searches everything, as often as they may."""
    ended = threading.Event()

    def search() -> None:
        for number in itertools.count():
            _told(data, f"{home}/search/found?{urlencode({'q': f'nobody{number}'})}", cookie)
            if ended.wait(_EVERY_S):
                return

    searching = threading.Thread(target=search)
    searching.start()
    try:
        yield
    finally:
        ended.set()
        searching.join()


def _each_us(cpu_s: float, told: dict) -> float:
    """Processor time of one request."""
    return float(1e6 * cpu_s / max(told["per_s"] * told["elapsed_s"], 1))


def _bare(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
    port, pid = stand.bare_process()

    def measure() -> dict[str, float]:
        ask = {"flow": "same", "method": "POST", "path": "/api/sms", "headers": {}}
        before_s = processes.cpu_s(pid)
        told = processes.load(
            **ask,
            bodies=['{"to": "+22236123456"}'],
            port=port,
            connections=1,
            seconds=stand.seconds,
        )
        cpu_s = processes.cpu_s(pid) - before_s
        return {"bare time": 1e6 / told["per_s"], "bare CPU": _each_us(cpu_s, told)}

    return measure


def scenario(messages: int) -> Scenario:
    """All pages at one size; the file is made when it is opened."""
    times = tuple(Line(_name(page, messages), "µs", (_GOAL,)) for page in PAGES)
    # Beside other programs a longer answer is interrupted more often: the time of the processor is
    # what it takes by itself.
    cpu = tuple(Line(_cpu_name(page, messages), "µs", (_CPU_GOAL,)) for page in PAGES)
    goal = Goal(5, _name(_LIST, messages), most=True)
    searches = tuple(Line(_search_name(each, messages), "µs", (goal,)) for each in SEARCHES)
    return Scenario("pages", times + cpu + searches, lambda s, t, k: _open(s, t, k, messages))


SCENARIOS = (
    Scenario("bare time", (Line("bare time", "µs"), Line("bare CPU", "µs")), _bare, of_tree=False),
    scenario(1_000_000),
)
