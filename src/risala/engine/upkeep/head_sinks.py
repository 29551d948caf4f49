"""Gives the signed heads of the audit trail to sinks that take them: each one, in its order, until
it is taken."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.engine.journal.audit.trail import AuditRepository
from risala.engine.model.errors import StorageUnusable, Unavailable
from risala.engine.upkeep.trail_heads import FIRST_S, LOOK_S
from risala.plugins.sink import AuditHeadSink, SinkUnavailableError

log = structlog.get_logger(__name__)

AFTER_S: Final = 60.0
"""After the look that makes a head, so that it is there."""
DEADLINE_S: Final = 30.0
"""For one head, which is a line."""


class HeadSink:
    """Gives one sink its heads; where it has come is stored, so that a restart leaves none out.

    Args:
        name: the sink's, in the settings.
        inline: work on the loop's thread, as a mock clock needs it.
    """

    def __init__(
        self,
        name: str,
        sink: AuditHeadSink,
        stored: AuditRepository,
        directory: Path,
        *,
        inline: bool,
    ) -> None:
        self._name = name
        self._sink = sink
        self._stored = stored
        self._directory = directory
        self._inline = inline

    async def run(self) -> None:
        """Look for heads that are not taken yet, until cancelled."""
        await trio.sleep(FIRST_S + AFTER_S)
        while True:
            try:
                await self._give()
            except (SinkUnavailableError, Unavailable, StorageUnusable) as error:
                log.warning("audit.head.kept", sink=self._name, reason=str(error))
            except trio.TooSlowError:
                log.warning("audit.head.kept", sink=self._name, reason="It took too long.")
            except Exception as error:  # noqa: BLE001 -- its bug, which ends nobody else
                kind = type(error).__name__
                log.error("audit.head.kept", sink=self._name, reason=f"It raised {kind}.")
            await trio.sleep(LOOK_S)

    async def _give(self) -> None:
        taken = self._stored.head_taken(self._name)
        read = partial(self._stored.sent_heads, self._directory)
        sent = read() if self._inline else await trio.to_thread.run_sync(read)
        for head in sent:
            if head.end.seq > taken:
                with trio.fail_after(DEADLINE_S):
                    await self._sink.take_audit_head(head.text)
                await self._stored.note_head_taken(self._name, head.end.seq)
