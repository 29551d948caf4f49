"""What an identity provider's settings are unless they are set, of operators and of organizations.

The claims, and the values of ``amr`` and ``acr``, that most providers use. In a file of their own:
commands read them without the settings' models.
"""

from __future__ import annotations

from typing import Final

ROLE_CLAIM: Final = "groups"
VERIFIED_CLAIM: Final = "email_verified"
TWO_FACTORS: Final = ("mfa", "otp", "hwk")
