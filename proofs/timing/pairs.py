"""What a guesser would time: two requests each, of which one is nearer to a secret."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from proofs.timing.house import House
from proofs.timing.planted import SECRET, WORK
from proofs.timing.wire import Timed, request
from risala.http.web.forms import MARK_FIELD, masked, unmasked

Ask = Callable[[int], float]
"""Asks the first (0) or the second (1) of a pair; the microseconds that its answer took."""
JSON: Final = {"content-type": "application/json"}
FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
TRIES: Final = 4
"""Of the five guesses at a code: the fifth ends the session, which is more work, and known."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests whose answers should take as long."""

    name: str
    first: str
    second: str
    ask: Ask
    share: float = 1.0
    """Of the samples of a plain pair, where one of these takes much longer."""
    planted: bool = False
    """There is a difference, and it must be seen."""
    let_be_us: float = 0.0
    """A difference of the medians that is let be, because it helps nobody."""


def pairs(house: House) -> Iterator[Pair]:
    """All of them, each with what it needs made in the service first."""
    yield from _planted(house)
    organization = {"organization_id": house.perform("org.create", name="Shop")["id"]}
    other = {"organization_id": house.perform("org.create", name="Other")["id"]}
    yield from _keys(house, organization)
    yield _codes(house, organization)
    yield _ids(house, organization, other)
    yield from _passwords(house, organization)
    yield from _browsers(house)


def _timed(found: Timed, status: int) -> float:
    if found.status != status:
        raise RuntimeError(f"{found.status} where {status} was meant: {found.body[:200]!r}")
    return found.ns / 1000


def _asking(
    house: House, status: int, path: str, fields: Callable[[int], Mapping[str, str]]
) -> Ask:
    """GETs that differ in a header field."""

    def ask(which: int) -> float:
        headers = {**house.wire.from_elsewhere(), **fields(which)}
        return _timed(house.wire.ask(request("GET", path, headers)), status)

    return ask


def near_and_far(secret: str, wrong: str) -> tuple[str, str]:
    """Two wrong guesses of the same length: all but the end right, and right nowhere."""
    near = secret[:-1] + next(each for each in wrong if each != secret[-1])
    far = "".join(next(each for each in wrong if each != own) for own in secret)
    return near, far


def _planted(house: House) -> Iterator[Pair]:
    guesses = near_and_far(SECRET, "AB")
    fields = [{"x-planted": each} for each in guesses]
    early = _asking(house, 200, "/planted/early", fields.__getitem__)
    name = f"planted: a comparison that stops early, {32 * WORK} hashes in all"
    yield Pair(name, "31 of 32 right", "none right", early, planted=True)
    even = _asking(house, 200, "/planted/even", fields.__getitem__)
    yield Pair("planted: the same that never stops", "31 of 32 right", "none right", even)


def _keys(house: House, organization: Mapping[str, str]) -> Iterator[Pair]:
    made = house.perform("key.create", **organization, type="secret")["value"]
    near, far = (made[:8] + each for each in near_and_far(made[8:], "AB"))
    guesses = ({"x-api-key": near}, {"x-api-key": far})

    def ask(which: int) -> float:
        headers = {**house.wire.from_elsewhere(), **JSON, **guesses[which]}
        return _timed(house.wire.ask(request("POST", "/api/balance/get", headers, b"{}")), 401)

    yield Pair("key of the API", "31 of 32 right", "none right", ask)

    def fresh(which: int) -> float:
        # Never the same twice in either heap: what is asked for again may be found sooner.
        end = secrets.token_hex(16)
        key = made[:-8] + end[:8] if which == 0 else made[:8] + end
        headers = {**house.wire.from_elsewhere(), **JSON, "x-api-key": key}
        return _timed(house.wire.ask(request("POST", "/api/balance/get", headers, b"{}")), 401)

    yield Pair("key of the API, another each time", "24 of 32 right", "none right", fresh)


