"""How a request came: over https, on this machine itself, or neither.

Pages hold sessions, so only the first two are accepted. The addresses for redirects and the allowed
origins of forms come from the setting ``http.public_url``; a ``Host`` header only decides whether a
request from this machine is also for this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.people import SessionKind
from risala.http.common.client_address import ClientAddresses, is_local
from risala.http.common.request import is_plain_path

SESSION_DAYS: Final = 90
"""The longest duration of a session; the engine ends an unused one earlier."""
LANGUAGE_COOKIE: Final = "risala-language"
THEME_COOKIE: Final = "risala-theme"
_COOKIES: Final = {SessionKind.CUSTOMER: "risala", SessionKind.OPERATOR: "risala-operator"}


class Way(Enum):
    HTTPS = auto()
    LOCAL = auto()
    """Plain http by a program on this machine, for itself."""
    PLAIN = auto()
    """Plain http from elsewhere: anyone on the network path could read the session."""


@dataclass(frozen=True, slots=True)
class CookiePolicy:
    """How one request came, and the resulting rules for cookies and forms."""

    way: Way
    origin: str
    """The origin of our forms, which ``Origin`` must equal. Empty: not set by the operator."""
    kind: SessionKind = SessionKind.CUSTOMER
    """The kind of pages: the cookies of customers and of operators are separate."""

    @property
    def session_cookie(self) -> str:
        return self._named("")

    @property
    def browser_cookie(self) -> str:
        """The cookie of a browser without a session."""
        return self._named("-door")

    @property
    def said_cookie(self) -> str:
        """The cookie of a sentence for the next page: no other site can set it."""
        return self._named("-said")

    @property
    def known_cookie(self) -> str:
        """The cookie of a browser that was once signed in; it stays after signing out."""
        return self._named("-known")

    @property
    def unsent_cookie(self) -> str:
        """The cookie of a browser whose form came after the session had ended."""
        return self._named("-unsent")

    @property
    def flow_cookie(self) -> str:
        """The cookie of a browser that is at an identity provider."""
        return self._named("-flow")

    def _named(self, use: str) -> str:
        name = f"{_COOKIES[self.kind]}{use}"
        # The prefix binds a cookie to this host, to https and to the whole path: no other host of
        # the domain can set one.
        return f"__Host-{name}" if self.way is Way.HTTPS else name

    def set_cookie(
        self, response: TrioResponse, name: str, value: str, *, days: float = SESSION_DAYS
    ) -> None:
        response.set_cookie(
            name,
            value,
            max_age=round(days * 86_400),
            path="/",
            secure=self.way is Way.HTTPS,
            httponly=True,
            samesite="Lax",
        )

    def drop_cookie(self, response: TrioResponse, name: str) -> None:
        response.delete_cookie(
            name, path="/", secure=self.way is Way.HTTPS, httponly=True, samesite="Lax"
        )


def cookie_policy_of(
    request: Request,
    addresses: ClientAddresses,
    public_url: str | None,
    kind: SessionKind = SessionKind.CUSTOMER,
) -> CookiePolicy:
    """The door of a request to the pages of ``kind``, which are found at ``public_url``."""
    client = request.scope.get("client")
    peer = client[0] if client else None
    forwarded = request.headers.get("x-forwarded-proto", "").strip().lower()
    if request.scheme == "https" or (forwarded == "https" and addresses.trusts(peer)):
        return CookiePolicy(Way.HTTPS, origin_of(public_url or ""), kind)
    if is_local(request):
        return CookiePolicy(Way.LOCAL, f"http://{request.headers.get('host', '').lower()}", kind)
    return CookiePolicy(Way.PLAIN, "", kind)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower() if parts.netloc else ""


def is_own_form(request: Request, policy: CookiePolicy) -> bool:
    """Whether the browser's headers show that one of our pages sent this.

    Not enough alone, because some clients send no such headers: the token in the form is the proof.
    """
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    if origin == "null" or not policy.origin:
        # The page of a link sends no referrer; and without the setting of the public address there
        # is nothing to compare. Then the browser's own header decides, else no.
        return site == "same-origin"
    return origin.lower() == policy.origin


def safe_next(target: str, roots: Sequence[str] = ("/app",)) -> str | None:
    """A safe redirect target: one of our pages below ``roots``; None: the target is not safe.

    Browsers read a backslash as a slash and drop control characters: with either, a text that looks
    like a path here is another host there.
    """
    if len(target) > _NEXT_CHARACTERS_MAX or not target.isascii() or not target.isprintable():
        return None
    path = target.partition("?")[0]
    # With dots for folders a path begins here and ends elsewhere.
    if "\\" in target or " " in target or not is_plain_path(path.encode()):
        return None
    for root in roots:
        rest = target.removeprefix(root)
        if rest != target and rest[:1] in ("", "/", "?") and not rest.startswith("//"):
            return target
    return None


_NEXT_CHARACTERS_MAX: Final = 500
"""Longer than any of our addresses with all its filters."""


def is_surely_own_form(request: Request, policy: CookiePolicy) -> bool:
    """Whether the browser confirms that one of our pages sent this.

    For forms that are kept without the proof of a mark: no other site may store something here for
    a reader to send, so a browser that sends no such header is refused.
    """
    if request.headers.get("sec-fetch-site") == "same-origin":
        return True
    return bool(policy.origin) and request.headers.get("origin", "").lower() == policy.origin
