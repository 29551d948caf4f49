"""Sealed secrets open for their own row and purpose alone, with their own key alone."""

import pytest

from risala.engine.model.errors import SecretLost
from risala.engine.rules.sealing import (
    KEY_BYTES,
    NONCE_BYTES,
    SealingKey,
    SealingRing,
    SecretPurpose,
    key_of,
    read,
    seal,
    unseal,
    written,
)

ONE, OTHER = SealingKey(b"1" * KEY_BYTES), SealingKey(b"2" * KEY_BYTES)
PURPOSE = SecretPurpose.WEBHOOK_SECRET
NONCE = bytes(range(NONCE_BYTES))


def sealed_by(key, purpose=PURPOSE, identity="whe_1", secret=b"whsec_abc"):
    return seal(SealingRing((key,)), purpose, identity, secret, NONCE)


def test_what_is_sealed_opens_and_shows_nothing():
    sealed = sealed_by(ONE)
    assert sealed.startswith(f"sealed1.{ONE.id}.")
    assert "whsec" not in sealed
    assert unseal(SealingRing((ONE,)), PURPOSE, "whe_1", sealed) == b"whsec_abc"
    assert key_of(sealed) == ONE.id


def test_a_former_key_still_opens():
    assert unseal(SealingRing((OTHER, ONE)), PURPOSE, "whe_1", sealed_by(ONE)) == b"whsec_abc"


@pytest.mark.parametrize(
    ("purpose", "identity"),
    [(PURPOSE, "whe_2"), (SecretPurpose.WEBHOOK_HEADER, "whe_1"), (PURPOSE, "")],
)
def test_it_opens_for_no_other_row_or_purpose(purpose, identity):
    with pytest.raises(SecretLost):
        unseal(SealingRing((ONE,)), purpose, identity, sealed_by(ONE))


@pytest.mark.parametrize("purpose", SecretPurpose)
def test_each_purpose_is_bound(purpose):
    sealed = sealed_by(ONE, purpose)
    for each in SecretPurpose:
        if each is not purpose:
            with pytest.raises(SecretLost):
                unseal(SealingRing((ONE,)), each, "whe_1", sealed)


def test_another_key_opens_nothing_even_under_the_name_of_the_right_one():
    sealed = sealed_by(ONE)
    with pytest.raises(SecretLost):
        unseal(SealingRing((OTHER,)), PURPOSE, "whe_1", sealed)
    with pytest.raises(SecretLost):
        unseal(SealingRing((OTHER,)), PURPOSE, "whe_1", sealed.replace(ONE.id, OTHER.id))


@pytest.mark.parametrize("place", range(22, 60, 7))
def test_a_changed_character_is_noticed(place):
    sealed = sealed_by(ONE)
    other = "A" if sealed[place] != "A" else "B"
    with pytest.raises(SecretLost):
        unseal(SealingRing((ONE,)), PURPOSE, "whe_1", sealed[:place] + other + sealed[place + 1 :])


@pytest.mark.parametrize(
    "text",
    ["", "whsec_abc", "sealed1", "sealed1.", "sealed1..", "sealed1.abcd", "sealed2.12345678.x"],
)
def test_what_is_not_sealed_is_never_taken_for_a_secret(text):
    assert key_of(text) is None
    with pytest.raises(SecretLost):
        unseal(SealingRing((ONE,)), PURPOSE, "whe_1", text)


def test_a_ring_is_read_as_it_was_written():
    ring = SealingRing((ONE, OTHER))
    assert read(written(ring)) == ring
    assert read(f"# Keep this apart.\n{written(ring)}") == ring
    assert read(f"{ONE.secret.hex()}, {OTHER.secret.hex()}") == ring
    assert read(f"{ONE.secret.hex()} {ONE.secret.hex()}") == SealingRing((ONE,))
    assert ONE.secret.hex() not in repr(ring)


@pytest.mark.parametrize("text", ["", "# only words", "ab", "zz" * KEY_BYTES, "ab" * 33])
def test_a_text_without_keys_is_no_ring(text):
    assert read(text) is None