def _codes(house: House, organization: Mapping[str, str]) -> Pair:
    key = house.perform("key.create", **organization, type="secret", mode="test")["value"]
    sessions: dict[int, list[str]] = {0: [], 1: []}
    codes = ("000001", "111111")

    def opened() -> None:
        headers = {**house.wire.from_elsewhere(), **JSON, "x-api-key": key}
        body = json.dumps({"to": "+22236123400"}).encode()
        found = house.wire.ask(request("POST", "/api/verify/send", headers, body))
        _timed(found, 200)
        one = json.loads(found.body)["verificationId"]
        for which in sessions:
            sessions[which] += [one] * (TRIES // 2)

    def ask(which: int) -> float:
        if not sessions[which]:
            opened()
        said = {"verificationId": sessions[which].pop(0), "code": codes[which]}
        headers = {**house.wire.from_elsewhere(), **JSON, "x-api-key": key}
        body = json.dumps(said).encode()
        found = house.wire.ask(request("POST", "/api/verify/check", headers, body))
        return _timed(found, 200)

    return Pair("one-time code", "5 of 6 digits right", "none right", ask, share=0.3)


def _ids(house: House, organization: Mapping[str, str], other: Mapping[str, str]) -> Pair:
    key = house.perform("key.create", **organization, type="secret", mode="test")["value"]
    sent = {**other, "to": "+22236123400", "body": "theirs", "mode": "test"}
    theirs = house.perform("send", **sent)["messageId"]
    absent = theirs[:-20] + "0" * 20
    bodies = [json.dumps({"messageId": each}).encode() for each in (theirs, absent)]

    def ask(which: int) -> float:
        headers = {**house.wire.from_elsewhere(), **JSON, "x-api-key": key}
        found = house.wire.ask(request("POST", "/api/sms/get", headers, bodies[which]))
        return _timed(found, 404)

    # One row is compared and passed by. It tells whoever has an id that there is such a message;
    # nobody comes to one by guessing, of whose 160 bits 112 are chance.
    return Pair(
        "message of another organization", "its id", "an id that is not there", ask, let_be_us=2.0
    )


def _passwords(house: House, organization: Mapping[str, str]) -> Iterator[Pair]:
    made = house.perform("credential.create", **organization, face="kannel", username="shop")
    near, far = near_and_far(made["password"], "AB")

    def asking(guesses: tuple[tuple[str, str], tuple[str, str]]) -> Ask:
        def ask(which: int) -> float:
            name, password = guesses[which]
            query = urlencode({"username": name, "password": password, "to": "1", "text": "x"})
            headers = house.wire.from_elsewhere()
            found = house.wire.ask(request("GET", f"/cgi-bin/sendsms?{query}", headers))
            return _timed(found, 403)

        return ask

    one = asking((("shop", near), ("shop", far)))
    yield Pair("password of a face", "31 of 32 right", "none right", one)
    yield Pair(
        "name at a face", "there is one", "there is none", asking((("shop", far), ("nobo", far)))
    )


def _browsers(house: House) -> Iterator[Pair]:
    elsewhere = house.wire.from_elsewhere
    page = house.wire.ask(request("GET", "/sign-in", elsewhere()))
    _timed(page, 200)
    cookie = "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    found = re.search(rf'name="{MARK_FIELD}" value="([^"]+)"'.encode(), page.body)
    if found is None:
        raise RuntimeError("the page to sign in has no form")
    token = unmasked(found[1].decode())

    def posted(mark: str, email: str, status: int) -> float:
        body = urlencode({MARK_FIELD: masked(mark), "email": email}).encode()
        headers = {**elsewhere(), **FORM, "cookie": cookie}
        return _timed(house.wire.ask(request("POST", "/sign-in", headers, body)), status)

    marks = near_and_far(token, "AB")
    yield Pair(
        "mark of a form",
        "all but its end right",
        "none right",
        lambda which: posted(marks[which], "a@known.example", 403),
        share=0.3,
    )
    for number in range(20):
        house.perform("user.create", email=f"user{number:02}@known.example")
    turn = iter(range(1_000_000_000))

    def signing_in(which: int) -> float:
        host = ("known", "other")[which]
        return posted(token, f"user{next(turn) % 20:02}@{host}.example", 303)

    yield Pair("address to sign in", "of a user", "of nobody", signing_in, share=0.3)
    yield _session(house)


def _session(house: House) -> Pair:
    """Of a cookie that would open pages."""
    link = house.perform("user.sign_in", email="user00@known.example")["token"]
    address = f"/sign-in/link/{link}"
    page = house.wire.ask(request("GET", address, house.wire.from_elsewhere()))
    found = re.search(rf'name="{MARK_FIELD}" value="([^"]+)"'.encode(), page.body)
    if found is None:
        raise RuntimeError("the page of the link has no form")
    cookie = "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    headers = {**house.wire.from_elsewhere(), **FORM, "cookie": cookie}
    body = urlencode({MARK_FIELD: masked(unmasked(found[1].decode()))}).encode()
    inside = house.wire.ask(request("POST", address, headers, body)).cookies["__Host-risala"]
    guesses = [{"cookie": f"__Host-risala={each}"} for each in near_and_far(inside, "AB")]
    ask = _asking(house, 303, "/account", guesses.__getitem__)
    return Pair("cookie of a session", "42 of 43 right", "none right", ask, share=0.5)
