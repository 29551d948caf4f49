"""Builds what makes, checks and sends mailings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from risala.engine.features.lists.growing import write_rows
from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.intake.intake import Intake
from risala.engine.journal.recorder import Recorder
from risala.engine.mailings.mailing_checking import MailingChecking
from risala.engine.mailings.mailing_sending import MailingNews, MailingSending
from risala.engine.mailings.mailing_sources import MailingSources
from risala.engine.mailings.mailings import MailingService
from risala.engine.mailings.table_files import TableFiles
from risala.engine.mailings.uploads import Uploads
from risala.engine.rules.router import Router
from risala.engine.wiring.foundation import Foundation, Owners


def mailings_of(
    core: Foundation,
    owners: Owners,
    recorder: Recorder,
    intake: Intake,
    router: Router,
    paces: Callable[[], Mapping[str, float]],
) -> MailingService:
    """Build it; its tasks are started with the service alone."""
    clock, ids, inline = core.seams.clock, core.seams.ids, core.seams.inline_journal
    data_dir = Path(core.settings.storage.data_dir)
    bytes_max = core.settings.limits.stored_bytes
    uploads = Uploads(
        data_dir,
        clock,
        ids,
        core.repositories.mailings.uploads,
        lambda owner: bytes_max - core.repositories.mailings.limited_bytes(owner),
        inline=inline,
    )
    lists = core.repositories.part(RecipientListRepository)
    sources = MailingSources(
        settings=core.settings,
        clock=clock,
        ids=ids,
        accounts=core.accounts,
        intake=intake,
        mailings=core.repositories.mailings,
        router=router,
        uploads=uploads,
        write_list=partial(write_rows, lists, inline=inline),
        set_aside=core.set_aside,
        paces=paces,
        read=core.seams.read_table,
        write_report=core.seams.write_report,
    )
    files = TableFiles(sources)
    checking = MailingChecking(sources, files, inline=inline)
    news = MailingNews(core.accounts.changed, owners.credits, recorder.life)
    return MailingService(sources, files, checking, MailingSending(sources, news))
