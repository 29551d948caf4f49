"""Where a request begins and ends: what we do with each trick, as the reference has it."""

import re
from pathlib import Path

from cases import sweep
from risala.http.server.parser import RequestParser

PAGE = Path(__file__).parents[3] / "docs/reference/http-parsing.md"
READ_BYTES = 16 * 1024
"""As the server reads."""
POST = b"POST /api/sms HTTP/1.1\r\nHost: a\r\n"
CHUNKS = POST + b"Transfer-Encoding: chunked\r\n\r\n"
H2C = POST + b"Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\n"
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
TRICKS = {
    "plain": POST + b"Content-Length: 2\r\n\r\n{}",
    "Content-Length + Transfer-Encoding chunked": POST
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding + Content-Length (other order)": POST
    + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two Content-Length, same": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two Content-Length, different": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "Content-Length list 2, 2": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "Content-Length +2": POST + b"Content-Length: +2\r\n\r\n{}",
    "Content-Length -2": POST + b"Content-Length: -2\r\n\r\n{}",
    "Content-Length 0x2": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "Content-Length with 21 digits": POST + b"Content-Length: 000000000000000000002\r\n\r\n{}",
    "Content-Length overflow": POST + b"Content-Length: 18446744073709551618\r\n\r\n{}",
    "Transfer-Encoding gzip, chunked": POST
    + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding chunked, identity": POST
    + b"Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n{}",
    "Transfer-Encoding twice": POST
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding in HTTP/1.0": CHUNKS.replace(b"1.1", b"1.0") + b"2\r\n{}\r\n0\r\n\r\n",
    "Transfer-Encoding vtab chunked": POST
    + b"Transfer-Encoding: \x0bchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "bare LF in head": b"POST / HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}",
    "bare LF after one header": POST + b"X: 1\nContent-Length: 2\r\n\r\n{}",
    "bare CR in a value": POST + b"X: 1\rY: 2\r\nContent-Length: 2\r\n\r\n{}",
    "obs-fold": POST + b"X: 1\r\n 2\r\nContent-Length: 2\r\n\r\n{}",
    "obs-fold of Transfer-Encoding": POST
    + b"Transfer-Encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "space before colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "Transfer-Encoding with space before colon": POST
    + b"Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}",
    "NUL in a value": POST + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
    "NUL in a name": POST + b"X\x00: ab\r\nContent-Length: 2\r\n\r\n{}",
    "no host in 1.1": b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    "two hosts": POST + b"Host: b\r\nContent-Length: 2\r\n\r\n{}",
    "space in target": b"POST /a b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "octet 0xff in target": b"POST /\xff HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.2": b"POST / HTTP/1.2\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/2.0": b"POST / HTTP/2.0\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "h2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version (0.9)": b"GET /\r\n\r\n",
    "unknown method": b"FROB / HTTP/1.1\r\nHost: a\r\n\r\n",
    "lower-case method": b"post / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "empty header name": POST + b": x\r\nContent-Length: 2\r\n\r\n{}",
    "line before request": b"\r\nPOST /api/sms HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    "chunk extension": CHUNKS + b"2;a=b\r\n{}\r\n0\r\n\r\n",
    "chunk extension with bare LF": CHUNKS + b"2;a\n{}\r\n0\r\n\r\n",
    "chunk size 0x2": CHUNKS + b"0x2\r\n{}\r\n0\r\n\r\n",
    "chunk size +2": CHUNKS + b"+2\r\n{}\r\n0\r\n\r\n",
    "chunk size with space": CHUNKS + b"2 \r\n{}\r\n0\r\n\r\n",
    "chunk end without CR": CHUNKS + b"2\r\n{}\n0\r\n\r\n",
    "chunk line bare LF": CHUNKS + b"2\n{}\r\n0\r\n\r\n",
    "chunk longer than said": CHUNKS + b"1\r\n{}\r\n0\r\n\r\n",
    "trailer": CHUNKS + b"2\r\n{}\r\n0\r\nX: y\r\n\r\n",
    "trailer with Content-Length": CHUNKS + b"2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n",
    "data after 'connection: close'": POST
    + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n",
    "upgrade websocket": POST + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "upgrade h2c": H2C + b"Content-Length: 2\r\n\r\n{}",
    "CONNECT": b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "control octet in value": POST + b"X: a\x01b\r\nContent-Length: 2\r\n\r\n{}",
    "high octet in name": POST + b"X\xe9: b\r\nContent-Length: 2\r\n\r\n{}",
    "h2c, then another request": H2C + b"Content-Length: 2\r\n\r\n{}" + GET,
    "h2c with chunks": H2C + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "101 headers": b"GET / HTTP/1.1\r\nHost: a\r\n" + b"x: y\r\n" * 100 + b"\r\n",
    "a header of 17 KiB": b"GET / HTTP/1.1\r\nHost: a\r\nx: " + b"a" * 17408 + b"\r\n\r\n",
    "a trailer without end": CHUNKS + b"2\r\n{}\r\n0\r\nx: " + b"a" * 40000,
    "chunk extension of 60 KiB": CHUNKS + b"2;" + b"a" * 61440 + b"\r\n{}\r\n0\r\n\r\n",
}
WHOLE_ONLY = {"unknown method"}
"""Taken when its first packet says it whole; a client that drips it is none that we know."""


def verdict(pieces):
    parser = RequestParser()
    for piece in pieces:
        parser.feed(piece)
    return ", ".join(
        str(one.fault.status) if one.fault else "taken" if one.complete else "waits"
        for one in parser.requests
    )


def rows():
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.MULTILINE))


def test_the_reference_has_every_trick():
    assert set(rows()) - {"What comes", "---"} == set(TRICKS)


@sweep("name", TRICKS)
def test_a_trick_meets_what_the_reference_says(name):
    data = TRICKS[name]
    pieces = [data[at : at + READ_BYTES] for at in range(0, len(data), READ_BYTES)]
    assert verdict(pieces) == rows()[name]


@sweep("name", sorted(set(TRICKS) - WHOLE_ONLY))
def test_it_is_the_same_byte_by_byte(name):
    assert verdict(bytes([byte]) for byte in TRICKS[name]) == rows()[name]


def test_a_trailer_is_no_header():
    parser = RequestParser()
    parser.feed(TRICKS["trailer"])
    assert [name for name, _ in parser.requests[0].headers] == [b"host", b"transfer-encoding"]


def test_a_request_to_upgrade_keeps_its_body_and_loses_the_wish():
    parser = RequestParser()
    parser.feed(TRICKS["h2c, then another request"])
    first, second = parser.requests
    assert (b"".join(first.parts), first.keep, second.method) == (b"{}", True, b"GET")
    assert b"upgrade" not in [name for name, _ in first.headers]


def test_bodies_and_heads_of_pipelined_requests_never_count_for_each_other():
    one = POST + b"Content-Length: 15000\r\n\r\n" + bytes(15_000)
    parser = RequestParser()
    stream = one * 5
    for at in range(0, len(stream), 997):
        parser.feed(stream[at : at + 997])
    assert [(one.complete, one.fault, one.received) for one in parser.requests] == [
        (True, None, 15_000)
    ] * 5
