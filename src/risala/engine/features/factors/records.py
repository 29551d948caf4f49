"""Second factors as they are stored, what a person shows of them, what their operations answer, and
the asks."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final, Protocol

from risala.dataclass import dataclass
from risala.engine.model.people import Browser, Denied, SessionKind, SignedIn, WebSession
from risala.engine.model.records.asks import Ask, FeatureAccess
from risala.engine.model.records.fields import UNAUDITED
from risala.engine.model.records.people.users import FactorKind, FactorView

RECOVERY_CODES: Final = 10
"""How many recovery codes are made together; a user has one set. As many as other services give,
and they fit a small note."""


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a user."""

    id: str
    user_id: str
    kind: FactorKind
    name: str
    """The name that its owner gave it."""
    site: str
    """A passkey's host (RP ID); empty for an app."""
    credential: bytes
    """A passkey's id at the authenticator; empty for an app."""
    public_key: bytes
    """A passkey's public key; empty for an app."""
    seed: str = field(repr=False)
    """An app's seed, sealed; empty for a passkey."""
    counter: int
    """For an app, the time step of the last code that was accepted; for a passkey, the number of
    its signatures, as far as its authenticator counts them."""
    created_at: int
    used_at: int | None


class ProofKind(StrEnum):
    APP = "app"
    PASSKEY = "passkey"
    RECOVERY_CODE = "recovery_code"


@dataclass(frozen=True, slots=True)
class FactorProof:
    """A factor that was shown, and checked as far as that needs no database."""

    kind: ProofKind
    factor_id: str = ""
    """The factor's id; empty for a recovery code."""
    counter: int = 0
    """The new value of :attr:`Factor.counter`."""
    code: bytes = field(default=b"", repr=False)
    """The hash of a recovery code."""


@dataclass(frozen=True, slots=True)
class FactorTry:
    """What somebody showed; a wrong one counts too."""

    proof: FactorProof | None
    """None: it fits no factor."""
    is_guessable: bool
    """Whether it is a code of an app, which has few digits."""


@dataclass(frozen=True, slots=True)
class PasskeySite:
    """The pages that a passkey is for."""

    host: str
    """RP ID."""
    origin: str


@dataclass(frozen=True, slots=True)
class ShownFactor:
    """What somebody shows: a code that they typed, or a passkey's answer."""

    typed: str = field(default="", repr=False)
    answer: str = field(default="", repr=False)
    site: PasskeySite | None = None
    """The pages that a passkey answers to; None: passkeys do not work there."""


class FactorAccess(Protocol):
    """The part that handles what somebody shows; set-up and removal are operations.

    Each that judges raises ``RateLimited``, ``Forbidden``, ``Unavailable``.
    """

    def question(self, site: PasskeySite, cookie: str, /) -> str:
        """What a browser is asked to show a passkey, as JSON."""

    async def finish(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind, /
    ) -> SignedIn | Denied:
        """Judge the second factor of a browser whose code was right."""

    async def by_passkey(
        self, browser: Browser, shown: ShownFactor, kind: SessionKind, /
    ) -> SignedIn | Denied:
        """Sign in with a passkey alone."""

    async def freshen(
        self, session: WebSession, browser: Browser, shown: ShownFactor, /
    ) -> bool | Denied:
        """Judge a factor that is shown again within a session."""


ACCESS: Final[FeatureAccess[FactorAccess]] = FeatureAccess("factors")


def factor_view(factor: Factor) -> FactorView:
    return FactorView(
        factor.id, factor.kind, factor.name, factor.site, factor.created_at, factor.used_at
    )


@dataclass(frozen=True, slots=True)
class FactorList:
    """A user's factors, the oldest first."""

    factors: tuple[FactorView, ...]
    recovery_codes: int
    """How many are left."""
    is_needed: Annotated[bool, UNAUDITED] = False
    """Whether their owner may not remove the last one: an operator, where operators need one."""


@dataclass(frozen=True, slots=True)
class AppSetUp:
    """An authenticator app that is being set up; nothing of it is stored yet."""

    nonce: str
    secret: str = field(repr=False)
    """What somebody types into an app that reads no QR code."""
    address: str = field(repr=False)
    """What the QR code holds."""


@dataclass(frozen=True, slots=True)
class PasskeySetUp:
    """A passkey that is being made."""

    question: str
    """The question for the browser, as JSON."""


@dataclass(frozen=True, slots=True)
class AddedFactor:
    """A new factor."""

    id: str
    factor: FactorView
    recovery_codes: tuple[str, ...] = field(repr=False)
    """Recovery codes, with the first factor: each lets its owner in once. They exist only here."""


@dataclass(frozen=True, slots=True)
class RecoveryCodes:
    """New recovery codes, in place of the earlier ones. They exist only here."""

    recovery_codes: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ResetFactors:
    """The number of factors that were deleted."""

    removed: int


LIST: Final = Ask("factor.list", FactorList)
BEGIN_APP: Final = Ask("factor.begin_app", AppSetUp)
ADD_APP: Final = Ask("factor.add_app", AddedFactor)
BEGIN_PASSKEY: Final = Ask("factor.begin_passkey", PasskeySetUp)
ADD_PASSKEY: Final = Ask("factor.add_passkey", AddedFactor)
REMOVE: Final = Ask("factor.remove", FactorView)
RENEW_CODES: Final = Ask("factor.renew_codes", RecoveryCodes)
RESET: Final = Ask("user.reset_factors", ResetFactors)
"""Reset a user's factors, by an operator: on the machine alone, in the console with a second
one."""
