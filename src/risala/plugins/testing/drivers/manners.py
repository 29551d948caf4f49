"""Checks of a driver's secrets, its optional methods, and how it meets silence and a lost link."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import trio

from risala.plugins.contract import (
    Choosy,
    Commandable,
    CommandRefusedError,
    Declined,
    Paged,
    Uncertain,
)
from risala.plugins.fits import is_block
from risala.plugins.page import PageForm
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.arrivals import DriverArrivalChecks
from risala.plugins.testing.drivers.base import segment
from risala.plugins.testing.drivers.reports import all_reports
from risala.plugins.testing.drivers.stage import OVERDUE_S, DriverStage
from risala.sms.numbering.plan import EXAMPLE

SECRET_CHARACTERS_MIN: Final = 8
"""A shorter sealed note is not looked for: other words may contain it by chance."""
_TEXT: Final = "Votre code est 604718"
_CODE: Final = "604718"


class DriverMannerChecks(DriverArrivalChecks):
    """Checks of secrets, optional methods, silence and a lost link."""

    @check("driver-contract.md#drivercontexttraffic")
    async def test_keeps_texts_to_itself(self) -> None:
        """The driver's reports contain no message text and no code, and lines of traffic no whole
        number."""
        name = "test_keeps_texts_to_itself"
        async with self.running(name) as stage:
            sent = segment(_TEXT)
            outcome = await stage.submit(sent)
            await trio.sleep(self.quiet_s)
            for where, text in all_reports(stage, outcome):
                if _CODE in text or _TEXT in text:
                    raise PluginFaultError(
                        name,
                        f"The message's text stands in {where}. Texts have one-time codes: keep "
                        "them out of all that an operator reads or the journal stores.",
                    )
                if where == "a line of traffic" and sent.recipient[-8:] in text:
                    raise PluginFaultError(
                        name,
                        "The recipient's whole number stands in a line of traffic. Show at most "
                        "its last four digits.",
                    )

    @check("driver-contract.md#health")
    async def test_keeps_secrets_to_itself(self) -> None:
        """The driver's reports and its account contain none of :attr:`secrets`."""
        name = "test_keeps_secrets_to_itself"
        async with self.running(name) as stage:
            if not self.secrets:
                raise NotApplicable("the suite names no secrets")
            outcome = await stage.submit(segment())
            await trio.sleep(self.quiet_s)
            reports = [*all_reports(stage, outcome), ("its account", stage.capabilities.account)]
            for where, text in reports:
                if any(secret in text for secret in self.secrets):
                    raise PluginFaultError(
                        name, f"A secret of the settings stands in {where}, for all to read."
                    )

    @check("driver-contract.md#drivercontextremember_secret")
    async def test_keeps_sealed_notes_to_itself(self) -> None:
        """What the driver remembers sealed stands in none of its reports and in no plain note."""
        name = "test_keeps_sealed_notes_to_itself"
        async with self.running(name) as stage:
            outcome = await stage.submit(segment())
            await trio.sleep(self.quiet_s)
            context = stage.context
            secrets = _sealed(stage)
            if not secrets:
                raise NotApplicable("the driver remembers nothing sealed")
            notes = (("a plain note", each) for each in context.noted)
            for where, text in (
                *all_reports(stage, outcome),
                *notes,
                ("its account", stage.capabilities.account),
            ):
                if any(secret in text for secret in secrets):
                    raise PluginFaultError(
                        name,
                        f"A secret that the driver remembers sealed stands in {where} too. "
                        "Everybody who reads the database or a log has it then.",
                    )

    @check("driver-contract.md#commandable")
    async def test_commands_are_words_and_others_are_refused(self) -> None:
        """Each command has its own name and a sentence; other names are refused."""
        name = "test_commands_are_words_and_others_are_refused"
        async with self.running(name) as stage:
            driver = stage.driver
            if not isinstance(driver, Commandable):
                raise NotApplicable("the driver has no commands")
            names = [each.name for each in driver.commands]
            wrong = [one for one in names if not re.fullmatch(r"[a-z][a-z0-9-]*", one)]
            if wrong or len({*names}) < len(names):
                raise PluginFaultError(
                    name,
                    f"The commands are named {', '.join(names)}. Give each its own name, of "
                    "lower-case letters, digits and hyphens.",
                )
            if not all(each.summary.endswith(".") for each in driver.commands):
                raise PluginFaultError(
                    name, "A command's summary must be a sentence with its stop."
                )
            overdue = PluginFaultError(
                name, f"command did not return within {self.patience_s:g} s for an unknown name."
            )

            async def ask() -> bool:
                try:
                    await driver.command("no-such-command", ())
                except CommandRefusedError:
                    return True
                return False

            if not await self.call(ask, self.patience_s, overdue):
                raise PluginFaultError(
                    name,
                    "command accepted an unknown name. Raise CommandRefusedError.",
                )

    @check("driver-contract.md#paged")
    async def test_its_part_of_the_page_is_made_of_blocks(self) -> None:
        """What it fills of its carrier's page is drawable in each language, asks commands that it
        has, and shows no secret."""
        name = "test_its_part_of_the_page_is_made_of_blocks"
        async with self.running(name) as stage:
            driver = stage.driver
            if not isinstance(driver, Paged):
                raise NotApplicable("the driver fills no part of its carrier's page")
            commands = driver.commands if isinstance(driver, Commandable) else ()
            known = {each.name for each in commands}
            secrets = {*self.secrets, *_sealed(stage)}
            for language in ("en", "fr", "ar"):
                overdue = PluginFaultError(
                    name, f"show did not return within {self.patience_s:g} s ({language})."
                )
                show = partial(driver.console_page.show, PlainPageService(language))
                blocks: object = await self.call(show, self.patience_s, overdue)
                fault = _fault_of_part(blocks, known, secrets)
                if fault is not None:
                    raise PluginFaultError(name, f"{fault} ({language}).")

    @check("driver-contract.md#choosy")
    async def test_declines_says_why_and_until_when(self) -> None:
        """``declines`` answers None, or Declined with a sentence."""
        name = "test_declines_says_why_and_until_when"
        async with self.running(name) as stage:
            if not isinstance(stage.driver, Choosy):
                raise NotApplicable("the driver declines nothing")
            for segments, is_next in ((1, False), (3, True), (255, False)):
                try:
                    answer: object = stage.driver.declines(EXAMPLE, segments, is_next=is_next)
                except Exception as error:
                    raise PluginFaultError(
                        name,
                        f"declines raised {type(error).__name__}: return None or Declined.",
                    ) from error
                if answer is not None and not (isinstance(answer, Declined) and answer.text):
                    raise PluginFaultError(
                        name,
                        f"declines returned a {type(answer).__name__}. Return None to take the "
                        "message, or Declined(text, until_ms) to say why not.",
                    )

    @check("driver-contract.md#uncertain")
    async def test_a_mute_carrier_is_uncertain(self) -> None:
        """A submit that the carrier does not answer is Uncertain, after ``submit_s`` at most."""
        name = "test_a_mute_carrier_is_uncertain"
        async with self.running(name) as stage:
            await self.shown("silence", name, "mute_carrier", self.mute_carrier)
            limit = stage.capabilities.submit_s + OVERDUE_S
            try:
                outcome = await stage.submit(segment("Unanswered"), limit)
            except PluginFaultError as fault:
                if fault.check != "test_submit_answers":
                    raise
                raise PluginFaultError(
                    name,
                    f"The carrier does not answer, and submit did not return within {limit:g} s "
                    "(capabilities.submit_s and 5 s more). The engine has given it up by then.",
                ) from None
            if not isinstance(outcome, Uncertain):
                raise PluginFaultError(
                    name,
                    f"The carrier took the segment and does not answer; submit returned "
                    f"{type(outcome).__name__}. Without an answer nobody knows that: return "
                    "Uncertain, or a phone gets the message twice, or never.",
                )

    @check("driver-contract.md#healthstate")
    async def test_a_lost_link_is_connected_anew(self) -> None:
        """The driver reports a broken link, connects again, and takes new submits."""
        name = "test_a_lost_link_is_connected_anew"
        async with self.running(name) as stage:
            before, after = segment("Before it"), segment("After it")
            await stage.accepted(before)
            known = len(stage.context.healths)
            await self.shown("link", name, "cut_link", self.cut_link)
            with trio.move_on_after(self.patience_s) as scope:
                await stage.context.wait_until(
                    lambda it: (
                        any(one.state != "up" for one in it.healths[known:])
                        and it.healths[-1].state == "up"
                    )
                )
            if scope.cancelled_caught:
                states = [one.state.value for one in stage.context.healths[known:]]
                raise PluginFaultError(
                    name,
                    f"The link broke, and within {self.patience_s:g} s the driver reported "
                    f"{', '.join(states) or 'nothing'}. Report DOWN when it breaks, connect again, "
                    "and report UP.",
                )
            await stage.accepted(after)
            await self.seen_once(stage, (before, after))


class PlainPageService:
    """A :class:`~risala.plugins.page.PageService` without an engine."""

    address = "https://sms.example/carriers/line"
    query: Mapping[str, str] = MappingProxyType({})

    def __init__(self, language: str) -> None:
        self.language = language

    async def do(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        raise PermissionError(f"{operation}: there is no engine here")

    look = do


def _fault_of_part(
    blocks: object, commands: AbstractSet[str], secrets: AbstractSet[str]
) -> str | None:
    if not isinstance(blocks, Sequence) or not all(is_block(each) for each in blocks):
        return "show gave something that is no block, so that the console shows nothing of it"
    forms = [each for each in blocks if isinstance(each, PageForm)]
    strange = next((each.action for each in forms if each.action not in commands), None)
    if strange is not None:
        return f"a form asks the command {strange!r}, which the driver does not have"
    if any(secret in str(each) for secret in secrets for each in blocks):
        return "a secret stands on the page; a command's answer shows one once"
    return None


def _sealed(stage: DriverStage) -> set[str]:
    """What it remembers sealed, as far as it is long enough to be looked for."""
    return {each for each in stage.context.sealed if len(each) >= SECRET_CHARACTERS_MIN}
