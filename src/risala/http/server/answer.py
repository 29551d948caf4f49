"""Answers as bytes: their heads, and those that are made below the app."""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import formatdate
from typing import Final

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource
from risala.http.common.origins import cors_headers
from risala.http.common.problems import Problem
from risala.http.server.face import ServerFace

Headers = list[tuple[bytes, bytes]]
CONTINUE: Final = b"HTTP/1.1 100 \r\n\r\n"
CLOSE: Final = (b"connection", b"close")
_CLOCK: Final = SystemClock()
_IDS: Final = IdSource(_CLOCK)


class DateLine:
    """The header ``date``, made once a second."""

    def __init__(self) -> None:
        self._second = -1
        self._line = b""

    def now(self) -> bytes:
        second = _CLOCK.now_ms() // 1000
        if second != self._second:
            self._second = second
            self._line = b"date: %s\r\n" % formatdate(second, usegmt=True).encode()
        return self._line


_DATE: Final = DateLine()


def head(status: int, headers: Iterable[tuple[bytes, bytes]], *more: tuple[bytes, bytes]) -> bytes:
    """The first line and the header of an answer.

    Raises:
        ValueError: a header would break out of its line.
    """
    lines = [b"HTTP/1.1 %d " % status]
    lines += [b"%s: %s" % pair for pair in (*headers, *more)]
    joined = b"\r\n".join(lines)
    ends = len(lines) - 1
    if joined.count(b"\r") != ends or joined.count(b"\n") != ends or b"\0" in joined:
        raise ValueError("a header of the answer has an end of line in it")
    return b"%s\r\n%s\r\n" % (joined, _DATE.now())


def refusal(
    problem: Problem,
    face: ServerFace,
    path: str | None,
    origin: str | None,
    *,
    bodiless: bool = False,
) -> bytes:
    """An answer that is made below the app, and ends the connection.

    ``path`` and ``origin`` are the request's; ``path`` is None where it is not known.
    """
    face.tally.answers[problem.status] += 1
    request_id = _IDS.new("req")
    body = problem.body(request_id)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
        CLOSE,
    ]
    more = [*problem.headers.items(), *cors_headers(face.open_paths, path, origin)]
    headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in more]
    return head(problem.status, headers) + (b"" if bodiless else body)
