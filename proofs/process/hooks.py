"""Customers' own servers: ``python -m proofs.process.hooks PORT`` takes whatever is posted to it.

Each call is a line of JSON on standard output before it is answered, so that whoever kills this
process loses nothing of what it had taken.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Final

import h11
import trio

REPLY: Final = "Reply to "
"""How their replies to texts begin; the text's id follows."""
_ANSWER_S: Final = 0.005
"""A customer's server takes a moment, in which the caller may be killed."""


async def _serve(stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER)
    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65536))
        elif isinstance(event, h11.Request):
            head, body = event, b""
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            _tell(head, body)
            await trio.sleep(_ANSWER_S)
            answer = _answer(head.target.decode(), body)
            await stream.send_all(b"".join(connection.send(each) or b"" for each in answer))
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
        else:
            return


def _answer(target: str, body: bytes) -> tuple[h11.Event, ...]:
    """Thanks; and what the person is replied, where the event is of a text. Each server has another
    reply, which names the text."""
    told = json.loads(body) if body.startswith(b"{") else {}
    if told.get("type") not in ("sms.received", "conversation.received"):
        return h11.Response(status_code=204, headers=[], reason=b"Taken"), h11.EndOfMessage()
    reply = json.dumps({"reply": f"{REPLY}{told['messageId']} by {target}"}).encode()
    headers = [("content-type", "application/json"), ("content-length", str(len(reply)))]
    return (
        h11.Response(status_code=200, headers=headers, reason=b"Taken"),
        h11.Data(data=reply),
        h11.EndOfMessage(),
    )


def _tell(head: h11.Request, body: bytes) -> None:
    headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
    called = {"target": head.target.decode(), "headers": headers, "body": body.decode()}
    print(json.dumps({"event": "Called", **called}), flush=True)


async def _one(stream: trio.SocketStream) -> None:
    try:
        await _serve(stream)
    except (trio.BrokenResourceError, h11.RemoteProtocolError):
        pass
    finally:
        await trio.aclose_forcefully(stream)


async def _main(port: int) -> None:
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, _one, port, host="127.0.0.1")
        listeners = await nursery.start(serve)
        port = listeners[0].socket.getsockname()[1]
        print(json.dumps({"event": "Listening", "port": port}), flush=True)


if __name__ == "__main__":
    trio.run(_main, int(sys.argv[1]))
