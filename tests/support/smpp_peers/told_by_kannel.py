"""A server of the customer's that Kannel, or who takes its place, tells of receipts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit


class DlrServer(ThreadingHTTPServer):
    """Takes what a dlr-url is called with."""

    def __init__(self) -> None:
        self._asked: list[tuple[str, dict[str, str]]] = []
        self.targets: list[str] = []
        """Paths and queries as they came."""
        super().__init__(("127.0.0.1", 0), _Hearing)

    def hear(self, path: str, query: dict[str, str]) -> None:
        self._asked.append((path, query))

    def of(self, path: str = "/dlr") -> list[dict[str, str]]:
        """The queries of all calls of a path, in their order."""
        return [query for found, query in list(self._asked) if found == path]


class _Hearing(BaseHTTPRequestHandler):
    server: DlrServer

    def do_GET(self) -> None:
        self.server.targets.append(self.path)
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.server.hear(parts.path, query)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- as its base has it
        pass


@contextmanager
def dlr_server() -> Iterator[DlrServer]:
    server = DlrServer()
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
