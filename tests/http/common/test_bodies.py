"""A body that the handler asks for comes whole, however quart keeps its parts."""

from __future__ import annotations

import pytest
from werkzeug.exceptions import RequestEntityTooLarge

from risala.http.common.base import PulledBody

PARTS = (b"12345", b"", b"67890")


@pytest.fixture
def kept():
    return []


def pulled(kind, largest):
    left = list(PARTS)

    async def pull():
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    body = kind(None, largest)
    body.pull = pull
    return body


@pytest.fixture
def queueing(kept):
    class Queueing(PulledBody):
        """As of quart 0.23, whichever is installed: its parts are put, and it counts nothing."""

        async def put(self, part: bytes) -> None:
            kept.append(part)

    return Queueing


async def test_it_comes_whole_and_part_by_part():
    assert await pulled(PulledBody, 10) == b"1234567890"
    assert [part async for part in pulled(PulledBody, 10)] == [b"12345", b"67890"]


async def test_parts_are_put_where_there_is_a_queue(queueing, kept):
    await pulled(queueing, 10)._fill(all_of_it=True)
    assert kept == [b"12345", b"67890"]


@pytest.mark.parametrize("kind", ["installed", "queueing"])
async def test_more_than_is_allowed_is_refused(kind, queueing):
    with pytest.raises(RequestEntityTooLarge):
        await pulled(queueing if kind == "queueing" else PulledBody, 9)
