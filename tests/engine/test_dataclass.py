"""Our frozen dataclasses do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, InitVar, field, fields, replace
from typing import ClassVar, Generic, TypeVar

import pytest

from risala import dataclass as ours

T = TypeVar("T")
KINDS = [ours.dataclass, dataclasses.dataclass]


def family(dataclass):
    """Classes with all that dataclasses can have, made by one decorator."""

    @dataclass(frozen=True, slots=True)
    class Point(Generic[T]):
        """A place."""

        TOWNS: ClassVar[int] = 3
        x: T
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False)
        secret: str = field(default="s", repr=False)
        sum: int = field(init=False)
        made: list[int] = field(init=False, default_factory=list, compare=False)
        fixed: int = field(init=False, default=7)

        def __post_init__(self):
            object.__setattr__(self, "sum", self.y + 1)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        name: str
        near: object = None

    @dataclass(frozen=True)
    class Open:
        x: int = field(kw_only=True, default=1)
        y: int = 5

    @dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 5

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True, slots=True, eq=False)
    class Single:
        x: int

    @dataclass(slots=True)
    class Changing:
        x: int

    return Point, Named, Open, Own, Empty, Single, Changing


FAMILIES = [family(kind) for kind in KINDS]


def told(cls):
    return cls.__name__, cls.__doc__, [each.name for each in fields(cls)], cls.__match_args__


@pytest.mark.parametrize("at", range(6))
def test_fields_and_matching_are_those_of_the_standard_library(at):
    mine, theirs = (each[at] for each in FAMILIES)
    assert told(mine)[2:] == told(theirs)[2:]
    assert hasattr(mine, "__slots__") == hasattr(theirs, "__slots__")
    names = [
        (each.name, each.kind, each.default is inspect.Parameter.empty)
        for each in inspect.signature(mine).parameters.values()
    ]
    assert names == [
        (each.name, each.kind, each.default is inspect.Parameter.empty)
        for each in inspect.signature(theirs).parameters.values()
    ]


MADE = [
    lambda kinds: kinds[0](1),
    lambda kinds: kinds[0](1, 3, ["a"], "t"),
    lambda kinds: kinds[0](x=1, tags=["b"]),
    lambda kinds: kinds[1](1, name="n"),
    lambda kinds: kinds[1](1, name="n", near=kinds[2]()),
    lambda kinds: kinds[2](),
    lambda kinds: kinds[2](4, x=2),
    lambda kinds: kinds[3](1),
    lambda kinds: kinds[4](),
]


@pytest.mark.parametrize("make", MADE)
def test_values_are_shown_compared_and_copied_alike(make):
    mine, theirs = (make(kinds) for kinds in FAMILIES)
    assert repr(mine) == repr(theirs)
    assert dataclasses.asdict(mine) == dataclasses.asdict(theirs)
    assert mine == make(FAMILIES[0])
    assert hash(mine) == hash(make(FAMILIES[0]))
    assert copy.copy(mine) == mine
    assert copy.deepcopy(mine) == mine
    assert (mine == 1) == (theirs == 1)
    assert mine is not copy.copy(mine)


def test_equal_means_the_same_class_and_the_same_compared_fields():
    for point, named, *_ in FAMILIES:
        assert point(1, tags=["a"]) == point(1, tags=["b"])
        assert point(1) != point(2)
        assert point(1) != named(1, name="n")
        assert point(1, secret="a") != point(1, secret="b")


def test_nothing_can_be_set_or_deleted():
    for kinds in FAMILIES:
        one = kinds[0](1)
        for name in ("x", "sum"):
            with pytest.raises(FrozenInstanceError):
                setattr(one, name, 5)
            with pytest.raises(FrozenInstanceError):
                delattr(one, name)
        # With slots, one of the standard library's raises a TypeError for what it does not know.
        with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
            one.other = 5
        changing = kinds[6](1)
        changing.x = 2
        assert changing.x == 2


def test_a_class_below_that_is_no_dataclass_sets_what_is_its_own():
    for kinds in FAMILIES:

        class Below(kinds[2]):
            pass

        one = Below()
        one.other = 5
        assert one.other == 5
        del one.other
        for change in (lambda: setattr(one, "x", 5), lambda: delattr(one, "x")):  # noqa: B023
            with pytest.raises(FrozenInstanceError):
                change()


def test_without_eq_each_is_itself():
    for kinds in FAMILIES:
        assert kinds[5](1) != kinds[5](1)


def test_wrong_arguments_are_refused_and_changes_make_another():
    for point, *_ in FAMILIES:
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
            point()
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            point(1, z=2)
        assert replace(point(1), y=9).sum == 10
        with pytest.raises((ValueError, TypeError), match="init=False"):  # from 3.13 on a TypeError
            replace(point(1), sum=9)
        assert point(1).made is not point(1).made


def test_what_holds_itself_is_shown():
    for kinds in FAMILIES:
        held = []
        one = kinds[1](held, name="n")
        held.append(one)
        assert "[...]" in repr(one)


@ours.dataclass(frozen=True, slots=True)
class Pickled:
    x: int
    y: list[int] = field(default_factory=list)


def test_it_is_pickled():
    assert pickle.loads(pickle.dumps(Pickled(1, [2]))) == Pickled(1, [2])


def test_what_is_not_known_is_refused_when_the_class_is_defined():
    with pytest.raises(TypeError, match="order"):

        @ours.dataclass(frozen=True, order=True)
        class _Ordered:
            x: int

    with pytest.raises(TypeError, match="InitVar"):

        @ours.dataclass(frozen=True)
        class _Initial:
            x: InitVar[int]

    with pytest.raises(TypeError):

        @dataclasses.dataclass(frozen=True)
        class _Below(Pickled):
            pass


_COMPILED = """
import dataclasses, sys
compiled = [0]
real = dataclasses._create_fn
def counted(*arguments, **options):
    compiled[0] += 1
    return real(*arguments, **options)
dataclasses._create_fn = counted
from risala.dataclass import dataclass
@dataclass(frozen=True, slots=True)
class One:
    x: int
print(compiled[0])
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="from here Python compiles once by itself")
def test_the_standard_library_compiles_nothing_for_it():
    done = subprocess.run([sys.executable, "-c", _COMPILED], capture_output=True, check=True)
    assert done.stdout.split() == [b"0"]
