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
from risala.plugins.testing.checks import check
from risala.plugins.testing.faults import PluginFaultError
from risala.plugins.testing.leftovers import Leftovers
from risala.plugins.testing.step_suite import StepSuite

AT_ONCE: Final = 5
"""Mails that are sent at once in the checks."""
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
    """How long a mail may take where the server says nothing."""

    def open_mailer(self) -> AbstractAsyncContextManager[Mailer]:
        """A built mailer, with its server ready."""
        raise NotImplementedError

    async def server_got(self) -> Sequence[Mail]:
        """What the server was given since the mailer was opened, in order."""
        raise NotImplementedError

    async def refuse_mail(self) -> None:
        """Have the server refuse every mail from now on. Optional."""
        raise NotImplementedError

    async def mute_server(self) -> None:
        """Have the server take connections from now on, and say nothing. Optional."""
        raise NotImplementedError

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Mailer]:
        async with self.open_mailer() as mailer:
            if not isinstance(mailer, Mailer):
                raise PluginFaultError(
                    "test_has_its_shape", f"{type(mailer).__name__} is no mailer: it has no send."
                )
            self.tell_about(mailer)
            yield mailer

    async def _send(self, mailer: Mailer, one: Mail) -> None:
        """Have a mail sent that the server takes."""
        try:
            await self.step(partial(mailer.send, one), "send", MailNotSentError)
        except MailNotSentError as error:
            raise PluginFaultError(
                "test_sends",
                f"send raised MailNotSentError({str(error)!r}), though the server takes all.",
            ) from error

    @check("mail-contract.md#mailer")
    async def test_has_its_shape(self) -> None:
        """It has the shape of a Mailer."""
        async with self._opened():
            pass

    @check("mail-contract.md#mailersend")
    async def test_lets_the_loop_run(self) -> None:
        """Nothing that it does holds up the loop."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_answers_in_time(self) -> None:
        """``send`` returns while the server answers at once."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_raises_what_the_contract_names(self) -> None:
        """``send`` raises MailNotSentError, and nothing else."""
        await self._try_one()

    @check("mail-contract.md#mailersend")
    async def test_sends(self) -> None:
        """A mail that the server takes is sent."""
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
                    "send returned, and the server has no mail: return once the mail was taken.",
                )
            for field in ("to", "subject", "text"):
                if _lines(getattr(got[-1], field)) != _lines(getattr(sent, field)):
                    raise PluginFaultError(
                        "test_the_mail_arrives_as_it_is",
                        f"The mail arrived with another {field} than it was sent with.",
                    )

    @check("mail-contract.md#mailersend")
    async def test_each_mail_arrives_once(self) -> None:
        """Several at once arrive, each of them once."""
        async with self._opened() as mailer:
            sent = [mail() for _ in range(AT_ONCE)]
            async with trio.open_nursery() as nursery:
                for one in sent:
                    nursery.start_soon(self._send, mailer, one)
            got = await self._got("test_each_mail_arrives_once")
            if sorted(one.to for one in got) != sorted(one.to for one in sent):
                raise PluginFaultError(
                    "test_each_mail_arrives_once",
                    f"{len(sent)} mails were sent at once, each to somebody else, and {len(got)} "
                    "arrived: each arrives once.",
                )

    async def _got(self, check: str) -> Sequence[Mail]:
        return await self.shown("mail", check, "server_got", self.server_got)

    @check("mail-contract.md#mail")
    async def test_lines_in_a_subject_make_no_header(self) -> None:
        """A subject with a line end makes no header of its own: it is refused, or made harmless."""
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
                    "A subject with a line end in it brought the mail to others. Refuse it, or "
                    "take the line end away.",
                )

    @check("mail-contract.md#mailnotsenterror")
    async def test_says_why(self) -> None:
        """What the server refuses is MailNotSentError, with a sentence that tells no text."""
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
                    "send returned though the server refused the mail: it is never tried again. "
                    "Raise MailNotSentError.",
                )

    @check("mail-contract.md#mailersend")
    async def test_a_mute_server_holds_nobody_up(self) -> None:
        """Where the server says nothing, ``send`` raises MailNotSentError in the end."""
        async with self._opened() as mailer:
            await self.optional(self.mute_server, "mute_server")
            try:
                await self.step(partial(mailer.send, mail()), "send", MailNotSentError, self.send_s)
            except MailNotSentError as error:
                self.look_at_reason(error, (_CODE,))
            else:
                raise PluginFaultError(
                    "test_a_mute_server_holds_nobody_up",
                    "send returned though the server said nothing: nobody knows that it has the "
                    "mail. Raise MailNotSentError.",
                )

    @check("mail-contract.md#mailersend")
    async def test_heeds_its_cancellation(self) -> None:
        """A mail that is under way ends within :attr:`leave_s` of being cancelled."""
        async with self._opened() as mailer:
            await self.optional(self.mute_server, "mute_server")
            await self.cancel_step(partial(mailer.send, mail()), "send", MailNotSentError)

    @check("mail-contract.md#mailer")
    async def test_leaves_nothing_running(self) -> None:
        """Once a mail is sent, no task and no thread of the mailer's goes on."""
        async with self._opened() as mailer:
            leftovers = Leftovers()
            await self._send(mailer, mail())
            if left := await leftovers.wait(self.patience_s):
                raise PluginFaultError(
                    "test_leaves_nothing_running",
                    f"The mail is sent, and there still runs {', '.join(left)}.",
                )


def _lines(text: str) -> list[str]:
    """A text as it is compared: mail has line ends of its own, and one at its end."""
    return text.strip().splitlines()
