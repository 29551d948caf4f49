"""The yardstick: a bare Quart-trio JSON route on stock Hypercorn, which stores nothing."""

from __future__ import annotations

import sys

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart import request
from quart_trio import QuartTrio

app = QuartTrio("bare")


@app.post("/api/sms")
async def echo() -> dict[str, object]:
    body = await request.get_json()
    return {"accepted": True, "to": body["to"]}


def main() -> None:
    config = Config()
    config.bind = [f"127.0.0.1:{sys.argv[1]}"]
    config.keep_alive_max_requests = 1_000_000
    config.accesslog = None
    trio.run(serve, app, config)


if __name__ == "__main__":
    main()
