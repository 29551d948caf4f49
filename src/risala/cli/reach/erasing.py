"""A running deletion: done unit by unit, with its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


async def erase_units(session: GatewaySession, erasure_id: str) -> Json:
    """Do one unit after the other. A running service does so too, and continues if something has to
    be waited for."""
    while True:
        done = await session.perform("erasure.run", erasure_id=erasure_id)
        if done["waits"] or done["erasure"]["state"] == "done":
            erasure: Json = done["erasure"]
            return erasure


def report_erased(erasure: Json) -> None:
    for what, count in erasure["gone"].items():
        output.said(f"{what}: {count}")
    if erasure["state"] == "done":
        output.said("Done.")
    else:
        output.said("The rest is with a carrier: a running service goes on when that is over.")
