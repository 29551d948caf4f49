"""Codes by e-mail, through the service's mailer.

A mail server takes a mail and tells no delivery, so that a code stays ``sent``: the next channel
begins when its time has come.
"""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.channels.settings import EmailSettings
from risala.plugins.channel import (
    Accepted,
    Cause,
    ChannelCapabilities,
    ChannelTools,
    CodeToSend,
    DriverContext,
    Health,
    HealthState,
    Mail,
    MailNotSentError,
    Outcome,
    Reaches,
    Refused,
    Scope,
    Unsent,
)

SEND_S: Final = 60.0
"""A mail server's steps have twenty seconds each."""
NO_MAILER: Final = "No mail server is set: fill in [mail] and restart the service."
UP: Final = "Codes go by the mail server."
_SUBJECTS: Final = {
    "en": "{name}: your code is {code}",
    "fr": "{name} : votre code est {code}",
    "ar": "{name}: رمزك هو {code}",
}
_TEXTS: Final = {
    "en": "Your code for {name} is {code}.\n\nEnter it where you were asked for it, and give it to"
    " nobody. If you have not asked for a code, you need to do nothing.\n",
    "fr": "Votre code pour {name} est {code}.\n\nSaisissez-le là où il vous est demandé, et ne le"
    " donnez à personne. Si vous n’avez pas demandé de code, vous n’avez rien à faire.\n",
    "ar": "رمزك في {name} هو {code}.\n\nأدخله حيث طُلب منك، ولا تعطه لأحد. إذا لم تطلب رمزا فلا"
    " يلزمك شيء.\n",
}


class EmailChannel:
    """A :class:`risala.plugins.channel.CodeChannel` of the service's mailer."""

    def __init__(self, settings: EmailSettings, tools: ChannelTools) -> None:
        self.capabilities = ChannelCapabilities(
            reaches=Reaches.ADDRESS, window_max=2, send_s=SEND_S
        )
        self._name = settings.name
        self._mailer = tools.mailer

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        if self._mailer() is None:
            context.health(Health(HealthState.SICK, NO_MAILER, receipts=False))
        else:
            context.health(Health(HealthState.UP, UP, receipts=False))
        await trio.sleep_forever()

    async def send_code(self, code: CodeToSend) -> Outcome:
        mailer = self._mailer()
        if mailer is None:
            return Unsent("NO_MAILER", NO_MAILER)
        values = {"name": self._name, "code": code.code}
        subject = _SUBJECTS[code.language].format(**values)
        text = f"{code.text}\n" if code.text else _TEXTS[code.language].format(**values)
        mail = Mail(code.to, subject, text)
        try:
            await mailer.send(mail)
        except MailNotSentError as error:
            return Refused(Scope.NOW, "NOT_SENT", str(error), Cause.CARRIER_FAULT)
        return Accepted("", "TAKEN")
