"""HTTP as it comes from the socket: our parser cut anywhere, and beside h11."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

import h11

from proofs.fuzz.target import FuzzTarget, Script, cuts, refusal_of, work_within
from risala.http.common.client_address import ClientAddresses, bucket_of, parse_address
from risala.http.common.request import is_plain_path, origin_form
from risala.http.server.parser import Request, RequestParser

_Told = tuple[bytes, bytes, str, tuple[tuple[bytes, bytes], ...], bytes, bool, bool, int | None]


def _told(request: Request) -> _Told:
    fault = None if request.fault is None else request.fault.status
    return (
        *(request.method, request.target, request.version, tuple(request.headers)),
        *(b"".join(request.parts), request.complete, request.keep, fault),
    )


def _parsed(parts: list[bytes]) -> tuple[_Watched, list[_Told]]:
    parser = _Watched()
    for part in parts:
        parser.feed(part)
    return parser, [_told(request) for request in parser.requests]


class _Watched(RequestParser):
    """Knows whether a request had a method of which llhttp knows nothing."""

    has_odd_method = False

    def feed(self, data: bytes) -> None:
        # Such a request is fed once more, as a POST.
        self.has_odd_method = self.has_odd_method or self._method is not None
        super().feed(data)


def _is_same(one: _Watched, other: _Watched) -> bool:
    """Whether two parsers have seen the same requests.

    Of a refused request only that it was refused counts: how much of it was seen before depends on
    how it came, and nothing is done with it. And a method of which llhttp knows nothing is answered
    405 by its path where it came in one piece, and 400 where it did not: refused either way.
    """
    if one.has_odd_method or other.has_odd_method:
        return True
    ours, theirs = (
        [_told(each) if each.fault is None else None for each in parser.requests]
        for parser in (one, other)
    )
    return ours == theirs and one.in_head == other.in_head


def _heads(octets: bytes) -> None:
    with work_within(3000 + 12 * len(octets)):
        parser, told = _parsed([octets])
    for each in cuts(octets):
        assert _is_same(parser, _parsed(each)[0])
    for at, request in enumerate(parser.requests):
        assert request.fault is None or at == len(parser.requests) - 1 or request.complete
        if request.fault is None:
            assert request.target[:1] in (b"/", b"*")
            assert not any(octet in value for _, value in request.headers for octet in b"\0\r\n")
            assert request.length is None or request.received <= request.length
    # A request after one that could not be read would be a smuggled one.
    before = len(parser.requests)
    if any(each[7] is not None for each in told) and parser._over:
        parser.feed(b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        assert len(parser.requests) == before
    _beside_h11(octets, told)


_UPGRADES: Final = frozenset({b"upgrade", b"http2-settings"})


def _beside_h11(octets: bytes, told: list[_Told]) -> None:
    """What both take they see alike: the same requests, each with the same end."""
    for ours, theirs in zip(told, _by_h11(octets), strict=False):
        method, target, _, headers, body, complete, keep, fault = ours
        if fault is not None or not complete:
            return
        assert (method, body) == (theirs[0], theirs[3])
        if theirs[1][:1] == b"/":
            assert target == theirs[1]
            wanted = [pair for pair in theirs[2] if pair[0] not in _UPGRADES]
            assert [pair for pair in headers if pair[0] not in _UPGRADES] == wanted
        if not keep:
            return


def _by_h11(octets: bytes) -> Iterator[tuple[bytes, bytes, list[tuple[bytes, bytes]], bytes]]:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(octets)
    while True:
        try:
            asked = connection.next_event()
            if not isinstance(asked, h11.Request):
                return
            body = b""
            while isinstance(part := connection.next_event(), h11.Data):
                body += bytes(part.data)
            if not isinstance(part, h11.EndOfMessage):
                return
            yield bytes(asked.method), bytes(asked.target), [*asked.headers], body
            if asked.method == b"CONNECT":
                return
            answer = h11.Response(status_code=200, headers=[("content-length", "0")])
            connection.send(answer)
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()
        except h11.ProtocolError:
            return


def _head_seeds() -> Iterator[bytes]:
    good = b"POST /api/sms HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
    chunks = (
        b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2;e=1\r\n{}\r\n0\r\nTrailer: a\r\n\r\n"
    )
    yield good + b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"
    yield chunks + good
    yield good.replace(b"POST", b"PURGE")
    yield good.replace(b"Host: a", b"Host: a\r\nUpgrade: h2c\r\nConnection: upgrade") + good
    yield good.replace(b"Host: a", b"Host: a\r\nConnection: close") + good
    yield good.replace(b"HTTP/1.1", b"HTTP/1.0")
    yield b"GET http://b.example:80/x?y HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"
    yield chunks.replace(b"Host", b"Content-Length: 4\r\nHost")
    yield good.replace(b"Content-Length: 2", b"Content-Length: 2\r\nContent-Length: 3")
    yield good.replace(b"Host: a", b"Host: a\r\n folded")
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield good.replace(b"Host: a", b"Host : a")
    yield good.replace(b"\r\n", b"\n")


_HEAD_WORDS: Final = (
    b"\r\n", b"\r\n\r\n", b"GET / HTTP/1.1\r\n", b"Host: a\r\n", b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n", b"Upgrade: websocket\r\n", b"HTTP/1.0",
    b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"Expect: 100-continue\r\n",
    b"1;x\r\n", b"CONNECT", b"HEAD", b" chunked", b"identity", b"+", b"0x",
)  # fmt: skip


def _targets(target: bytes) -> None:
    """One path has one spelling: what is taken as plain means to a proxy what it means to us."""
    target = bytes(octet for octet in target if 0x21 <= octet < 0x7F)  # the parser lets no other by
    with work_within(3000 + 12 * len(target)):
        plain = is_plain_path(target)
    if plain:
        path = unquote_to_bytes(target)
        segments = target.split(b"/")[1:]
        assert target.startswith(b"/")
        assert not any(each in (b".", b"..") for each in segments)
        assert b"" not in segments[:-1]
        assert not any(octet in target for octet in b'\\?#<>"')
        if path == target:
            assert urlsplit(target).path == target
        # Unescaped once more it would be another path: %252f, or a slash that was hidden.
        assert path.count(b"/") == target.count(b"/") or b"%2F" in target
    split = refusal_of(lambda: origin_form(target), ValueError)
    if isinstance(split, tuple) and split[1] is not None:
        assert urlsplit(target).netloc == split[1]
        assert split[0].startswith(b"/")


def _addresses(octets: bytes) -> None:
    """What a client invents left of a proxy's word decides nothing."""
    script = Script(octets)
    peer = script.of(("10.0.0.1", "203.0.113.5", "::1", None))
    mine = ClientAddresses(("10.0.0.0/8", "::1"))
    invented, told = script.some().decode("latin-1"), script.rest().decode("latin-1")
    with work_within(3000 + 60 * (len(told) + len(invented))):
        found = mine.of(peer, [told])
        also = mine.of(peer, [invented, told])
        within = mine.of(peer, [f"{invented}, {told}"])
    bucket_of(found)
    headers = (invented.encode("latin-1"), told.encode("latin-1"))
    assert mine.text_of(peer, headers) == (None if also is None else str(also))
    if peer == "203.0.113.5":
        assert str(found) == str(also) == peer
    elif found is not None and not mine.trusts(str(found)):
        assert found == also == within
    address = parse_address(told)
    if address is not None:
        assert parse_address(str(address)) == address
        assert len(str(address)) <= 80


