"""Settings of people: who may sign up, and limits on mails."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from risala.config.kinds import Money, Section

Count = Annotated[int, Field(ge=1, le=100_000)]


class SignUp(StrEnum):
    """Who may sign up."""

    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


class PeopleSection(Section):
    """Who signs in to the dashboard, and how often codes are mailed and tried."""

    sign_up: SignUp = SignUp.OPEN
    """``open``: anybody with a proved e-mail address; ``invited``: people whom an organization
    invited; ``closed``: only users whom the operator makes with ``risala user create``."""
    operator_factors: Annotated[int, Field(ge=1, le=2)] | None = None
    """How many factors an operator needs to enter the console: 1, a code by e-mail; 2, also a
    passkey or an authenticator app. If it is not set, 2 once any operator has set one up."""
    codes_per_ip_per_hour: Count = 60
    """The most sign-in codes requested from one IPv4 address or IPv6 /64. Many people share an
    address behind a mobile network."""
    codes_per_address_per_hour: Count = 6
    """The same for one e-mail address, from anywhere. Signed-in users stay signed in."""
    codes_per_hour: Count = 2000
    """The same in all, separately for the dashboard and the console. An IPv6 /32 may ask for a
    quarter of them."""
    strangers_codes_per_hour: Count = 300
    """The most sign-up mails in an hour to addresses without a user here; further codes are not
    mailed."""
    guesses_per_ip_per_minute: Count = 30
    """The most codes tried from one address in any minute; each code also has only five tries."""
    sign_ups_per_ip_per_hour: Count = 20
    """The most new users from one address."""
    sign_ups_per_domain_per_hour: Count = 100
    """The most new users of one mail domain."""
    sign_ups_per_hour: Count = 300
    """The most new users in all."""
    four_eyes_from: Money | None = None
    """From this sum on, in a day, a second operator confirms what one operator does: top-ups,
    adjustments and confirmed payments count together. Prices, senders and operators' roles then
    always need two. Not set: each operator decides alone."""
