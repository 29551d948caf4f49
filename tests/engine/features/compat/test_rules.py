"""The names of faces' credentials."""

import pytest

from risala.engine.features.compat.rules import (
    ANY,
    SHAPES,
    CredentialShape,
    shape_of,
    username_fault,
)


@pytest.mark.parametrize("username", ["a", "amina", "Amina-7", "a.b_c@d", "a" * 40])
def test_a_name_that_can_be_chosen(username):
    assert username_fault("kannel", username) is None
    assert username_fault("a-plugins", username) is None


@pytest.mark.parametrize("username", ["", "-a", "a b", "أمينة", "a" * 41, "a:b", "a\n"])
def test_a_name_that_cannot(username):
    assert username_fault("kannel", username) == (
        "A user name has 1 to 40 letters and digits. The characters `.`, `_`, `@` and `-` may "
        "follow the first one."
    )


def test_each_face_has_its_own_shape():
    assert username_fault("smpp", "a" * 15) is None
    assert "1 to 15 letters" in username_fault("smpp", "a" * 16)
    assert username_fault("twilio", "AC1") == (
        "The user name of a twilio credential is generated. Do not give one."
    )
    assert shape_of("smpp") is SHAPES["smpp"]
    assert shape_of("a-plugins") is ANY


def test_only_a_short_password_needs_a_slow_hash():
    assert [CredentialShape(length=n).is_weak for n in (8, 15, 16, 32)] == [
        True,
        True,
        False,
        False,
    ]
