"""Whatever is typed, the simulated modem neither breaks nor grows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.lab.modem.at.keyboard import INPUT_OCTETS_MAX
from risala.lab.modem.modem_state import OUTPUT_OCTETS_MAX
from risala.lab.modem.quirks import SICK
from risala.lab.modem.world.profiles import PROFILES

WORDS = (
    b"AT", b"+CMGS=", b"+CMGW=", b"+CMGL=", b"+CMGR=", b"+CMGD=", b"+CMGF=1", b"+CMGF=0", b"+CNMI=",
    b"+CNMI=2,2,0,1,0", b"+CSMS=1", b"+CNMA", b"+CPMS=", b'"SM"', b'"ME"', b'"SR"', b"+CSCS=",
    b'"UCS2"', b'"HEX"', b"+CSMP=", b"+CSCA=", b"+CUSD=1,", b"+CPIN=", b"+COPS=", b"+CFUN=1,1",
    b"+CLAC", b"^CURC=", b"=?", b"?", b"=", b",", b";", b"\r", b"\n", b"\x1a", b"\x1b", b"\x08",
    b"A/", b"E1", b"E0", b"V0", b"V1", b"S3=", b"S4=", b"0", b"1", b"14", b"17", b"49", b"255",
    b"00110000910000A7", b"0011000B912222361234560000A70441F45B0D", b'"+22236123456"', b"AT+CMSS=1",
)  # fmt: skip

typed = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=40)), max_size=60)


@pytest.mark.slow
@given(name=st.sampled_from(sorted(PROFILES)), pieces=typed, reads=st.booleans())
@settings(deadline=None, max_examples=examples(300))
def test_anything_may_be_typed(new_desk, name, pieces, reads):
    desk = new_desk(name, quirks=tuple(SICK.values()) if name == "sick" else ())
    modem = desk.modem
    modem.network.send("+22236999999", "hello " * 40)
    for piece in pieces:
        modem.receive(piece)
        if reads:
            assert len(modem.take_output()) <= OUTPUT_OCTETS_MAX
        desk.now_s += 0.3
        modem.advance()
    desk.wait(200)
    assert len(modem.take_output()) <= OUTPUT_OCTETS_MAX
    # It is a modem still: out of whatever it was in, and back to how it began.
    modem.receive(b"\x1b\r\r")
    modem.power.restart("test")
    desk.wait(60)
    for _ in range(30):
        if "OK" in desk.type("AT\r", for_s=200):
            return
    raise AssertionError("it answers no more")


@pytest.mark.slow
@given(octets=st.binary(min_size=1, max_size=50))
@settings(deadline=None, max_examples=examples(50))
def test_endless_input_is_bounded(new_desk, octets):
    desk = new_desk(scan_s=1000)
    desk.modem.receive(b"AT+COPS=?\r")
    for _ in range(3 * INPUT_OCTETS_MAX // len(octets) // 8):
        desk.modem.receive(octets * 8)
    keyboard = desk.modem._voice._keyboard
    assert len(keyboard._input) <= INPUT_OCTETS_MAX
    assert len(desk.modem.take_output()) <= OUTPUT_OCTETS_MAX
