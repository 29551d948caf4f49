"""Connecting software: the gallery, a hook's form, its secret, its page."""

import pytest

from risala.engine.features.hooks.rules.presets import CUSTOM, presets
from risala.engine.features.hooks.rules.requests import HookProof
from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from risala.http.dashboard.connect.guides import BY_PROOF, GUIDES
from web_hooks import AT_MS, HOOK_SECRET, hook
from web_requests import request

LIST = "/app/org_1/connect"
HERE = f"{LIST}/hok_1"
NEW = f"{LIST}/programs/logto"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


def answered(gateway, message, *, number=1, status=400):
    """Let the log have one request of the hook, with this answer."""
    gateway.answers |= {
        "request.list": {
            "requests": [request(number, keyId="hok_1", path="/hooks/{id}", status=status)],
            **dict.fromkeys(("newer", "older")),
            "dropped": 0,
            "written": True,
            "keepDays": 30,
        },
        "request.show": {
            **request(number, keyId="hok_1", path="/hooks/{id}", status=status),
            "asked": {"to": "…"},
            "answered": {"message": message},
        },
    }


async def test_programs_stand_by_their_kind_and_hooks_above_them(owner, gateway):
    page = await owner.get(LIST)
    assert page.status == 200
    for kind, program in (("sign-in", "logto"), ("monitoring", "grafana"), ("business", "novu")):
        assert f'id="h-{kind}"' in page.text
        assert f'href="{LIST}/programs/{program}"' in page.text
    assert f'href="{HERE}"' in page.text
    assert ">never<" in page.text
    gateway.hooks["hok_1"] = hook(lastUsedAt=iso(AT_MS), disabledAt=iso(AT_MS))
    page = await owner.get(LIST)
    assert "Disabled" in page.text
    gateway.hooks.clear()
    assert "Your hooks" not in (await owner.get(LIST)).text


async def test_a_program_says_what_is_pasted_where(owner):
    page = await owner.get(NEW)
    assert "As <code>Authorization Header</code>, paste the secret." in page.text
    # Without words of its own, those of its proof.
    page = await owner.get(f"{LIST}/programs/novu")
    assert "Authorization: Bearer ‹secret›" in page.text
    assert (await owner.get(f"{LIST}/programs/nothing")).status == 404


async def test_only_alerts_ask_for_numbers(owner):
    assert 'name="numbers"' not in (await owner.get(NEW)).text
    assert 'name="numbers"' in (await owner.get(f"{LIST}/programs/grafana")).text


async def test_a_secret_is_shown_once(owner, gateway):
    page = await owner.get(NEW)
    fields = {"name": "Kaédi", "from": "SHOP", "locale": "ar", "proof": "bearer"}
    fields["allowed_addresses"] = "::1\n"
    made = await owner.submit(page, NEW, fields)
    assert made.status == 200
    assert made.headers["cache-control"] == "no-store"
    assert f'value="{HOOK_SECRET}"' in made.text
    assert 'value="https://sms.example/hooks/hok_9"' in made.text
    (given,) = asked(gateway, "hook.create")
    assert given == {
        "organization_id": "org_1",
        "preset": "logto",
        "mode": "live",
        "proof": "bearer",
        "name": "Kaédi",
        "from": "SHOP",
        "locale": "ar",
        "allowed_addresses": ["::1"],
    }
    again = await owner.submit(page, NEW, fields)
    assert HOOK_SECRET not in again.text
    assert len(asked(gateway, "hook.create")) == 1
    assert HOOK_SECRET not in (await owner.get(f"{LIST}/hok_9")).text


async def test_a_secret_in_the_address_is_shown_there_alone(owner):
    page = await owner.get(f"{LIST}/programs/x")
    made = await owner.submit(page, f"{LIST}/programs/x", {"proof": "path"})
    assert f'value="https://sms.example/hooks/hok_9/{HOOK_SECRET}"' in made.text
    assert f'value="{HOOK_SECRET}"' not in made.text
    later = await owner.get(f"{LIST}/hok_9")
    assert "hooks/hok_9/‹secret›" in later.text
    assert HOOK_SECRET not in later.text


async def test_a_programs_own_secret_is_asked_for_and_not_shown(owner, gateway):
    page = await owner.get(f"{LIST}/programs/zitadel")
    assert 'name="secret"' in page.text
    own = "made-by-zitadel-itself"
    fields = {"proof": "timed-signature", "secret": own}
    made = await owner.submit(page, f"{LIST}/programs/zitadel", fields)
    assert asked(gateway, "hook.create")[0]["secret"] == own
    assert own not in made.text
    assert "the one that you gave to this hook" in made.text


async def test_what_is_refused_may_be_changed_and_no_secret_comes_back(owner, gateway):
    page = await owner.get(f"{LIST}/programs/grafana")
    told = "Grafana names no recipient: give the numbers that get its messages."
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "hook.create":
            raise Invalid("numbers", "missing_numbers", told)
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    fields = {"name": "<b>", "secret": "made-by-somebody-else"}
    page = await owner.submit(page, f"{LIST}/programs/grafana", fields)
    assert page.status == 422
    assert 'href="#numbers"' in page.text
    assert "give the numbers that get its messages." in page.text
    assert "<b>" not in page.text
    assert "made-by-somebody-else" not in page.text


