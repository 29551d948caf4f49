"""Sign-in limits: a stranger can neither guess a code nor lock another person out.

The dashboard and the console have separate pools. A browser with an earlier sign-in for an address
has a separate share for that address, independent of strangers.
"""

from __future__ import annotations

from typing import Final

import structlog

from risala.engine.limits.claims import TakePeople
from risala.engine.model.commands import PeopleUse
from risala.engine.model.errors import RateLimited
from risala.engine.model.people import Browser, SessionKind
from risala.engine.model.people_records import SITES, FailureReason, SignInFailure
from risala.engine.people.tokens import PeopleSources
from risala.engine.rules.people.entering import SignInRules
from risala.engine.rules.people.lifetimes import MINUTE_MS

log = structlog.get_logger(__name__)

Uses = tuple[tuple[PeopleUse, object], ...]
_SHARED: Final = frozenset({"network", "address", "all"})
"""Limits that strangers share, so that one of them can use up what others need."""
NOTED_MAX: Final = 1000
"""Limits of users that are remembered as noted in this minute; beyond that, a second row."""
_OF_ADDRESS: Final = frozenset({"address", "browser"})
"""Limits of one e-mail address."""


class SignInLimits:
    def __init__(self, sources: PeopleSources, rules: SignInRules) -> None:
        self._sources = sources
        self._rules = rules
        self._noted: dict[tuple[SessionKind, str, str], int] = {}

    def known_browser(self, browser: Browser, kind: SessionKind, email: str) -> str | None:
        """The known browser of an address; None: unknown."""
        return self._sources.derived.browser_number(browser.known_as, kind, email)

    async def take_code(self, browser: Browser, kind: SessionKind, email: str) -> bool:
        """Count a request for a code; returns whether it may be mailed to an unknown address.

        Raises:
            RateLimited: too many were requested, for any address.
        """
        number = self.known_browser(browser, kind, email)
        if number is not None:
            await self._take(((PeopleUse.CODE_KNOWN, (kind, number)),), browser, kind, email)
            return True
        uses: Uses = (
            (PeopleUse.CODE_IP, (kind, browser.bucket)),
            *_networks(browser, kind, PeopleUse.CODE_NETWORK, PeopleUse.CODE_PROVIDER),
            (PeopleUse.CODE_ADDRESS, (kind, email)),
            (PeopleUse.CODE_ALL, kind),
        )
        if kind is SessionKind.OPERATOR:
            uses = ((PeopleUse.CODE_DAYS, email), *uses)
        await self._take(uses, browser, kind, email)
        if self._sources.users.by_email(email) is not None:
            return True
        try:
            await self._take(((PeopleUse.CODE_UNKNOWN, None),), browser, kind)
        except RateLimited:
            return False  # the answer stays the same: it would reveal who is a user here
        return True

    async def take_guess(self, browser: Browser, kind: SessionKind, email: str | None) -> None:
        """Count the try of a code or a link.

        Raises:
            RateLimited: too many were tried.
        """
        number = None if email is None else self.known_browser(browser, kind, email)
        if number is not None:
            await self._take(((PeopleUse.GUESS_KNOWN, (kind, number)),), browser, kind)
            return
        uses: Uses = (
            (PeopleUse.GUESS_IP, (kind, browser.bucket)),
            *_networks(browser, kind, PeopleUse.GUESS_NETWORK, PeopleUse.GUESS_PROVIDER),
        )
        await self._take(uses, browser, kind)

    async def _take(self, uses: Uses, browser: Browser, kind: SessionKind, email: str = "") -> None:
        try:
            await self._sources.limits.ask(TakePeople(uses))
        except RateLimited as error:
            reason = FailureReason.LIMITED if error.limit in _SHARED else FailureReason.SLOWED
            email = email if error.limit in _OF_ADDRESS else ""
            await self.note(reason, error.limit, browser, kind, email)
            raise

    async def note(
        self, reason: FailureReason, what: str, browser: Browser, kind: SessionKind, email: str = ""
    ) -> None:
        """Store a failure, once a minute for each limit and user: an attack makes few rows."""
        if email and self._sources.users.by_email(email) is None:
            email = ""
        now_ms, key = self._sources.now_ms(), (kind, what, email)
        if key in self._noted and now_ms - self._noted[key] < MINUTE_MS:
            return
        kept = {each: at for each, at in self._noted.items() if now_ms - at < MINUTE_MS}
        newest = list(kept.items())[1 - NOTED_MAX :]
        self._noted = {**dict(newest), key: now_ms}
        new = SignInFailure(now_ms, kind, email, browser.address, reason)
        await self._sources.sign_in.note_failure(new, self._rules)
        say(new)


def say(failure: SignInFailure) -> None:
    """Log what is stored, without the e-mail address, which may be a stranger's."""
    log.warning(
        "sign_in.failed",
        site=SITES[failure.kind],
        reason=failure.reason.value,
        client=failure.address,
        known_browser=failure.known_browser,
    )


def _networks(browser: Browser, kind: SessionKind, network: PeopleUse, provider: PeopleUse) -> Uses:
    if browser.network is None:
        return ()
    return ((network, (kind, browser.network)), (provider, (kind, browser.provider)))
