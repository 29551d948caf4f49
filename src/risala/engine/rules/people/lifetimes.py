"""How long sign-in codes, links and sessions last (contract §7). Pure."""

from __future__ import annotations

from typing import Final

from risala.engine.model.people import SessionKind

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

CODE_MS: Final = 10 * MINUTE_MS
CODE_DIGITS: Final = 6
SIGN_IN_DIGITS: Final = {SessionKind.CUSTOMER: CODE_DIGITS, SessionKind.OPERATOR: 8}
"""For a sign-in code: an operator's gives access to everything."""
ATTEMPTS_MAX: Final = 5
"""For one code. With six requests an hour for an address, a guesser has 3 chances in 100,000 an
hour with that address, and the owner gets a mail for each request."""
FAILURES_PER_DAY: Final = 30
"""Wrong codes for one operator's address in any day, from browsers without an earlier sign-in."""
FAILURES_PER_MONTH: Final = 100
"""Wrong codes for one operator's address in any 30 days: with 8 digits, a chance in 80,000 a year
to guess one of the codes."""
FACTOR_TRIES_PER_DAY: Final = 30
"""Wrong codes of an app for one user in any day. Each guess is right with a chance of three in a
million: a code is accepted one step early and one late."""
FACTOR_TRIES_PER_MONTH: Final = 100
"""Wrong codes of an app for one user in any 30 days: for somebody who already reads the user's
mail, a chance of 1 in 270 a year."""
FAILURES_KEPT_MS: Final = 90 * DAY_MS
KNOWN_BROWSER_MS: Final = 90 * DAY_MS
"""How long a browser is known by the address that signed in on it, signed out or not."""
AGAIN_MS: Final = MINUTE_MS
"""Until then a repeated request sends no second mail: a double click, an impatient reload."""
SAME_CODE_MS: Final = CODE_MS // 2
"""A code that is valid for at least this long is mailed again unchanged; otherwise a reader of the
first of two mails would type an expired code."""
FRESH_MS: Final = 10 * MINUTE_MS
"""How long a person may do what is important after they showed who they are."""
LINK_MS: Final = 10 * MINUTE_MS
CHANGE_MS: Final = 30 * MINUTE_MS
"""For a change of address: the user has to check two mailboxes."""
INVITATION_MS: Final = 14 * DAY_MS
INVITATION_SHOWN_MS: Final = 60 * DAY_MS
"""Behind its end, an invitation is still shown as one that expired, and can be sent again."""
GRACE_MS: Final = 30_000
"""After a rotation the old cookie is valid for this long: for requests that were sent before it."""

TOTAL_MS: Final = {SessionKind.CUSTOMER: 90 * DAY_MS, SessionKind.OPERATOR: 12 * HOUR_MS}
IDLE_MS: Final = {SessionKind.CUSTOMER: 14 * DAY_MS, SessionKind.OPERATOR: 12 * HOUR_MS}


def is_over(kind: SessionKind, used_at: int, expires_at: int, now_ms: int) -> bool:
    """Whether a session has expired."""
    return now_ms >= expires_at or now_ms - used_at >= IDLE_MS[kind]
