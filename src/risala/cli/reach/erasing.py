"""A running deletion: done unit by unit, with its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.upkeep import erasure_progress
from risala.engine.model.records.upkeep.erasure_progress import ErasureProgress, ErasureState

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


async def erase_units(session: GatewaySession, erasure_id: str) -> Reply[ErasureProgress]:
    """Do one unit after the other. A running service does so too, and continues if something has to
    be waited for."""
    while True:
        done = await session.ask(erasure_progress.RUN, erasure_id=erasure_id)
        erasure = done.value.erasure
        if done.value.waits or erasure.state is ErasureState.DONE:
            return Reply(erasure, done.json["erasure"])


def report_erased(erasure: ErasureProgress) -> None:
    for what, count in erasure.gone.items():
        output.said(f"{what}: {count}")
    if erasure.state is ErasureState.DONE:
        output.said("Done.")
    else:
        output.said(
            "The rest is with a carrier. A running service continues when the carrier has finished."
        )
