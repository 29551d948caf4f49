"""The part that challenges have in sessions: none is opened before its challenge is answered, where
its key asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from risala.engine.features.challenges.challenges import Binding, Challenges
from risala.engine.model.errors import ChallengeRequired
from risala.engine.model.records.keys import KeyChallenge
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.session_features import NOTHING, CodeCheck, Opening, SessionSources


class ChallengeSessions:
    """See the module's text."""

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
