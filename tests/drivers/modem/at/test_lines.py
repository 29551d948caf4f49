"""Headers of PDUs and texts, and what may be the line that they announce."""

import pytest

from risala.drivers.modem.at.lines import PduHeader, pdu_header_of


@pytest.mark.parametrize(
    ("line", "tpdu_octets"),
    [
        ("+CMT: ,24", 24),
        ("+CMT: ,1", 1),
        ('+CMT: "a:b",24', 24),
        ('+CMGR: 1,"Bank",24', 24),
        ('+CMT: "+22236123456",,"26/11/20,12:00:00+00"', None),
        ('+CMGR: "REC READ",,24', None),
    ],
)
def test_a_header_tells_how_long_its_pdu_is_or_that_a_text_follows(line, tpdu_octets):
    name = line.partition(":")[0]
    assert pdu_header_of(name, line) == PduHeader(name, line, tpdu_octets)


@pytest.mark.parametrize(
    "line", ["+CMGR: 0,,0", "+CMGR: 0,,", '+CDS: 6,7,"+22236123456",145', "+CSQ: 9,99"]
)
def test_behind_these_nothing_follows(line):
    assert pdu_header_of(line.partition(":")[0], line) is None


def test_an_announced_length_is_with_or_without_the_service_centre():
    header = PduHeader("+CMT", "+CMT: ,20", 20)
    assert header.is_exactly("00" * 20)
    assert header.is_exactly("00" * 21)
    assert header.is_exactly("10" + "00" * (16 + 20))
    assert not header.is_exactly("00" * 22)
    assert not header.is_exactly("00" * 20 + "0")


def test_a_pdu_of_another_length_begins_with_a_length_that_can_be():
    header = PduHeader("+CMT", "+CMT: ,20", 20)
    assert header.may_be("0C" + "00" * 30)
    assert not header.may_be("0D" + "00" * 30)
    assert not header.may_be("89222012345678901234")
    assert PduHeader("+CMT", "+CMT: x", None).may_be("any text")
