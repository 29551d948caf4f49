"""Forms with a file: part by part, only of our own pages, and never much of it in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
import trio
from werkzeug.exceptions import RequestEntityTooLarge, RequestTimeout

from risala.engine.model.errors import Invalid
from risala.http.common.problems import Problem
from risala.http.web.files import uploading
from risala.http.web.files.uploading import read_multipart

BOUNDARY = "----x"


def field(name: str, value: str) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + value.encode() + b"\r\n"


def file(name: str, content: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    return head.encode() + b"Content-Type: text/csv\r\n\r\n" + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


class Store:
    """Keeps the bytes that come; refuses a file of more than ``most``."""

    def __init__(self, most: int = 10**9) -> None:
        self.most = most
        self.files: list[tuple[str, bytes]] = []
        self.largest = 0

    async def __call__(self, chunks: AsyncIterator[bytes], name: str) -> str:
        content = b""
        async for chunk in chunks:
            self.largest = max(self.largest, len(chunk))
            content += chunk
            if len(content) > self.most:
                raise Invalid("file", "file_too_large", "The file is too large.")
        self.files.append((name, content))
        return f"upl_{len(self.files)}"


class Chunks:
    """A body that comes in pieces; after the last one it stalls, or ends."""

    def __init__(self, body: bytes, size: int, *, stalls: bool = False) -> None:
        self._pieces = [body[begin : begin + size] for begin in range(0, len(body), size)]
        self._stalls = stalls

    def __aiter__(self) -> Chunks:
        return self

    async def __anext__(self) -> bytes:
        if self._pieces:
            return self._pieces.pop(0)
        if self._stalls:
            await trio.sleep_forever()
        raise StopAsyncIteration


async def read(body: bytes, store: Store, size: int = 1000, *, ours: bool = True, **told):
    request = SimpleNamespace(
        body=Chunks(body, size, stalls=told.get("stalls", False)),
        mimetype_params={"boundary": told.get("boundary", BOUNDARY)},
    )
    return await read_multipart(
        request, is_ours=lambda form: ours and form.text("mark") == "m", store=store, patience_s=15
    )


@pytest.mark.parametrize("size", [1, 7, 64 * 1024, 10**6])
async def test_fields_and_a_file(size):
    content = b"number;name\r\n+22236123456;\xd9\x85\xd8\xad\xd9\x85\xd8\xaf\r\n--" * 50
    store = Store()
    body = field("mark", "m") + field("to", " a\r\nb ") + file("school.csv", content)
    form = await read(body + field("body", "سلام") + END, store, size)
    assert store.files == [("school.csv", content)]
    assert (form.file.upload_id, form.file.name) == ("upl_1", "school.csv")
    assert (form.text("to"), form.text("body")) == ("a\nb", "سلام")
    assert form.file_refusal is None


async def test_no_file_was_chosen():
    store = Store()
    form = await read(field("mark", "m") + file("", b"") + field("to", "x") + END, store)
    assert (form.file, form.text("to"), store.files) == (None, "x", [])


@pytest.mark.parametrize(("mark", "ours"), [("m", False), ("wrong", True)])
async def test_a_file_of_another_site_is_not_stored(mark, ours):
    store = Store()
    body = field("mark", mark) + field("to", "x") + file("a.csv", b"1") + field("body", "y") + END
    form = await read(body, store, ours=ours)
    assert (form.text("to"), form.text("body"), form.file, store.files) == ("x", "", None, [])


async def test_a_mark_behind_the_file_is_too_late():
    store = Store()
    form = await read(file("a.csv", b"1") + field("mark", "m") + END, store)
    assert (form.file, store.files) == (None, [])


async def test_a_refused_file_leaves_the_other_fields():
    store = Store(most=1000)
    body = field("mark", "m") + file("a.csv", b"1" * 5000) + field("body", "y") + END
    form = await read(body, store)
    assert form.file_refusal.faults[0].code == "file_too_large"
    assert form.text("body") == "y"
    assert store.files == []


async def test_only_one_file_is_stored():
    store = Store()
    body = field("mark", "m") + file("a.csv", b"1") + file("b.csv", b"2") + END
    form = await read(body, store)
    assert form.file.name == "a.csv"
    assert len(store.files) == 1


async def test_memory_holds_a_chunk():
    store = Store()
    body = field("mark", "m") + file("a.csv", b"0123456789\r\n" * 100_000) + END
    await read(body, store, size=10**6)
    assert len(store.files[0][1]) == 1_200_000
    assert store.largest <= 80 * 1024


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x" * 100_000,
        field("mark", "m"),
        field("mark", "m") + file("a.csv", b"1")[:-1],
        f"--{BOUNDARY}\r\nContent-Type: text/plain\r\n\r\n".encode() + END,
        field("mark", "m").replace(b"m\r\n", b"\xff\r\n") + END,
    ],
)
async def test_what_is_no_form(body):
    with pytest.raises((Problem, RequestEntityTooLarge)):
        await read(body, Store())


@pytest.mark.parametrize("boundary", ["", "x" * 71, "é"])
async def test_what_is_no_boundary(boundary):
    with pytest.raises(Problem):
        await read(END, Store(), boundary=boundary)


async def test_too_much(monkeypatch):
    many = b"".join(field(f"f{number}", "x") for number in range(uploading.FIELDS_MAX + 1))
    with pytest.raises(RequestEntityTooLarge):
        await read(many + END, Store())
    monkeypatch.setattr(uploading, "FORM_BYTES_MAX", 1000)
    with pytest.raises(RequestEntityTooLarge):
        await read(field("to", "x" * 1001) + END, Store())
    monkeypatch.setattr(uploading, "BODY_BYTES_MAX", 3000)
    with pytest.raises(RequestEntityTooLarge):
        await read(field("mark", "m") + file("a", b"x" * 3000) + END, Store())


async def test_a_body_that_stalls(autojump_clock):
    with pytest.raises(RequestTimeout):
        await read(field("mark", "m"), Store(), stalls=True)
