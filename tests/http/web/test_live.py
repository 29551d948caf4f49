"""Streams of pieces: drawn together, bounded, and ended with what they are for."""

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
import trio

from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import (
    Draining,
    Forbidden,
    Invalid,
    NotFound,
    Overloaded,
    RateLimited,
)
from risala.engine.model.following import Lagged, Told
from risala.http.web.live import (
    APART_S,
    BEAT_S,
    OVER,
    PIECE_END,
    LiveStreams,
    Pieces,
    piece_chunk,
)


@dataclass(eq=False)
class Followed:
    """A follower that is told things by the test."""

    open: int = 0
    ended: trio.Event = field(default_factory=trio.Event)

    def __post_init__(self) -> None:
        self.tell, self._told = trio.open_memory_channel[Told](1000)

    async def __anext__(self) -> Told:
        try:
            return await self._told.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None

    def skip(self) -> None:
        with suppress(trio.WouldBlock):
            while True:
                self._told.receive_nowait()

    def close(self) -> None:
        self.tell.close()

    @contextmanager
    def follow(self):
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1

    @contextmanager
    def watch(self):
        yield self.ended


@pytest.fixture
def followed() -> Followed:
    return Followed()


@pytest.fixture
def streams() -> LiveStreams:
    return LiveStreams(trio.Event())


def change(number: int) -> LifeEvent:
    return LifeEvent(number, f"sms_{number}", "org_1", "+22236123456", "sent", "", None, None)


class Drawer:
    def __init__(self) -> None:
        self.told: list = []

    async def draw(self, changes) -> str:
        self.told.append(changes if changes is None else [each.at for each in changes])
        return f'<b id="x" hx-swap-oob="true">{len(self.told)}</b>\n\n<i></i>'


def chunks(streams, followed, drawer, user="usr_1"):
    response = streams.response(user, followed.follow(), followed.watch(), drawer.draw)
    return response, response.response


async def test_changes_that_come_together_are_drawn_together(streams, followed, autojump_clock):
    drawer = Drawer()
    response, body = chunks(streams, followed, drawer)
    assert response.content_type == "text/event-stream"
    body = aiter(body)
    assert await anext(body) == b"retry: 2000\n\n"
    for number in range(3):
        followed.tell.send_nowait(change(number))
    assert await anext(body) == (b'data: <b id="x" hx-swap-oob="true">1</b>\ndata: <i></i>\n\n')
    assert drawer.told == [[0, 1, 2]]
    followed.tell.send_nowait(Lagged(7))
    await anext(body)
    assert drawer.told[-1] is None
    before = trio.current_time()
    assert await anext(body) == b": alive\n\n"
    assert trio.current_time() == pytest.approx(before + BEAT_S)
    await body.aclose()
    assert (streams.open, followed.open) == (0, 0)


async def test_a_stream_may_begin_with_what_is_now(streams, followed, autojump_clock):
    """What changed while the connection was lost is told by no event."""
    drawer = Drawer()
    response = streams.response(
        "usr_1", followed.follow(), followed.watch(), drawer.draw, at_once=True
    )
    body = aiter(response.response)
    assert await anext(body) == b"retry: 2000\n\n"
    assert b'data: <b id="x"' in await anext(body)
    followed.tell.send_nowait(change(1))
    await anext(body)
    assert drawer.told == [None, [1]]  # once, and then what changes
    await body.aclose()


async def test_a_flood_is_drawn_twice_a_second_and_not_told_one_by_one(
    streams, followed, autojump_clock
):
    drawer = Drawer()
    _, body = chunks(streams, followed, drawer)
    body = aiter(body)
    await anext(body)
    before = trio.current_time()
    for number in range(900):
        followed.tell.send_nowait(change(number))
    await anext(body)
    assert trio.current_time() == pytest.approx(before + APART_S)
    assert drawer.told == [None]
    followed.tell.send_nowait(change(901))
    await anext(body)
    assert drawer.told == [None, [901]], "what was drawn is not told again"
    assert trio.current_time() == pytest.approx(before + 2 * APART_S)
    await body.aclose()


