"""Signing in: requested codes, links, failed sign-ins, and web sessions."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal import signing_in
from risala.engine.journal.people import security, sign_in_failures, sign_in_tokens, web_sessions
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan


@dataclass(frozen=True, slots=True)
class SignInRepository:
    """What lets people in. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    request = read(sign_in_tokens.request)
    request_of = read(sign_in_tokens.request_of)
    peek_link = read(sign_in_tokens.peek_link)
    count_failed = read(sign_in_failures.counted)
    failures = read(sign_in_failures.newest)
    console_lock = read(security.lock)
    look_for_intruders = scan(security.security)

    # -- commands

    ask = command(signing_in.ask)
    judge = command(signing_in.judge)
    add_link = audited_command(sign_in_tokens.add_link)
    use_link = command(signing_in.use_link)
    freshen_by_code = command(signing_in.freshen_by_code)
    note_failure = command(signing_in.note_failure)
    forget_over = command(sign_in_tokens.forget_over)
    lock_console = audited_command(security.lock_console)
    unlock_console = audited_command(security.unlock_console)


@dataclass(frozen=True, slots=True)
class WebSessionRepository:
    """Where users are signed in. All reads are by an index, on the loop's thread. Who signs in is
    given a session by :class:`SignInRepository`.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    by_hash = read(web_sessions.by_hash)
    of_user = read(web_sessions.of_user)

    # -- commands

    rotate = command(web_sessions.rotate)
    end = audited_command(web_sessions.end)
    touch = command(web_sessions.touch)
    forget_over = command(web_sessions.forget_over)
