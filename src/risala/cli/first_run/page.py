"""The first run on a page: its address, and what follows when its reader is done."""

from __future__ import annotations

from functools import partial
from typing import Final

import click
import trio

from risala.cli.first_run.finishing import Finish
from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.config.model import HttpSection
from risala.http.first_run.answers import Answers
from risala.http.first_run.app import FirstRunApp
from risala.http.first_run.page import ROOT
from risala.http.first_run.progress import (
    FinishFailed,
    FirstRunEnd,
    FirstRunProgress,
    Report,
    Stage,
    Trials,
)
from risala.http.server.server import serve_app
from risala.http.server.sockets import ListenError, base_url, listen_tcp

LOOPBACK: Final = "127.0.0.1"
"""The only address that the page listens on."""
LIFE_S: Final = 3600.0
"""Seconds for all questions; then the page is closed."""
_LEAVE_S: Final = 1.0
"""Seconds for the last answers to leave: browsers keep their connections open."""
_LAST_S: Final = 30.0
"""Seconds for the reader to see how it ended."""


async def serve_page(
    finish: Finish,
    nursery: trio.Nursery,
    trials: Trials,
    standing: Answers,
    beforehand: Answers,
    port: int,
) -> FirstRunEnd:
    """Serve the page until its reader is done. A service that it starts runs until ``nursery`` is
    cancelled.

    Args:
        standing: the answers that the settings have already.
        beforehand: answers that came with the command; they go before.

    Raises:
        CommandRefused: the port cannot be used, or nobody finished in time.
    """
    log_to_stderr()
    try:
        sock = listen_tcp(LOOPBACK, port)
    except ListenError as error:
        raise CommandRefused(str(error)) from None
    over = trio.Event()
    progress = FirstRunProgress(standing, trials, partial(_finish, finish, nursery))
    progress.answers |= beforehand
    http = HttpSection(graceful_stop_s=_LEAVE_S)
    async with trio.open_nursery() as inner:
        app = FirstRunApp(progress, http, over)
        await inner.start(partial(serve_app, app, http, sock=sock, shutdown=over))
        output.warned("Open this address in a browser on this machine. It works once:")
        click.echo(f"{base_url(sock)}{ROOT}/{progress.token}")
        inner.start_soon(trials.choices, "modem_port")  # silent ports take their time
        with trio.move_on_after(LIFE_S):
            await progress.run()
            with trio.move_on_after(_LAST_S):
                await over.wait()
        over.set()
    if progress.ended is None:
        raise CommandRefused("Nobody finished the questions within an hour. Start again.")
    return progress.ended


async def _finish(
    finish: Finish, nursery: trio.Nursery, answers: Answers, report: Report
) -> FirstRunEnd:
    def both(stage: Stage) -> None:
        report(stage)
        shown(stage)

    shown, finish.report = finish.report, both
    try:
        return await finish.run(answers, nursery)
    except CommandRefused as refused:
        click.echo(click.style(refused.message, fg="red"), err=True)
        raise FinishFailed(refused.message) from None
    finally:
        finish.report = shown
