"""Features that have a part in verification sessions: in how one is opened, in its code, in what a
check has to show, in what is told of it.

A session names its features. Of one that names none, no feature is asked anything, and a feature is
loaded with the first session, or the first request, that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Protocol

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.journal.repositories import Repositories
from risala.engine.model.commands import Beside, Principal, SendCode
from risala.engine.model.features import Feature, features
from risala.engine.model.records.inbound import PhoneArrival
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import CodeRoute, StoreArrival, StoreBeside
from risala.engine.model.states import Mode
from risala.engine.rules.keyring import Codes, Ring, is_code
from risala.engine.rules.template import render
from risala.engine.rules.verification import VerificationRow
from risala.engine.rules.verify_settings import VerifySettings

NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Opening:
    """A session that is about to be opened. A feature returns it with its own part in it."""

    id: str
    organization_id: str
    mode: Mode
    key_type: KeyType
    principal: Principal
    command: SendCode
    settings: VerifySettings
    now_ms: int
    text: str
    """The SMS as it is stored, without the code and without what is sealed."""
    code_length: int
    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the features will write into it, by its placeholders: it is counted, and not stored."""
    features: tuple[str, ...] = ()
    """Features that the session will name."""
    stores: tuple[StoreBeside, ...] = ()
    """What they store in its transaction."""
    leaves: CodeRoute | None = None
    """How the code leaves, if not by SMS."""
    is_fixed: bool = False
    """The number has a fixed code: nothing leaves, by no channel."""
    is_suspicious: bool = False
    """A feature before has found it so: what comes after may ask for a challenge."""
    when_open: tuple[Callable[[], None], ...] = ()
    """Called once the session is stored, or may be; not if it is refused."""


@dataclass(frozen=True, slots=True)
class CodeCheck:
    """A check of a session, as a feature sees it."""

    organization_id: str
    key_type: KeyType
    beside: Beside
    """Members beside the code, by their names in the API."""


class CodeGone(Exception):
    """The session's code is the feature's, and cannot be read any more."""


class SessionFeature(Protocol):
    """A feature's part in verification sessions; made once, of :class:`SessionSources`."""

    async def open(self, opening: Opening) -> Opening:
        """The session with the feature's part in it.

        Raises:
            Invalid: what the request says is not possible.
            RateLimited: a limit of the feature's own.
        """

    def code(self, session: VerificationRow) -> str | None:
        """The code of a session, if the feature gives it; None: it gives this session none.

        Raises:
            CodeGone: it gave one, which cannot be read any more.
        """

    def words(self, session: VerificationRow) -> Mapping[str, str]:
        """What is written into a session's text as it leaves, by its placeholders.

        Raises:
            CodeGone: it cannot be read any more.
        """

    def judge(self, session: VerificationRow, check: CodeCheck) -> bool | None:
        """What the feature says of a check: it is wrong whatever the code, or right without one;
        None: the code decides.

        Raises:
            Invalid: something is missing; the check does not count.
        """

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        """What is told of a session besides, by the names in the API."""


@dataclass(frozen=True, slots=True)
class SessionSources:
    """What a feature's part is made of."""

    settings: Settings
    repositories: Repositories
    ring: Ring
    """The server's keys."""


class SessionFeatures:
    """All features that have a part in sessions."""

    def __init__(self, sources: SessionSources) -> None:
        self._sources = sources
        self._made: dict[str, SessionFeature] = {}

    async def open(self, opening: Opening) -> Opening:
        """A session with the parts of those features that read members of its request, or have a
        part in all sessions of its organization.

        Raises:
            Invalid, RateLimited: as the features do.
        """
        for feature in self._taking_part(opening):
            opening = await self._of(feature).open(opening)
        return opening

    def _taking_part(self, opening: Opening) -> Iterator[Feature]:
        beside, whose = opening.command.beside, opening.organization_id
        for each in features():
            if not each.session_members.isdisjoint(beside) or (
                each.session_joined is not None and each.session_joined()(self._sources, whose)
            ):
                yield each

    def code(self, session: VerificationRow, codes: Codes) -> str | None:
        """The code of a session; None: it cannot be read any more."""
        try:
            codes_given = (self._of(each).code(session) for each in _named(session))
            own = next((code for code in codes_given if code is not None), None)
        except CodeGone:
            return None
        return derived_code(session, codes) if own is None else own

    def text(self, session: VerificationRow, stored: str, codes: Codes) -> str | None:
        """The text of a session's SMS as it leaves; None: it cannot be read any more.

        Args:
            stored: without the code, and without what is sealed.
        """
        code = self.code(session, codes)
        if code is None:
            return None
        text = self.worded(session, stored)
        return None if text is None else render(text, code)

    def worded(self, session: VerificationRow, stored: str) -> str | None:
        """The text of a session's SMS, complete except for the code; None: what is sealed cannot be
        read any more."""
        try:
            for each in _named(session):
                stored = written(stored, self._of(each).words(session))
        except CodeGone:
            return None
        return stored

    def matches(
        self,
        session: VerificationRow,
        guess: str | None,
        check: CodeCheck,
        code_of: Callable[[VerificationRow], str | None],
    ) -> bool:
        """Whether a check is right.

        Args:
            guess: None: no code was given, because the check says something else.
            code_of: the code of the session; None: it has none any more.

        Raises:
            Invalid: something is missing; the check does not count.
        """
        takes_part = {each.name: each for each in _reading(check.beside)}
        takes_part |= {each.name: each for each in _named(session)}
        words = {self._of(each).judge(session, check) for each in takes_part.values()}
        if False in words or True in words:
            return False not in words
        code = None if guess is None else code_of(session)
        return code is not None and guess is not None and is_code(guess, code)

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        """What features tell of a session, by the names in the API."""
        if session.features is None:
            return NOTHING
        return {
            name: value
            for each in _named(session)
            for name, value in self._of(each).details(session).items()
        }

    def arrived(self, arrival: PhoneArrival) -> Sequence[StoreArrival]:
        """What features do with a text or call, in the transaction that stores it."""
        parts = (each.arrived for each in features())
        does = (part()(self._sources, arrival) for part in parts if part is not None)
        return [each for each in does if each is not None]

    def part(self, name: str) -> SessionFeature:
        """The part of a feature that is there."""
        return self._of(next(each for each in features() if each.name == name))

    def made(self, name: str) -> SessionFeature | None:
        """The part of a feature; None: it had none in a session yet."""
        return self._made.get(name)

    def _of(self, feature: Feature) -> SessionFeature:
        made = self._made.get(feature.name)
        if made is None:
            assert feature.in_sessions is not None, "it reads members, or a session names it"
            made = self._made[feature.name] = feature.in_sessions()(self._sources)
        return made


def written(text: str, words: Mapping[str, str]) -> str:
    """A text with words in place of their placeholders."""
    if not words:
        return text
    names = "|".join(map(re.escape, words))
    return re.sub(f"{{{{({names})}}}}", lambda hole: words[hole[1]], text)


def derived_code(session: VerificationRow, codes: Codes) -> str:
    """The code of a session to which no feature gives one."""
    return codes.code(session.id, session.code_length, test=session.mode == "test")


def _named(session: VerificationRow) -> Iterator[Feature]:
    """The features that a session names, as far as they are there."""
    names = session.feature_names
    return (each for each in features() if each.name in names)


def _reading(beside: Iterable[str]) -> Iterator[Feature]:
    """The features that read one of these members."""
    return (each for each in features() if not each.session_members.isdisjoint(beside))
