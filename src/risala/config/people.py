"""Settings of people: who may sign up, and how often what sends a mail may be asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from risala.config.kinds import Section

Count = Annotated[int, Field(ge=1, le=100_000)]


class SignUp(StrEnum):
    """Who may make an account for themselves."""

    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


class PeopleSection(Section):
    """Who signs in to the dashboard, and how often codes are mailed and tried."""

    sign_up: SignUp = SignUp.OPEN
    """``open``: whoever proves an e-mail address; ``invited``: whom an organization invited;
    ``closed``: whom the operator makes with ``risala user create``."""
    codes_per_ip_per_hour: Count = 60
    """Sign-in codes that may be asked for from one IPv4 address or IPv6 /64. Many people share an
    address behind a mobile network."""
    codes_per_address_per_hour: Count = 6
    """The same with one e-mail address, whoever asks. Who is signed in stays so."""
    codes_per_hour: Count = 2000
    """The same in all, for the dashboard and for the console each. An IPv6 /32 may ask for a
    quarter of them."""
    strangers_codes_per_hour: Count = 300
    """The most sign-up mails in an hour to addresses that have no user here; a code that is asked
    for beyond it is not mailed."""
    guesses_per_ip_per_minute: Count = 30
    """Codes that may be tried from one address in any minute; each code has five tries besides."""
    sign_ups_per_ip_per_hour: Count = 20
    """New users from one address."""
    sign_ups_per_domain_per_hour: Count = 100
    """New users of one mail domain."""
    sign_ups_per_hour: Count = 300
    """New users in all."""
