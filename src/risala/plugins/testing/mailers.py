"""The tests that every mailer must pass. Subclass, say how to build yours, run pytest.

::

    class TestMyMailer(MailerConformance):
        @asynccontextmanager
        async def open_mailer(self):
            async with my_server() as self.server:
                yield MyMailer(MailSection(host="127.0.0.1", port=self.server.port))

        async def server_got(self):
            return [Mail(one.to, one.subject, one.text) for one in self.server.mails]
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import count
from typing import ClassVar, Final

import trio

from risala.plugins.mail import Mail, Mailer, MailNotSentError
from risala.plugins.testing.apart import Leftovers
from risala.plugins.testing.checks import PluginFaultError, check
from risala.plugins.testing.step_suite import StepSuite

AT_ONCE: Final = 5
"""How many mails a check sends at once."""
_CODE: Final = "482913"
_numbers = count(1)


def mail(**changes: str) -> Mail:
    """A mail to send; ``changes`` are its fields."""
    number = next(_numbers)
    fields = {
        "to": f"owner{number}@shop.example",
        "subject": f"Votre code n° {number} – رمزك",
        "text": f"Bonjour,\n\nvotre code est {_CODE}.\nرمزك هو {_CODE}.\n",
    }
    return Mail(**{**fields, **changes})


class MailerConformance(StepSuite):
    """Subclass it as ``class TestSomething(MailerConformance)``."""

    risala_suite: ClassVar[str] = "mailer"
    send_s: ClassVar[float] = 130.0
    """Seconds that ``send`` may take if the server does not answer."""

    def open_mailer(self) -> AbstractAsyncContextManager[Mailer]:
        """A built mailer, with its server ready."""
        raise NotImplementedError

    async def server_got(self) -> Sequence[Mail]:
        """The mails that the server got since the mailer was opened, in order."""
        raise NotImplementedError

    async def refuse_mail(self) -> None:
        """Have the server refuse every mail from now on. Optional."""
        raise NotImplementedError

    async def mute_server(self) -> None:
        """Have the server take connections from now on, but answer nothing. Optional."""
        raise NotImplementedError

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Mailer]:
        async with self.open_mailer() as mailer:
            if not isinstance(mailer, Mailer):
                raise PluginFaultError(
                    "test_has_its_shape",
                    f"{type(mailer).__name__} lacks the method send.",
                )
            self.tell_about(mailer)
            yield mailer

    async def _send(self, mailer: Mailer, one: Mail) -> None:
        """Send a mail that the server takes."""
        try:
            await self.step(partial(mailer.send, one), "send", MailNotSentError)
        except MailNotSentError as error:
            raise PluginFaultError(
                "test_sends",
                f"send raised MailNotSentError({str(error)!r}), though the server takes it.",
            ) from error

    @check("mail-contract.md#mailer")
    async def test_has_its_shape(self) -> None:
        """The mailer has the shape of a Mailer."""
        async with self._opened():
            pass

    @check("mail-contract.md#mailersend")
    async def test_lets_the_loop_run(self) -> None:
        """The mailer never blocks the event loop."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_answers_in_time(self) -> None:
        """``send`` returns soon if the server answers at once."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_raises_what_the_contract_names(self) -> None:
        """The only exception of ``send`` is MailNotSentError."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_sends(self) -> None:
        """``send`` returns if the server takes the mail."""
        await self._try_one()

    async def _try_one(self) -> None:
        async with self._opened() as mailer:
            await self._send(mailer, mail())

    @check("mail-contract.md#mail")
    async def test_the_mail_arrives_as_it_is(self) -> None:
        """Address, subject and text arrive as they are, in any script."""
        async with self._opened() as mailer:
            sent = mail()
            await self._send(mailer, sent)
            got = await self._got("test_the_mail_arrives_as_it_is")
            if not got:
                raise PluginFaultError(
                    "test_the_mail_arrives_as_it_is",
                    "send returned, but the server has no mail. Return once the server has it.",
                )
            for field in ("to", "subject", "text"):
                if _lines(getattr(got[-1], field)) != _lines(getattr(sent, field)):
                    raise PluginFaultError(
                        "test_the_mail_arrives_as_it_is",
                        f"The mail arrived with another {field} than it was sent with.",
                    )

    @check("mail-contract.md#mailersend")
    async def test_each_mail_arrives_once(self) -> None:
        """If several mails are sent at once, each arrives once."""
        async with self._opened() as mailer:
            sent = [mail() for _ in range(AT_ONCE)]
            async with trio.open_nursery() as nursery:
                for one in sent:
                    nursery.start_soon(self._send, mailer, one)
            got = await self._got("test_each_mail_arrives_once")
            if sorted(one.to for one in got) != sorted(one.to for one in sent):
                raise PluginFaultError(
                    "test_each_mail_arrives_once",
                    f"{len(sent)} mails were sent at once, to as many addresses, and {len(got)} "
                    "arrived. Each must arrive once.",
                )

    async def _got(self, check: str) -> Sequence[Mail]:
        return await self.shown("mail", check, "server_got", self.server_got)

    @check("mail-contract.md#mail")
    async def test_lines_in_a_subject_make_no_header(self) -> None:
        """A line end in a subject adds no header: the mail is refused, or the subject made safe."""
        async with self._opened() as mailer:
            sent = mail(subject="Hello\r\nBcc: everybody@shop.example")
            try:
                await self.step(partial(mailer.send, sent), "send", MailNotSentError)
            except MailNotSentError:
                return
            got = await self._got("test_lines_in_a_subject_make_no_header")
            if [one.to for one in got] != [sent.to]:
                raise PluginFaultError(
                    "test_lines_in_a_subject_make_no_header",
                    "A line end in the subject brought the mail to other addresses. Refuse such a "
                    "mail, or remove the line end.",
                )

    @check("mail-contract.md#mailnotsenterror")
    async def test_says_why(self) -> None:
        """If the server refuses, ``send`` raises MailNotSentError; its reason quotes no text."""
        async with self._opened() as mailer:
            await self.optional(self.refuse_mail, "refuse_mail")
            sent = mail()
            try:
                await self.step(partial(mailer.send, sent), "send", MailNotSentError)
            except MailNotSentError as error:
                self.look_at_reason(error, (_CODE, sent.text.strip()))
            else:
                raise PluginFaultError(
                    "test_says_why",
                    "send returned though the server refused the mail: nobody tries it again. "
                    "Raise MailNotSentError.",
                )

    @check("mail-contract.md#mailersend")
    async def test_a_mute_server_holds_nobody_up(self) -> None:
        """If the server does not answer, ``send`` raises MailNotSentError in the end."""
        async with self._opened() as mailer:
            await self.optional(self.mute_server, "mute_server")
            try:
                await self.step(partial(mailer.send, mail()), "send", MailNotSentError, self.send_s)
            except MailNotSentError as error:
                self.look_at_reason(error, (_CODE,))
            else:
                raise PluginFaultError(
                    "test_a_mute_server_holds_nobody_up",
                    "send returned though the server did not answer: nobody knows whether it has "
                    "the mail. Raise MailNotSentError.",
                )

    @check("mail-contract.md#mailersend")
    async def test_heeds_its_cancellation(self) -> None:
        """``send`` ends within :attr:`leave_s` of being cancelled."""
        async with self._opened() as mailer:
            await self.optional(self.mute_server, "mute_server")
            await self.cancel_step(partial(mailer.send, mail()), "send", MailNotSentError)

    @check("mail-contract.md#mailer")
    async def test_leaves_nothing_running(self) -> None:
        """Once a mail is sent, no task and no thread of the mailer runs on."""
        async with self._opened() as mailer:
            leftovers = Leftovers()
            await self._send(mailer, mail())
            if left := await leftovers.wait(self.patience_s):
                raise PluginFaultError(
                    "test_leaves_nothing_running",
                    f"The mail is sent, but this still runs: {', '.join(left)}.",
                )


def _lines(text: str) -> list[str]:
    """The lines of a text, for comparison: mail changes line ends, and adds one at the end."""
    return text.strip().splitlines()
