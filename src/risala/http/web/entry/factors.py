"""What a form shows of a second factor, and what pages need to ask for one."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from risala.engine.model.people import PasskeySite, ShownFactor
from risala.http.web.cookie_policy import Way
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest

ANSWER_FIELD: Final = "passkey"
TYPED_FIELD: Final = "factor"
WRONG_CODE: Final = N_("This code is wrong, or was used before.")
WRONG: Final = {
    TYPED_FIELD: WRONG_CODE,
    ANSWER_FIELD: N_("This passkey was not accepted. Try again, or use another one."),
}
"""What to say of a factor that does not fit, by the field that has it."""


def passkey_site(visit: PageRequest) -> PasskeySite | None:
    """The pages that a passkey is for; None: browsers allow none here.

    They want a name, not an address; and https, or the name `localhost`.
    """
    origin = visit.door.origin
    host = urlsplit(origin).hostname or ""
    if not host or _is_address(host) or (visit.door.way is not Way.HTTPS and host != "localhost"):
        return None
    return PasskeySite(host, origin)


def shown_factor(visit: PageRequest) -> ShownFactor:
    """What the form shows."""
    form = visit.form
    return ShownFactor(form.text(TYPED_FIELD), form.text(ANSWER_FIELD), passkey_site(visit))


def question(visit: PageRequest) -> str | None:
    """What the browser is asked to show a passkey, as JSON; None: there are none here."""
    site = passkey_site(visit)
    if site is None:
        return None
    return visit.site.gateway.people.factor_sign_in.question(site, visit.cookie)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
