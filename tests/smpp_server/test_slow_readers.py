"""Customers that never read: they cost a bounded amount of memory, and lose their session."""

import trio
from trio.testing import lockstep_stream_one_way_pair, memory_stream_one_way_pair

from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import BindTransceiver, EnquireLink
from smpp_peers.house import PASSWORD, submit

FLOOD = 50_000


async def test_who_asks_and_never_reads_is_disconnected(open_premises, autojump_clock):
    premises = open_premises(window_max=10, response_timeout_s=10)
    to_us, ours_in = memory_stream_one_way_pair()
    ours_out, never_read = lockstep_stream_one_way_pair()
    wire = trio.StapledStream(ours_out, ours_in)
    async with premises.serving(wire) as session:
        await to_us.send_all(encode(BindTransceiver("shop", PASSWORD), 1))
        await never_read.receive_some(1024)
        ask = encode(EnquireLink(), 2) + encode(submit(), 3)
        await to_us.send_all(ask * FLOOD)
        await session.link.wait_ended()
        assert session.link.reason == "the peer takes no more octets"
        # What was read of the flood is what our answers to it may take, and no more.
        assert session.link._unwritten_octets < 512 * 1024
    assert len(premises.engine.taken) < FLOOD / 2
    assert trio.current_time() < 60
