"""Which network a number is counted with."""

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

from cases import sweep
from risala.sms.numbering.countries import UNKNOWN, network
from risala.sms.numbering.plan import plan_of


@sweep(
    ("recipient", "name"),
    [
        ("+22236123456", "mattel"),
        ("+22246123456", "mauritel"),
        ("+22226123456", "chinguitel"),
        ("+22235123456", "+222"),  # a fixed line
        ("+33612345678", "+33"),
        ("+221771234567", "+221"),
        ("+12025550123", "+1"),
        ("+79161234567", "+7"),
        ("22236123456", UNKNOWN),
        ("+", UNKNOWN),
        ("", UNKNOWN),
        ("+2223612345a", UNKNOWN),
        ("+٢٢٢٣٦١٢٣٤٥٦", UNKNOWN),
        ("RISALA", UNKNOWN),
    ],
)
def test_a_number_is_counted_with_its_network_or_its_country(recipient, name):
    assert network(recipient) == name


def test_a_network_abroad_is_named_with_its_country():
    plan_of(("SN", "FR"))
    assert network("+221771234567") == "SN/Orange"
    assert network("+33689123456") == "FR/Orange France"
    assert network("+221331234567") == "+221"  # no mobile number
    assert network("+22236123456") == "mattel"


@sweep("code", sorted(COUNTRY_CODE_TO_REGION_CODE))
def test_every_country_code_is_known_by_its_length(code):
    assert network(f"+{code}0000000") == f"+{code}"
