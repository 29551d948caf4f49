"""Files that are written while they are read: no further than their reader, and ended with them."""

from contextlib import contextmanager

import pytest
import trio

from risala.engine.model.errors import Forbidden, Overloaded, RateLimited
from risala.http.web.files import downloads
from risala.http.web.files.downloads import Downloads, DownloadState, TablePart
from risala.http.web.files.spreadsheet import COMMA

READER = ("usr_1", "a")


class Book:
    """A table of parts, which says how far it was read."""

    def __init__(self, parts: int) -> None:
        self.parts = parts
        self.read = 0
        self.closed = False

    async def table(self):
        try:
            for number in range(self.parts):
                self.read += 1
                head = ("id", "n") if number == 0 else ()
                yield TablePart([[f"sms_{number}", number]], (number + 1) / self.parts, head)
        finally:
            self.closed = True


class Watch:
    def __init__(self) -> None:
        self.ended = trio.Event()

    @contextmanager
    def watch(self):
        yield self.ended


def begun(known: Downloads, book: Book, watch: Watch | None = None, reader=READER):
    response = known.response(reader, "x.csv", (watch or Watch()).watch(), book.table(), COMMA)
    return response, aiter(response.response)


async def test_a_file_has_a_name_its_mark_its_columns_and_its_rows():
    known = Downloads()
    response, body = begun(known, Book(2))
    assert response.headers["content-disposition"] == 'attachment; filename="x.csv"'
    whole = b"".join([each async for each in body]).decode()
    assert whole == '\ufeff"id","n"\r\n"sms_0","0"\r\n"sms_1","1"\r\n'
    found = known.expect(*READER)
    assert (found.rows, found.share, found.state) == (2, 1.0, DownloadState.DONE)


async def test_nothing_is_written_ahead_of_its_reader():
    known, book = Downloads(), Book(10**6)
    _, body = begun(known, book)
    for _ in range(3):
        await anext(body)
    assert book.read == 2
    await body.aclose()
    assert book.closed
    assert known.expect(*READER).state is DownloadState.BROKEN
    assert known.expect(*READER).rows == 1


async def test_it_ends_with_its_session_and_is_seen_to_be_cut():
    known, watch = Downloads(), Watch()
    _, body = begun(known, Book(5), watch)
    await anext(body)
    await anext(body)
    watch.ended.set()
    with pytest.raises(Forbidden):
        await anext(body)
    assert known.expect(*READER).state is DownloadState.BROKEN


async def test_what_fails_in_the_middle_breaks_it():
    async def table():
        yield TablePart([["x"]], 0.5)
        raise RuntimeError("no disk")

    known = Downloads()
    response = known.response(READER, "x.csv", Watch().watch(), table(), COMMA)
    with pytest.raises(RuntimeError):
        [each async for each in response.response]
    assert known.expect(*READER).state is DownloadState.BROKEN


async def test_there_are_so_many_and_no_more(monkeypatch):
    monkeypatch.setattr(downloads, "RUNNING_MAX", 3)
    known, bodies = Downloads(), []
    for number in range(2):
        _, body = begun(known, Book(5), reader=("usr_1", str(number)))
        await anext(body)
        bodies.append(body)
    with pytest.raises(RateLimited):
        begun(known, Book(5), reader=("usr_1", "x"))
    _, body = begun(known, Book(5), reader=("usr_2", "x"))
    bodies.append(body)
    await anext(body)
    with pytest.raises(Overloaded):
        begun(known, Book(5), reader=("usr_3", "x"))
    for body in bodies:
        await body.aclose()
    _, body = begun(known, Book(1), reader=("usr_1", "x"))
    assert [each async for each in body]


async def test_of_the_oldest_nothing_is_remembered(monkeypatch):
    monkeypatch.setattr(downloads, "KEPT_MAX", 2)
    known = Downloads()
    first = known.expect("usr_1", "1")
    for name in ("2", "3"):
        known.expect("usr_1", name)
    assert known.expect("usr_1", "1") is not first


async def test_whoever_looks_on_is_told_from_the_beginning_to_the_end():
    known = Downloads()
    waiting = known.expect(*READER)
    with known.follow(waiting) as follower:
        told = []

        async def look():
            try:
                while True:
                    await anext(follower)
                    told.append((waiting.rows, waiting.state))
            except StopAsyncIteration:
                pass

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            await trio.testing.wait_all_tasks_blocked()
            _, body = begun(known, Book(2))
            async for _ in body:
                await trio.testing.wait_all_tasks_blocked()
    assert told == [(0, "running"), (1, "running"), (2, "done")]


async def test_whoever_looks_on_may_stop():
    known = Downloads()
    with known.follow(known.expect(*READER)) as follower:
        follower.close()
        with pytest.raises(StopAsyncIteration):
            await anext(follower)


async def test_whoever_comes_after_the_end_is_told_of_it_once():
    """A short file may be complete before the page's stream is there."""
    known = Downloads()
    _, body = begun(known, Book(2))
    assert [each async for each in body]
    with known.follow(known.expect(*READER)) as follower:
        await anext(follower)
        with pytest.raises(StopAsyncIteration):
            await anext(follower)
