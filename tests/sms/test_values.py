from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from risala.sms.values import quickly


@dataclass(frozen=True, slots=True)
class Stop:
    place: str
    minutes: int = 5
    lines: list[str] = field(default_factory=list)
    note: str = field(default="", repr=False)


stop = quickly(Stop)


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (stop("Ksar"), Stop("Ksar")),
        (stop("Ksar", 7, ["4"], "x"), Stop("Ksar", 7, ["4"], "x")),
        (stop(place="Ksar", note="x"), Stop(place="Ksar", note="x")),
    ],
)
def test_it_is_what_the_class_itself_makes(made, same):
    assert type(made) is Stop
    assert made == same
    assert repr(made) == repr(same)
    assert replace(made, minutes=1) == replace(same, minutes=1)


def test_it_is_frozen():
    with pytest.raises(FrozenInstanceError):
        stop("Ksar").minutes = 6
    with pytest.raises(FrozenInstanceError):
        del stop("Ksar").minutes


def test_defaults_are_made_anew():
    stop("Ksar").lines.append("4")
    assert stop("Ksar").lines == []


def test_what_is_missing_or_too_much_is_told():
    with pytest.raises(TypeError, match="place"):
        stop()
    with pytest.raises(TypeError, match="colour"):
        stop("Ksar", colour="red")


def test_a_class_with_other_slots_is_refused_at_the_first_try():
    @dataclass(frozen=True)
    class Roomy:
        place: str

    with pytest.raises(TypeError, match="layout"):
        quickly(Roomy)("Ksar")
