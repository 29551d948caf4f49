"""Answers as bytes: the heads of all of them, and whole answers of the server itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from risala.engine.model.clock import SystemClock
from risala.http.common.origins import cors_headers
from risala.http.common.plain import PlainAnswer, PlainRoutes, problem_answer
from risala.http.common.problems import Problem
from risala.http.common.request import new_request_id

Headers = list[tuple[bytes, bytes]]
CONTINUE: Final = b"HTTP/1.1 100 \r\n\r\n"
CLOSE: Final = (b"connection", b"close")
_CLOCK: Final = SystemClock()
_LAST: Final = b"connection: close\r\n"
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


class DateLine:
    """The header ``date``, made once a second."""

    def __init__(self) -> None:
        self._second = -1
        self._line = b""

    def now(self) -> bytes:
        second = _CLOCK.now_ms() // 1000
        if second != self._second:
            self._second = second
            self._line = b"date: %s\r\n" % http_date(second).encode()
        return self._line


def http_date(second: int) -> str:
    """A second of the UTC epoch as HTTP writes it, whatever the locale (RFC 9110, 5.6.7).

    ``email.utils`` would write it too, and brings all that it takes to read such a time.
    """
    at = time.gmtime(second)
    day, month = _DAYS[at.tm_wday], _MONTHS[at.tm_mon - 1]
    return f"{day}, {at.tm_mday:02} {month} {at.tm_year:04} {time.strftime('%H:%M:%S', at)} GMT"


_DATE: Final = DateLine()


def head(status: int, headers: Iterable[tuple[bytes, bytes]], *more: tuple[bytes, bytes]) -> bytes:
    """The first line and the header of an answer.

    Raises:
        ValueError: a header has characters that would end its line.
    """
    lines = [b"HTTP/1.1 %d " % status]
    lines += [b"%s: %s" % pair for pair in (*headers, *more)]
    joined = b"\r\n".join(lines)
    ends = len(lines) - 1
    if joined.count(b"\r") != ends or joined.count(b"\n") != ends or b"\0" in joined:
        raise ValueError("a header of the answer has an end of line in it")
    return b"%s\r\n%s\r\n" % (joined, _DATE.now())


def whole(answer: PlainAnswer, request_id: str, *, bodiless: bool, keeps: bool) -> bytes:
    """A whole answer: head and body.

    Args:
        bodiless: leave the body out, as for HEAD.
        keeps: the connection goes on; False: the answer says that it ends.
    """
    return b"HTTP/1.1 %d \r\n%s%s%s\r\n%s" % (
        answer.status,
        answer.lines(request_id),
        b"" if keeps else _LAST,
        _DATE.now(),
        b"" if bodiless else answer.body,
    )


def refusal(
    problem: Problem,
    routes: PlainRoutes,
    path: str | None,
    origin: str | None,
    *,
    bodiless: bool = False,
) -> bytes:
    """An answer of the server itself, which ends the connection.

    Args:
        path: the request's; None where it is not known.
        origin: the request's ``Origin`` header.
        bodiless: leave the body out, as for HEAD.
    """
    routes.tally.answers[problem.status] += 1
    request_id = new_request_id()
    answer = problem_answer(problem, request_id)
    answer.more = (*answer.more, *cors_headers(routes.open_paths, path, origin))
    return whole(answer, request_id, bodiless=bodiless, keeps=False)
