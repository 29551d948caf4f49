"""The sealing key's file: made once, rotated whole; a former key opens until it is forgotten."""

import pytest

from risala.engine.journal.sealed.resealing import SealedRepository
from risala.engine.journal.store.sealing_key import KEY_VARIABLE, SealingKeys
from risala.engine.model.errors import Conflict, SecretLost, StorageFailed, StorageUnusable
from risala.engine.rules.sealing import SecretPurpose

PURPOSE = SecretPurpose.HOOK_SECRET


def test_a_key_is_made_once_when_it_is_wanted_and_for_its_owner_alone(tmp_path):
    keys, path = SealingKeys(tmp_path, {}), tmp_path / "sealing.key"
    assert not path.exists()
    ring = keys.ring()
    assert path.stat().st_mode & 0o777 == 0o600
    assert SealingKeys(tmp_path, {}).ring() == ring
    assert ring.newest.secret.hex() not in repr(keys)


def test_equal_secrets_look_different_and_open_alike(tmp_path):
    keys = SealingKeys(tmp_path, {})
    one, other = (keys.seal(PURPOSE, "hok_1", b"secret") for _ in range(2))
    assert one != other
    assert keys.unseal(PURPOSE, "hok_1", one) == keys.unseal(PURPOSE, "hok_1", other) == b"secret"


def test_a_rotation_seals_anew_and_still_opens_until_the_old_key_is_forgotten(tmp_path):
    keys = SealingKeys(tmp_path, {})
    old = keys.seal(PURPOSE, "hok_1", b"secret")
    keys.rotate()
    assert keys.unseal(PURPOSE, "hok_1", old) == b"secret"
    new = keys.seal(PURPOSE, "hok_1", b"secret")
    assert SealingKeys(tmp_path, {}).unseal(PURPOSE, "hok_1", new) == b"secret"
    keys.forget_old()
    for each in (keys, SealingKeys(tmp_path, {})):
        assert each.unseal(PURPOSE, "hok_1", new) == b"secret"
        with pytest.raises(SecretLost):
            each.unseal(PURPOSE, "hok_1", old)


def test_a_key_that_comes_back_opens_what_it_sealed(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    sealed = SealingKeys(old, {}).seal(PURPOSE, "hok_1", b"secret")
    keys = SealingKeys(new, {})
    with pytest.raises(SecretLost):
        keys.unseal(PURPOSE, "hok_1", sealed)
    newest = keys.ring().newest
    keys.add(SealingKeys(old, {}).ring())
    assert keys.unseal(PURPOSE, "hok_1", sealed) == b"secret"
    assert keys.ring().newest == newest


def test_keys_of_the_environment_are_not_ours_to_change(tmp_path):
    keys = SealingKeys(tmp_path, {KEY_VARIABLE: f"{'ab' * 32},{'cd' * 32}"})
    assert [each.secret.hex() for each in keys.ring().keys] == ["ab" * 32, "cd" * 32]
    for change in (keys.rotate, keys.forget_old, lambda: keys.add(keys.ring())):
        with pytest.raises(Conflict, match=KEY_VARIABLE):
            change()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "ab", "zz" * 32, "ab" * 33])
def test_a_file_that_is_no_key_is_said(tmp_path, text):
    (tmp_path / "sealing.key").write_text(text)
    with pytest.raises(StorageUnusable, match="is not a sealing key"):
        SealingKeys(tmp_path, {}).ring()


ASKED = (
    ("secrets.rotate", {}),
    ("secrets.rotate", {"forget_old": True}),
    ("secrets.import_key", {"text": "5e" * 32}),
)


async def test_while_all_is_sealed_anew_nobody_else_changes_the_keys(
    open_house, monkeypatch, autojump_clock
):
    """One caller could delete the key that another seals with."""
    reseal, refused = SealedRepository.reseal, []
    async with open_house() as house:
        gateway, mine = house.gateway, {"organization_id": house.principal.organization_id}
        await gateway.perform("webhook.create", {"url": "https://example.com/hook", **mine})

        async def while_others_ask(self):
            for name, arguments in ASKED:
                with pytest.raises(Conflict, match="are being changed") as caught:
                    await gateway.perform(name, arguments)
                refused.append(caught.value)
            return await reseal(self)

        monkeypatch.setattr(SealedRepository, "reseal", while_others_ask)
        done = await gateway.perform("secrets.rotate", {"forget_old": True})
        assert len(refused) == len(ASKED)
        assert done["former"] == []
        assert (await gateway.perform("secrets.show", {}))["lost"] == []

        async def fails(_):
            raise StorageFailed

        monkeypatch.setattr(SealedRepository, "reseal", fails)
        with pytest.raises(StorageFailed):
            await gateway.perform("secrets.rotate", {})
        monkeypatch.setattr(SealedRepository, "reseal", reseal)
        await gateway.perform("secrets.rotate", {})  # the one that failed is no longer at it