async def test_what_nobody_is_told_of_is_drawn_with_each_beat(streams, followed, autojump_clock):
    drawer = Drawer()
    response = streams.response(
        "usr_1", followed.follow(), followed.watch(), drawer.draw, by_time=True
    )
    body = aiter(response.response)
    await anext(body)
    for number in (1, 2):
        assert f">{number}</b>".encode() in await anext(body)
    assert drawer.told == [None, None]
    await body.aclose()


async def test_how_often_is_its_pages_own(streams, followed, autojump_clock):
    response = streams.response(
        "usr_1", followed.follow(), followed.watch(), Drawer().draw, by_time=True, beat_s=3.0
    )
    body = aiter(response.response)
    await anext(body)
    before = trio.current_time()
    await anext(body)
    assert trio.current_time() == pytest.approx(before + 3.0)
    await body.aclose()


def test_a_piece_that_is_the_same_is_left_alone():
    """Marks of forms are others each time, and no reason to take a button from under a finger."""
    pieces = Pieces()

    def drawn(text, mark):
        hidden = f'<input type="hidden" name="form_token" value="{mark}">'
        return f"<p>a{hidden}</p>{PIECE_END}<p>{text}</p>{PIECE_END}"

    assert pieces.fresh(drawn("one", "x")).count("<p>") == 2
    assert pieces.fresh(drawn("one", "y")) == ""
    assert pieces.fresh(drawn("two", "z")) == "<p>two</p>"


async def test_it_ends_with_its_session(streams, followed, autojump_clock):
    _, body = chunks(streams, followed, Drawer())
    body = aiter(body)
    await anext(body)
    assert streams.open == 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)
        nursery.start_soon(end_after, followed, 0.5)
        assert await anext(body) == OVER
    assert [each async for each in body] == []
    assert (streams.open, followed.open) == (0, 0)


async def end_after(followed, seconds):
    await trio.sleep(seconds)
    followed.ended.set()


async def test_it_ends_with_the_service(followed, autojump_clock):
    shutdown = trio.Event()
    streams = LiveStreams(shutdown)
    _, body = chunks(streams, followed, Drawer())
    body = aiter(body)
    await anext(body)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.run)
        shutdown.set()
        assert [each async for each in body] == []  # no last word, or the page would not come back
    with pytest.raises(Draining):
        chunks(streams, followed, Drawer())


async def test_there_are_so_many_and_no_more(streams, followed):
    streams = streams.apart("few", streams_max=3, per_reader_max=2)
    bodies = []
    for user in ("usr_1", "usr_1", "usr_2"):
        _, body = chunks(streams, followed, Drawer(), user)
        bodies.append(aiter(body))
        await anext(bodies[-1])
    with pytest.raises(RateLimited):
        chunks(streams, followed, Drawer(), "usr_1")
    with pytest.raises(Overloaded):
        chunks(streams, followed, Drawer(), "usr_2")
    for body in bodies:
        await body.aclose()
    assert streams.open == 0


def test_a_piece_is_one_message_whatever_lines_it_has():
    assert piece_chunk("<p>\n\r\nx</p>\u2028") == b"data: <p>\ndata: x</p>\n\n"
    assert piece_chunk(" \n ") == b""


@pytest.mark.parametrize(
    "refusal",
    [NotFound("gone"), Forbidden("a viewer by now"), Invalid("after", "invalid_cursor", "No.")],
)
async def test_a_stream_of_what_is_gone_ends_and_is_no_fault(
    streams, followed, autojump_clock, refusal
):
    """Deleted meanwhile, not for the role any more, or its address was typed by hand."""

    async def draw(changes):
        raise refusal

    response = streams.response("usr_1", followed.follow(), followed.watch(), draw)
    followed.tell.send_nowait(change(1))
    assert [each async for each in response.response] == [b"retry: 2000\n\n", OVER]
    assert (streams.open, followed.open) == (0, 0)
