"""Routers with a SIM, as the laboratory plays them: a row each, from their documents."""

from __future__ import annotations

from typing import Final

from risala.lab.aggregators.row import (
    ACCESS_TOKEN,
    USER,
    Aggregator,
    AggregatorCallback,
    by_basic,
    by_header,
)

MODEM: Final = "1-1"
"""The modem of the RutOS router."""
PORT: Final = "lte1"
"""The interface of the MikroTik router that has the SIM."""

RUTOS: Final = Aggregator(
    name="rutos",
    send="/api/messages/actions/send",
    proved=by_header("authorization", f"Bearer {ACCESS_TOKEN}"),
    tokens="/api/login",
    login={
        "success": True,
        "data": {"username": USER, "group": "root", "expires": 299, "token": ACCESS_TOKEN},
    },
    to="/data/number",
    sender="=",
    text="/data/message",
    answer={"success": True, "data": {"sms_used": "{parts#}"}},
    inbound=AggregatorCallback({"sender": "{from}", "text": "{text}"}, path="/inbound"),
    looks={"/api/session/status": {"success": True, "data": {"active": True}}},
    no_account={"success": False, "errors": [{"error": "Unauthorized", "source": "Authorization"}]},
)

MIKROTIK: Final = Aggregator(
    name="mikrotik",
    send="/rest/tool/sms/send",
    proved=by_basic,
    to="/phone-number",
    sender="=",
    text="/message",
    answer="[]",
    looks={"/rest/system/resource": {"board-name": "hAP ax lite LTE6", "version": "7.16"}},
    no_account={"error": 401, "message": "Unauthorized"},
)