def _cookies_seeds() -> Iterator[bytes]:
    yield b"\0\x0b203.0.113.9198.51.100.7, 10.0.0.3"
    yield b"\2\0[2001:db8::7]:443, ::ffff:192.0.2.7"
    yield b"\3\0,,,unknown, _hidden, 1.2.3.4:99999"
    yield b"\0\0fe80::1%eth0"


TARGETS: Final = (
    FuzzTarget(
        "http-heads",
        "the same requests however they are cut; where h11 reads them too, the same ends; nothing"
        " after a refusal",
        _heads,
        _head_seeds,
        octets_max=1200,
        words=_HEAD_WORDS,
    ),
    FuzzTarget(
        "http-targets",
        "a path that is taken has one spelling; the host in a target is what urllib sees",
        _targets,
        lambda: (b"/api/sms", b"/x%C3%A9", b"/a%2fb", b"//x", b"/a/../b", b"http://h:1/p?q", b"*"),
        octets_max=300,
        words=(b"%2f", b"%2F", b"%2e", b"..", b"//", b"http://", b"\\", b"%25"),
    ),
    FuzzTarget(
        "client-addresses",
        "what stands left of a proxy's own word changes nothing; an address is short, and reads"
        " back",
        _addresses,
        _cookies_seeds,
        octets_max=300,
        words=(b"::ffff:", b"10.0.0.1", b", ", b"[", b"]:", b"%", b"127.0.0.1"),
    ),
)
