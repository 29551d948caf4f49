"""The ways through the first run: a conversation, a file of answers, a page."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import trio

from risala.cli.first_run import service
from risala.cli.first_run.conversation import Conversation
from risala.cli.first_run.finishing import Finish
from risala.cli.first_run.settings import SettingsFile
from risala.cli.first_run.trials import MachineTrials
from risala.cli.reach import session
from risala.cli.reach.options import Options
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.config.faults import ConfigError
from risala.config.secrets import resolve_secrets
from risala.engine.model.records import payer
from risala.engine.model.records.people import organizations, users
from risala.http.first_run.asking import Trials, read_step
from risala.http.first_run.ending import FirstRunEnd, Stage, StageKind
from risala.http.first_run.questions import QUESTIONS, STEPS
from risala.http.first_run.reading import NO, YES, Answers, Wrong

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_MARKS: Final = {StageKind.NOW: "…", StageKind.DONE: "✓", StageKind.ODD: "!", StageKind.BAD: "✗"}
_COLOURS: Final = {StageKind.DONE: "green", StageKind.ODD: "yellow", StageKind.BAD: "red"}
_ENDED: Final = "Nothing was written."


@dataclass(slots=True)
class FirstRun:
    """One run of ``risala init``.

    Args:
        path: the settings' file.
        data: the data directory; None: the settings say it.
        tries: also try out the answers.
    """

    path: Path
    data: Path | None
    tries: bool
    as_json: bool
    file: SettingsFile = field(init=False)
    is_running: bool = field(init=False, default=False)
    _asks_data: bool = field(init=False, default=False)
    """Whether the data directory was named."""

    def __post_init__(self) -> None:
        if not self.path.parent.is_dir():
            raise CommandRefused(f"There is no folder {self.path.parent}. Make it first.")
        self.file = SettingsFile.at(self.path)
        self._asks_data = self.data is not None
        self.data = (self._data() if self.data is None else self.data).absolute()
        self.is_running = session.run_async(lambda: service.is_running(self._directory))

    @property
    def _directory(self) -> Path:
        assert self.data is not None
        return self.data

    def _data(self) -> Path:
        if self.path == service.SYSTEM_FILE and "storage" not in self.file.tree:
            return service.SYSTEM_DATA
        if not self.file.text:
            return Path("risala-data")
        return self._options.settings().storage.data_dir

    @property
    def _options(self) -> Options:
        return Options(self.data, self.path, self.as_json)

    @property
    def trials(self) -> MachineTrials:
        return MachineTrials(is_running=self.is_running)

    # -- the ways

    def by_conversation(self) -> None:
        """Ask in the terminal."""
        try:
            talk = Conversation(self.trials, self.present_answers(), tries=self.tries)
            talk.ask()
            if not talk.confirmed(str(self.path)):
                raise CommandRefused(_ENDED)
        except click.Abort:
            raise CommandRefused(f"\n{_ENDED}") from None
        answers = talk.answers
        self._run(lambda: self._finish(answers, stays=True))

    def by_file(self, answers: Path | None) -> None:
        """Take the answers of a file."""
        given, standing = read_answers(answers), self.present_answers()

        async def main() -> None:
            found = await checked(given, standing, self.trials, tries=self.tries)
            await self._finish(found, stays=False)

        self._run(main)

    def by_page(self, port: int) -> None:
        """Ask on a page."""
        from risala.cli.first_run.page import serve_page

        standing = self.present_answers()
        self._run(lambda: serve_page(self, standing, port))

    def _run(self, main: Callable[[], Awaitable[None]]) -> None:
        async def within() -> None:
            async with until_signal():
                await main()

        session.run_async(within)

    # -- what is known

    def present_answers(self) -> dict[str, str]:
        """The answers that the settings and the data have already."""
        found = self.file.present_answers()
        if not self.file.text:
            return found
        from risala.engine.wiring.foundation import DATABASE  # the whole engine comes with it

        # What root opens, the service's own user could not open any longer.
        may_open = self.is_running or service.is_ours(self._directory)
        if may_open and (self._directory / DATABASE).exists():
            with suppress(CommandRefused):
                found |= session.run(self._options.settings(), _people, quiet=True)
        return found

    def finish(self, report: Callable[[Stage], None]) -> Finish:
        """What follows the questions."""
        is_of_unit = self.path == service.SYSTEM_FILE  # its unit names the data directory
        is_new = not self.file.text and not is_of_unit
        return Finish(self.file, self._directory, report, keeps_data=self._asks_data or is_new)

    async def _finish(self, answers: Answers, *, stays: bool) -> None:
        """The end in a terminal.

        Args:
            stays: a service that was started for it goes on until Ctrl-C.
        """
        async with trio.open_nursery() as nursery:
            finish = self.finish(self.report)
            ended = await finish.run(answers, nursery)
            await self.conclude(ended, finish, stays=stays)
            nursery.cancel_scope.cancel()

    async def conclude(self, ended: FirstRunEnd, finish: Finish, *, stays: bool) -> None:
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

    def report(self, stage: Stage) -> None:
        """Print a stage of the end."""
        if self.as_json:  # stdout has nothing but the answer
            return
        text = f"{_MARKS[stage.kind]} {output.clean(stage.english)}"
        click.echo(click.style(text, fg=_COLOURS.get(stage.kind)))

    def _tell(self, ended: FirstRunEnd) -> None:
        told = {
            "path": str(self.path),
            "organizationId": ended.organization_id,
            "messageId": ended.message_id,
            "status": ended.status,
            "url": ended.url,
            "key": ended.key,
        }
        if output.show(self.as_json, told):
            return
        if ended.key is not None:
            output.warned("This key sends messages. It is shown now and never again:")
            click.echo(ended.key)
            output.warned("For example:")
            click.echo(ended.curl)
        if ended.start:
            output.warned("The next time, this starts the service:")
            click.echo(ended.start)
        output.warned("Open this link within ten minutes. It signs you in, once:")
        click.echo(ended.url)
        if ended.local_url != ended.url:
            output.warned("On this machine itself it is:")
            click.echo(ended.local_url)


async def _people(asked: GatewaySession) -> dict[str, str]:
    found: dict[str, str] = {}
    operators = (await asked.ask(users.LIST, operator=True)).value.users
    if operators:
        found["operator"] = operators[0].email
    now = (await asked.ask(payer.SHOW)).value
    found |= {"payer": now.payer, "parts_per_day": str(now.self_parts_per_day)}
    first = (await asked.ask(organizations.LIST, limit=1)).value.organizations
    if first:
        found["organization"] = first[0].name
    return found


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
    return {name: _text(value) for name, value in table.items()}


def _unknown(name: str) -> str:
    near = get_close_matches(name, QUESTIONS, n=1)
    like = f"Did you mean {near[0]}?" if near else "There are: " + ", ".join(QUESTIONS) + "."
    return f"{name} is no question. {like}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    return str(value)


async def checked(
    given: Mapping[str, str], standing: Answers, trials: Trials, *, tries: bool
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
        answers, faults = read_step(step, given, answers, standing)
        wrong += [f"{name}: {fault}" for name, fault in faults.items()]
        if faults or not tries:
            continue
        try:
            await trials.attempt(step, answers, standing)
        except Wrong as fault:
            wrong.append(f"{step.name}: {fault}")
    if wrong:
        raise CommandRefused("\n".join(wrong))
    return answers
