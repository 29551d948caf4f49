"""Challenges that were asked, and answers to them: sealed, bound, each taken once.

Nothing is stored of a challenge that was only asked: its id says how hard it is and until when it
counts, and is sealed together with what it is bound to. What was taken is remembered for as long as
it would count. The seal's key is made with the process, and is written nowhere: after a restart no
challenge of before counts, whether it was taken or not, so that none counts twice.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, Final

import trio

from risala.engine.features.challenges.rules import LIFE_S, Challenge, is_solved
from risala.engine.model.errors import ChallengeRequired
from risala.engine.model.records.keys import KeyChallenge
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.session_features import NOTHING, CodeCheck, Opening, SessionSources

TAKEN_MAX: Final = 32_768
"""Answers that one generation of taken ones holds, some 80 bytes each; there are two. Where more
are taken within ``LIFE_S``, the seal is made anew: whoever is at work then is asked once more."""
_DRAWN_BYTES: Final = 9
"""Octets that tell challenges apart."""
_AT_BYTES: Final = 4
_TAG_BYTES: Final = 16
"""Octets of the seal: nobody finds one of 2^128 in two minutes."""
_ID_BYTES: Final = 1 + _AT_BYTES + _DRAWN_BYTES + _TAG_BYTES
ID_CHARACTERS: Final = 40
"""Characters of an id: base64url of thirty octets, without padding."""
Binding = tuple[str, ...]
"""What a challenge is bound to: the key, the number and the client's address."""


class Challenges:
    """Asks, and takes what answers. Its calls do not wait, so that of two that bring one answer the
    first alone is taken."""

    def __init__(self, bits: int, taken_max: int = TAKEN_MAX) -> None:
        """
        Args:
            bits: of each new challenge.
            taken_max: the most answers of a generation; see :data:`TAKEN_MAX`.
        """
        self._bits = bits
        self._taken_max = taken_max
        # From some time on, so that an id does not tell how long the service runs.
        self._begun_s = trio.current_time() - secrets.randbelow(2**31)
        self._renew()

    def _renew(self) -> None:
        self._key = secrets.token_bytes(32)
        self._taken: set[bytes] = set()
        self._taken_before: set[bytes] = set()
        self._turned_s = self._now_s()

    def _now_s(self) -> int:
        """Whole seconds by a clock that nobody sets."""
        return int(trio.current_time() - self._begun_s)

    def ask(self, binding: Binding) -> Challenge:
        """A new challenge."""
        until_s = self._now_s() + LIFE_S
        head = (
            bytes((self._bits,)) + until_s.to_bytes(_AT_BYTES) + secrets.token_bytes(_DRAWN_BYTES)
        )
        sealed = base64.urlsafe_b64encode(head + self._tag(head, binding))
        return Challenge(sealed.decode(), self._bits)

    def take(self, binding: Binding, challenge_id: str, nonce: str) -> bool:
        """Whether an answer counts; from then on it does not any more."""
        octets = _octets(challenge_id)
        if octets is None:
            return False
        head, tag = octets[:-_TAG_BYTES], octets[-_TAG_BYTES:]
        if not hmac.compare_digest(tag, self._tag(head, binding)):
            return False
        if int.from_bytes(head[1 : 1 + _AT_BYTES]) <= self._now_s():
            return False
        self._turn()
        if head in self._taken or head in self._taken_before:
            return False
        if not is_solved(Challenge(challenge_id, head[0]), nonce):
            return False
        if len(self._taken) >= self._taken_max:
            self._renew()
        self._taken.add(head)
        return True

    def _turn(self) -> None:
        """Forget what was taken so long ago that it no longer counts."""
        gone_s = self._now_s() - self._turned_s
        if gone_s >= LIFE_S:
            self._taken_before = self._taken if gone_s < 2 * LIFE_S else set()
            self._taken = set()
            self._turned_s = self._now_s()

    def _tag(self, head: bytes, binding: Binding) -> bytes:
        # Nul stands in none of them, so that no two bindings make the same octets.
        content = b"\0".join((head.hex().encode(), *(each.encode() for each in binding)))
        return hmac.digest(self._key, content, "sha256")[:_TAG_BYTES]


def _octets(challenge_id: str) -> bytes | None:
    """What an id holds; None: it is none of ours."""
    if len(challenge_id) != ID_CHARACTERS or not challenge_id.isascii():
        return None
    try:
        octets = base64.b64decode(challenge_id, altchars=b"-_", validate=True)
    except binascii.Error:
        return None
    return octets if len(octets) == _ID_BYTES else None


class ChallengeSessions:
    """The part that challenges have in sessions: none is opened before its challenge is answered,
    where its key asks for one."""

    def __init__(self, sources: SessionSources) -> None:
        self._challenges = Challenges(sources.settings.limits.verify_challenge_bits)

    async def open(self, opening: Opening) -> Opening:
        when = opening.principal.challenge
        if when is KeyChallenge.ALWAYS or (
            when is KeyChallenge.WHEN_SUSPICIOUS and opening.is_suspicious
        ):
            self.require(opening)
        return opening

    def require(self, opening: Opening) -> None:
        """Take the answer that a request brings to its challenge.

        Raises:
            ChallengeRequired: it brings none, or one that does not count; with a new challenge.
        """
        binding = _binding(opening)
        answer: Mapping[str, str] = opening.command.beside.get("challenge", NOTHING)
        if answer and self._challenges.take(binding, answer["id"], answer["nonce"]):
            return
        raise ChallengeRequired(self._challenges.ask(binding).wire(), has_failed=bool(answer))

    def code(self, _session: VerificationRow) -> str | None:
        return None

    def words(self, _session: VerificationRow) -> Mapping[str, str]:
        return NOTHING

    def judge(self, _session: VerificationRow, _check: CodeCheck) -> bool | None:
        return None

    def details(self, _session: VerificationRow) -> Mapping[str, Any]:
        return NOTHING


def _binding(opening: Opening) -> Binding:
    command = opening.command
    return (opening.principal.key_id, command.to, command.client or "")
