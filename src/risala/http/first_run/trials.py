"""What trying out the answers of a step may find, in the words of the catalogues."""

from __future__ import annotations

from typing import Final, Protocol

from risala.http.first_run.asking import Choices, FirstRunStep
from risala.http.first_run.reading import Answers
from risala.http.web.languages import N_

PORT_TAKEN: Final = N_(
    "Port {port} is in use by another program. Choose another one, such as {other}."
)
PORT_LOW: Final = N_("Ports below 1024 need special rights. Choose one such as 8080.")
NAME_UNKNOWN: Final = N_(
    "The name {host} is not known in the DNS. Make an entry for it that leads to this machine."
)
MAIL_UNKNOWN: Final = N_(
    "The mail server {host} is not known. Compare the name with what your provider wrote."
)
MAIL_REFUSED: Final = N_(
    "Nothing listens at {host}:{port}. Usual ports are 587 with STARTTLS and 465 with TLS."
)
MAIL_SILENT: Final = N_(
    "{host}:{port} does not answer. The port is wrong, or a firewall is between."
)
MAIL_LOGIN: Final = N_("The mail server refuses the user name or the password. It says:")
MAIL_TLS: Final = N_(
    "Encryption fails. Usual are STARTTLS with port 587 and TLS with port 465. In detail:"
)
MAIL_OTHER: Final = N_("The mail server does not accept this. It says:")


class Trials(Protocol):
    """Tries out answers on this machine and outside it."""

    async def modems(self) -> Choices:
        """The ports at which a modem answers, and what it is."""

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        """Try out the answers of a step.

        Raises:
            Wrong: they do not work; with what to do.
        """