async def test_the_page_says_what_was_wrong_with_the_last_request(owner, gateway):
    answered(gateway, "`/user/phone` is missing or empty.")
    page = await owner.get(HERE)
    assert "The last request was refused." in page.text
    assert "<bdi>/user/phone</bdi> is missing or empty." in page.text
    answered(gateway, "<b>")
    assert "<b>" not in (await owner.get(HERE)).text
    answered(gateway, None, status=200)
    gateway.answers["request.show"]["answered"] = {"messageId": "sms_7"}
    page = await owner.get(HERE)
    assert 'href="/app/org_1/messages/sms_7"' in page.text
    assert "was refused" not in page.text
    gateway.answers.clear()
    gateway.hooks["hok_2"] = hook("hok_2")
    page = await owner.get(f"{LIST}/hok_2")
    assert "No request yet" in page.text
    assert "was refused" not in page.text


async def test_the_sentence_is_in_the_readers_language(reader_as, gateway):
    answered(gateway, "The secret is not this hook's.", status=401)
    page = await reader_as(language=Language.FRENCH).get(HERE)
    assert "La dernière requête a été refusée." in page.text
    assert "pas celui de ce connecteur." in page.text


async def test_settings_are_changed(owner, gateway):
    page = await owner.get(HERE)
    fields = {"name": "Shop 2", "from": "", "locale": "fr", "version": page.field("version")}
    page = await owner.submit(page, HERE, fields)
    assert page.location == HERE
    (given,) = asked(gateway, "hook.set")
    assert (given["name"], given["from"], given["locale"]) == ("Shop 2", None, "fr")
    assert given["allowed_addresses"] == []
    assert given["version"] == 4
    assert "numbers" not in given
    assert "The hook is changed." in (await owner.get(HERE)).text


async def test_numbers_of_alerts_are_changed_one_a_line(owner, gateway):
    gateway.hooks["hok_1"] = hook(preset="grafana", numbers=["+22236000001"])
    page = await owner.get(HERE)
    assert ">+22236000001</textarea>" in page.text
    await owner.submit(page, HERE, {"numbers": "36000001\n36000002\n"})
    assert asked(gateway, "hook.set")[0]["numbers"] == ["36000001", "36000002"]


async def test_it_is_disabled_rotated_and_deleted_after_a_question(owner, gateway):
    page = await owner.submit(await owner.get(HERE), f"{HERE}/disable")
    assert page.location == HERE
    page = await owner.get(HERE)
    assert "refused from now on" in page.text
    await owner.submit(page, f"{HERE}/enable")
    made = await owner.submit(await owner.get(HERE), f"{HERE}/rotate", {"overlap": "3600"})
    assert f'value="{HOOK_SECRET}"' in made.text
    assert asked(gateway, "hook.rotate")[0]["overlap_s"] == 3600
    page = await owner.get(f"{HERE}/delete")
    assert "It has never been used." in page.text
    page = await owner.submit(page, f"{HERE}/delete", {"confirm": "none"})
    assert page.status == 422
    page = await owner.submit(page, f"{HERE}/delete", {"confirm": "h00k"})
    assert page.location == LIST
    assert gateway.hooks == {}
    assert (await owner.get(HERE)).status == 404


async def test_a_trial_goes_as_the_hook_sends(owner, gateway):
    gateway.hooks["hok_1"] = hook(mode="test", **{"from": "SHOP"})
    page = await owner.submit(await owner.get(HERE), f"{HERE}/trial", {"to": "36000001"})
    (given,) = asked(gateway, "send")
    assert (given["to"], given["from"], given["mode"]) == ("36000001", "SHOP", "test")
    assert given["body"] == "Risala: Logto"
    assert page.location.startswith("/app/org_1/messages/")
    assert page.location.endswith("?mode=test")


async def test_a_viewer_looks_and_changes_nothing(reader_as):
    viewer = reader_as(Role.VIEWER)
    assert "Make the hook" not in (await viewer.get(NEW)).text
    page = await viewer.get(HERE)
    assert page.status == 200
    for each in ("/rotate", "/trial", "/delete", "/disable"):
        assert HERE + each not in page.text


async def test_a_hook_of_another_organization_is_not_found(owner):
    for path in ("hok_7", "hok_7/delete"):
        assert (await owner.get(f"{LIST}/{path}")).status == 404


@pytest.mark.parametrize("name", sorted(GUIDES))
def test_each_guide_is_for_a_preset_that_is_there(name):
    assert name in {each.name for each in presets()}


def test_each_proof_has_words():
    assert set(BY_PROOF) == {each.value for each in HookProof}
    assert CUSTOM not in GUIDES
