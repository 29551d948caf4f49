"""Calls that are not the carrier's, and calls of the carrier with something odd in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from risala.plugins.answering import METHODS
from risala.plugins.testing.called import CarrierCallback

ODD_BODIES: Final = (b"", b"{", b"[]", b"null", b'"x"', b"{}", b"7", b"\xff\xfe", b"a=1&a=2")
ODD_VALUES: Final[tuple[Any, ...]] = (None, 7, "", [], {}, "\x00", "😀")
PLANTED: Final = "planted-604718"
"""Stands in calls of the check of secrets, at every place where one could be."""


@dataclass(frozen=True, slots=True)
class OddCall:
    """A call, and a word for what is odd about it."""

    what: str
    call: CarrierCallback
    secret: str | None = None
    """A secret that is not the address's; empty: none."""


class OddCalls:
    """What can be made of a call.

    Args:
        call: one that the carrier makes, without its proof.
        prove: gives a call the carrier's proof.
        secret: the secret of the address; empty: it has none.
    """

    def __init__(
        self,
        call: CarrierCallback,
        prove: Callable[[CarrierCallback], CarrierCallback],
        secret: str,
    ) -> None:
        self._call = call
        self._prove = prove
        self._secret = secret

    def forged(self) -> Iterator[OddCall]:
        """Calls that are not the carrier's."""
        call = self._call
        if self._secret:
            yield OddCall("a call without the address's secret", call, "")
            yield OddCall("a call with a wrong secret in its address", call, _changed(self._secret))
            return
        proved = self._prove(call)
        yield OddCall("a call without a proof", call)
        for field, value in proved.headers.items():
            if call.headers.get(field) == value:
                continue
            others = {name: each for name, each in proved.headers.items() if name != field}
            yield OddCall(f"a call without {field}", replace(proved, headers=others))
            for wrong in ("", value[: len(value) // 2], _changed(value), value + "é"):
                forged = replace(proved, headers={**others, field: wrong})
                yield OddCall(f"a call with a wrong {field}", forged)
        if proved.path != call.path:
            wrong = _changed(proved.path)
            yield OddCall("a call with a wrong path", replace(proved, path=wrong))

    def odd(self) -> Iterator[OddCall]:
        """Calls with something in them that no carrier should send."""
        call, prove = self._call, self._prove
        for body in (*ODD_BODIES, *_odd_bodies(call.body)):
            yield OddCall("an odd body", prove(replace(call, body=body)))
        for method in METHODS:
            yield OddCall(f"the method {method}", prove(replace(call, method=method)))
        for path in ("", "/", "/no-such-path", call.path + "?a=1&a=2&=&%ff"):
            yield OddCall(f"the path {path!r}", prove(replace(call, path=path)))
        for each in self.forged():
            yield replace(each, what="a wrong proof")

    def planted(self) -> Iterator[OddCall]:
        """Calls with :data:`PLANTED` in them; the first is one that the carrier makes."""
        call, word = self._call, PLANTED.encode()
        call = replace(call, headers={**call.headers, "x-planted": PLANTED})
        for _ in range(2):  # the context refuses the first
            yield OddCall("a call", self._prove(call))
        for body in (word, b'{"%s"' % word, b'{"%s": "%s"}' % (word, word)):
            yield OddCall("an odd body", self._prove(replace(call, body=body)))
        yield OddCall("an odd path", self._prove(replace(call, path=f"{call.path}/{PLANTED}")))
        for each in self.forged():
            headers = dict.fromkeys(each.call.headers, PLANTED)
            yield replace(each, call=replace(each.call, headers=headers, body=word))


def _changed(text: str) -> str:
    """The text with another letter or digit in its middle."""
    at = len(text) // 2
    while at < len(text) - 1 and not text[at].isalnum():
        at += 1
    return text[:at] + ("1" if text[at : at + 1] != "1" else "2") + text[at + 1 :]


def _odd_bodies(body: bytes) -> Iterator[bytes]:
    """A JSON object with members that are missing or of another kind."""
    try:
        members = json.loads(body)
    except ValueError:
        return
    if not isinstance(members, dict):
        return
    for name in members:
        yield json.dumps({key: each for key, each in members.items() if key != name}).encode()
        for value in ODD_VALUES:
            yield json.dumps({**members, name: value}).encode()
