"""The ways through the first run: a conversation, a file of answers, a page."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import trio

from risala.cli.first_run import service
from risala.cli.first_run.conversation import Conversation
from risala.cli.first_run.finishing import Finish
from risala.cli.first_run.settings import SettingsFile, text_of
from risala.cli.first_run.trials import MachineTrials
from risala.cli.reach import session
from risala.cli.reach.options import Options
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.config.faults import ConfigError
from risala.config.secrets import resolve_secrets
from risala.engine.model.records import ledger
from risala.engine.model.records.people import organizations, users
from risala.http.first_run.answers import Answers, Wrong, country
from risala.http.first_run.progress import (
    FirstRunEnd,
    Stage,
    StageKind,
    Trials,
    read_step,
    with_needs,
)
from risala.http.first_run.questions import QUESTIONS, STEPS

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession
    from risala.config.model import Settings

_MARKS: Final = {StageKind.NOW: "…", StageKind.DONE: "✓", StageKind.ODD: "!", StageKind.BAD: "✗"}
_COLOURS: Final = {StageKind.DONE: "green", StageKind.ODD: "yellow", StageKind.BAD: "red"}
_ENDED: Final = "Nothing was written."
_NO_COUNTRY: Final = (
    "The time zone and the language of this machine name none. Give its two letters:"
    ' --country KE, or a line country = "KE" in the file of answers.'
)


class FirstRun:
    """One run of ``risala init``.

    Args:
        path: the settings' file.
        data: the data directory; None: the settings say it.
        country: the answer to the first question, as it was typed; None: it is asked.
        tries: also try out the answers.

    Raises:
        CommandRefused: there is no such folder, or no such country.
    """

    def __init__(
        self, path: Path, data: Path | None, *, country: str | None, tries: bool, as_json: bool
    ) -> None:
        if not path.parent.is_dir():
            raise CommandRefused(f"There is no folder {path.parent}. Make it first.")
        self._path, self._tries, self._as_json = path, tries, as_json
        self._given = {} if country is None else {"country": _country(country)}
        self._file = SettingsFile.at(path)
        is_of_unit = path == service.SYSTEM_FILE  # its unit names the data directory
        self._keeps_data = data is not None or (not self._file.text and not is_of_unit)
        if data is None and is_of_unit and "storage" not in self._file.tree:
            data = service.SYSTEM_DATA
        elif data is None and not self._file.text:
            data = Path("risala-data")
        self._data = (data or self._settings(None).storage.data_dir).absolute()
        self._is_running = session.run_async(lambda: service.is_running(self._data))
        self._trials = MachineTrials(is_running=self._is_running)

    def _settings(self, data: Path | None) -> Settings:
        return Options(data, self._path, self._as_json).settings()

    # -- the ways

    def by_conversation(self) -> None:
        """Ask in the terminal."""
        try:
            talk = Conversation(self._trials, self._present_answers(), tries=self._tries)
            talk.answers |= self._given
            talk.ask()
            if not talk.confirmed(str(self._path)):
                raise CommandRefused(_ENDED)
        except click.Abort:
            raise CommandRefused(f"\n{_ENDED}") from None
        self._run(lambda finish, nursery: finish.run(talk.answers, nursery), stays=True)

    def by_file(self, answers: Path | None) -> None:
        """Take the answers of a file."""
        entered, standing = read_answers(answers) | self._given, self._present_answers()

        async def main(finish: Finish, nursery: trio.Nursery) -> FirstRunEnd:
            merged = await checked(entered, standing, self._trials, tries=self._tries)
            return await finish.run(merged, nursery)

        self._run(main, stays=False)

    def by_page(self, port: int) -> None:
        """Ask on a page."""
        from risala.cli.first_run.page import serve_page

        standing = self._present_answers()

        async def main(finish: Finish, nursery: trio.Nursery) -> FirstRunEnd:
            return await serve_page(finish, nursery, self._trials, standing, self._given, port)

        self._run(main, stays=True)

    def _run(
        self, main: Callable[[Finish, trio.Nursery], Awaitable[FirstRunEnd]], *, stays: bool
    ) -> None:
        """The questions that are still to be asked, and the end.

        Args:
            stays: a service that was started for it goes on until Ctrl-C.
        """

        async def within() -> None:
            async with until_signal(), trio.open_nursery() as nursery:
                finish = Finish(self._file, self._data, self._report, keeps_data=self._keeps_data)
                await self._conclude(await main(finish, nursery), finish, stays=stays)
                nursery.cancel_scope.cancel()

        session.run_async(within)

    # -- what is known

    def _present_answers(self) -> dict[str, str]:
        """The answers that the settings and the data have already."""
        present = self._file.present_answers()
        if not self._file.text:
            return present
        from risala.engine.wiring.foundation import DATABASE  # the whole engine comes with it

        # What root opens, the service's own user could not open any longer.
        may_open = self._is_running or service.is_ours(self._data)
        if may_open and (self._data / DATABASE).exists():
            with suppress(CommandRefused):
                present |= session.run(self._settings(self._data), _people, quiet=True)
        return present

    # -- the end in a terminal

    async def _conclude(self, ended: FirstRunEnd, finish: Finish, *, stays: bool) -> None:
        """Print the link, and stay with a service that runs here.

        Raises:
            CommandRefused: the message did not arrive.
        """
        self._tell(ended)
        if not ended.is_well:
            output.warned("Once you know why, answer again: risala init")
        if stays and finish.child is not None:
            output.warned("Risala runs here until you press Ctrl-C.")
            await finish.child.wait()
        if not ended.is_well:
            raise CommandRefused("The SMS did not arrive.")

    def _report(self, stage: Stage) -> None:
        """Print a stage of the end."""
        if self._as_json:  # stdout has nothing but the answer
            return
        text = f"{_MARKS[stage.kind]} {output.clean(stage.english)}"
        click.echo(click.style(text, fg=_COLOURS.get(stage.kind)))

    def _tell(self, ended: FirstRunEnd) -> None:
        report = {
            "path": str(self._path),
            "organizationId": ended.organization_id,
            "messageId": ended.message_id,
            "status": ended.status,
            "url": ended.url,
            "key": ended.key,
        }
        if output.show(self._as_json, report):
            return
        is_elsewhere = ended.local_url != ended.url
        for about, text in (
            ("This key sends messages. It is shown now and never again:", ended.key),
            ("For example:", ended.curl),
            ("The next time, this starts the service:", ended.start),
            ("Open this link within ten minutes. It signs you in, once:", ended.url),
            ("On this machine itself it is:", ended.local_url if is_elsewhere else ""),
        ):
            if text:
                output.warned(about)
                click.echo(text)


def _country(typed: str) -> str:
    try:
        return country(typed, {})
    except Wrong as wrong:
        raise CommandRefused(str(wrong)) from None


async def _people(service: GatewaySession) -> dict[str, str]:
    answers: dict[str, str] = {}
    operators = (await service.ask(users.LIST, operator=True)).value.users
    if operators:
        answers["operator"] = operators[0].email
    now = (await service.ask(ledger.SHOW_PAYER)).value
    answers |= {"payer": now.payer, "parts_per_day": str(now.self_parts_per_day)}
    first = (await service.ask(organizations.LIST, limit=1)).value.organizations
    if first:
        answers["organization"] = first[0].name
    return answers


# The first run without questions: answers from a file, for machines that scripts set up.


def read_answers(path: Path | None) -> dict[str, str]:
    """The answers of a file, by the questions' names; none without a file.

    Raises:
        CommandRefused: it cannot be read, or has keys that no question has.
    """
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        # A password may come from the environment: smpp_password_env = "NAME".
        table = resolve_secrets(table)
    except OSError as error:
        raise CommandRefused(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CommandRefused(f"{path} is not TOML: {error}.") from None
    except ConfigError as error:
        raise CommandRefused(str(error)) from None
    unknown = [_unknown(name) for name in table if name not in QUESTIONS]
    if unknown:
        raise CommandRefused("\n".join(unknown))
    return {name: text_of(value) for name, value in table.items()}


def _unknown(name: str) -> str:
    near = get_close_matches(name, QUESTIONS, n=1)
    like = f"Did you mean {near[0]}?" if near else "There are: " + ", ".join(QUESTIONS) + "."
    return f"{name} is no question. {like}"


async def checked(
    entered: Answers, standing: Answers, trials: Trials, *, tries: bool
) -> dict[str, str]:
    """All answers: those that are given, those that stand, and the usual ones.

    Args:
        tries: also try them out.

    Raises:
        CommandRefused: some cannot be used; it names every one.
    """
    answers, wrong = dict(standing), list[str]()
    for step in STEPS:
        if not step.when(answers):
            continue
        answers, faults = read_step(step, entered, with_needs(trials, answers), standing)
        if "country" in faults:  # money and numbers are read by it
            why = f"country: {faults['country']}"
            raise CommandRefused(why if entered.get("country") else f"{why} {_NO_COUNTRY}")
        wrong += [f"{name}: {fault}" for name, fault in faults.items()]
        if tries and not faults:
            try:
                await trials.attempt(step, answers, standing)
            except Wrong as fault:
                wrong.append(f"{step.name}: {fault}")
    if wrong:
        raise CommandRefused("\n".join(wrong))
    return answers
