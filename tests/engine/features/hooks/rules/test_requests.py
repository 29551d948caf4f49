"""Who calls a hook: what proves it, and what does not."""

import base64
import hmac
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from programs.program import AT_S, KEY, OTHER_KEY, SECRET
from programs.sign_in import AUTHGEAR_SIGNED, SUPABASE, ZITADEL_SIGNED
from risala.engine.features.hooks.rules.presets import preset
from risala.engine.features.hooks.rules.requests import (
    AGE_S_MAX,
    HookProof,
    HookRequest,
    HookSecrets,
    known_of,
    proof_fault,
)

SIGNED = HookProof.STANDARD_WEBHOOKS
HEADER = "X-Hook"


def known(proof=SIGNED, secret=KEY, former=None):
    return HookSecrets(known_of(proof, secret), former and known_of(proof, former))


def asked(headers=None, path_secret=None, body=b"{}", at_s=AT_S):
    return HookRequest("POST", "", headers or {}, body, "", path_secret, at_s)


def fault_of(proof, request, secrets=None):
    found = proof_fault(proof, secrets or known(proof, SECRET), request, header=HEADER)
    return found and found.code


def basic(word):
    return "Basic " + base64.b64encode(word.encode()).decode()


@pytest.mark.parametrize(
    ("proof", "request_", "code"),
    [
        (HookProof.BEARER, asked({"authorization": f"Bearer {SECRET}"}), None),
        (HookProof.BEARER, asked({"authorization": f"bearer  {SECRET} "}), None),
        (HookProof.BEARER, asked({"authorization": SECRET}), None),
        (HookProof.BEARER, asked({"authorization": f"Basic {SECRET}"}), "wrong_secret"),
        (HookProof.BEARER, asked({"authorization": f"Bearer {SECRET}x"}), "wrong_secret"),
        (HookProof.BEARER, asked({"authorization": "Bearer \ud800"}), "wrong_secret"),
        (HookProof.BEARER, asked({"authorization": "Bearer "}), "no_proof"),
        (HookProof.BEARER, asked(path_secret=SECRET), "no_proof"),
        (HookProof.BASIC, asked({"authorization": basic(f"anybody:{SECRET}")}), None),
        (HookProof.BASIC, asked({"authorization": basic(f":{SECRET}")}), None),
        (HookProof.BASIC, asked({"authorization": basic(f"{SECRET}:other")}), "wrong_secret"),
        (HookProof.BASIC, asked({"authorization": basic(SECRET)}), "no_proof"),
        (HookProof.BASIC, asked({"authorization": "Basic ==="}), "no_proof"),
        (HookProof.BASIC, asked({"authorization": "Basic /w=="}), "no_proof"),
        (HookProof.BASIC, asked({"authorization": f"Bearer {SECRET}"}), "no_proof"),
        (HookProof.HEADER, asked({"x-hook": SECRET}), None),
        (HookProof.HEADER, asked({"x-hook": SECRET[:-1]}), "wrong_secret"),
        (HookProof.HEADER, asked({"authorization": SECRET}), "no_proof"),
        (HookProof.PATH, asked(path_secret=SECRET), None),
        (HookProof.PATH, asked(path_secret=SECRET.lower()), "wrong_secret"),
        (HookProof.PATH, asked({"authorization": f"Bearer {SECRET}"}), "no_proof"),
    ],
)
def test_a_secret_proves_its_caller_where_it_must_be(proof, request_, code):
    assert fault_of(proof, request_) == code


@pytest.mark.parametrize("proof", [*HookProof])
def test_two_secrets_prove_while_one_is_replaced(proof):
    secret, former = (KEY, OTHER_KEY) if proof is SIGNED else (SECRET, SECRET[::-1])
    both, one = known(proof, secret, former), known(proof, secret)
    for each, of_one in [(secret, None), (former, True)]:
        request = proving(proof, each)
        assert fault_of(proof, request, both) is None
        assert bool(fault_of(proof, request, one)) is bool(of_one)


def proving(proof, secret):
    """A request that has that secret."""
    if proof is SIGNED:
        return SUPABASE.request(secret)
    if proof is HookProof.TIMED_SIGNATURE:
        return renamed(ZITADEL_SIGNED.request(secret), "zitadel-signature")
    if proof is HookProof.BODY_SIGNATURE:
        return renamed(AUTHGEAR_SIGNED.request(secret), "x-authgear-body-signature")
    authorization = basic(f"u:{secret}") if proof is HookProof.BASIC else f"Bearer {secret}"
    return asked({"authorization": authorization, "x-hook": secret}, path_secret=secret)


def renamed(request, name):
    return asked({"x-hook": request.headers[name]}, body=request.body)


@pytest.mark.parametrize("late_s", [0, AGE_S_MAX, -AGE_S_MAX, AGE_S_MAX + 1, -AGE_S_MAX - 1])
def test_a_signature_is_good_for_five_minutes_either_way(late_s):
    code = None if abs(late_s) <= AGE_S_MAX else "wrong_time"
    assert fault_of(SIGNED, SUPABASE.request(signed_at_s=AT_S - late_s), known()) == code
    request = renamed(ZITADEL_SIGNED.request(signed_at_s=AT_S - late_s), "zitadel-signature")
    assert fault_of(HookProof.TIMED_SIGNATURE, request) == code


def changed(name, value):
    request = SUPABASE.request()
    return asked({**request.headers, name: value}, body=request.body)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("webhook-id", "msg_2", "wrong_signature"),
        ("webhook-id", "", "no_proof"),
        ("webhook-id", "m" * 257, "wrong_signature"),
        ("webhook-id", "\ud800", "wrong_signature"),
        ("webhook-timestamp", str(AT_S + 1), "wrong_signature"),
        ("webhook-timestamp", f"{AT_S}.0", "wrong_signature"),
        ("webhook-timestamp", "٣" * 10, "wrong_signature"),
        ("webhook-timestamp", "9" * 5000, "wrong_signature"),
        ("webhook-signature", "", "no_proof"),
        ("webhook-signature", "v1,", "wrong_signature"),
        ("webhook-signature", "v1,%%%", "wrong_signature"),
        ("webhook-signature", "v1,ä", "wrong_signature"),
        ("webhook-signature", "v1," * 100_000, "wrong_signature"),
    ],
)
def test_a_changed_header_proves_nothing(name, value, code):
    assert fault_of(SIGNED, changed(name, value), known()) == code


def test_a_changed_body_proves_nothing():
    request = SUPABASE.request()
    other = asked(request.headers, body=request.body.replace(b"22236", b"22246"))
    assert fault_of(SIGNED, other, known()) == "wrong_signature"


def test_only_version_one_counts():
    """``v1a`` is the scheme's public-key signature; whoever could choose the version could choose
    how it is checked."""
    mark = SUPABASE.request().headers["webhook-signature"].removeprefix("v1,")
    for version in ("v1a", "v2", "V1", "v1 ", ""):
        assert fault_of(SIGNED, changed("webhook-signature", f"{version},{mark}"), known())
    signatures = f"v1a,{mark} v1,AAAA v1,{mark}"
    assert fault_of(SIGNED, changed("webhook-signature", signatures), known()) is None


def test_a_secret_of_webhooks_is_read_with_its_prefixes_or_without():
    bare = KEY.removeprefix("whsec_")
    kept = known_of(SIGNED, KEY)
    assert {known_of(SIGNED, each) for each in (bare, f"v1,{KEY}", f" {KEY}\n", bare[:-1])} == {
        kept
    }
    moment = datetime.fromtimestamp(AT_S, UTC)
    mark = hmac.new(kept, f"msg_1.{AT_S}.{{}}".encode(), "sha256").digest()
    assert Webhook(KEY).sign("msg_1", moment, "{}") == f"v1,{base64.b64encode(mark).decode()}"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA", "whsec_%%", "é" * 40, "v1,v1,"])
def test_a_secret_of_webhooks_has_its_form(secret):
    assert known_of(SIGNED, secret) is None


def test_a_secret_has_a_form_for_every_proof():
    assert known_of(HookProof.TIMED_SIGNATURE, "short") is None
    assert known_of(HookProof.BODY_SIGNATURE, "\ud800" * 30) is None
    assert known_of(HookProof.BEARER, " ") is None
    assert known_of(HookProof.BEARER, SECRET) != SECRET.encode()


def test_a_signature_of_the_body_is_hexadecimal():
    proof = preset("authgear").proofs[1]
    request = renamed(AUTHGEAR_SIGNED.request(), "x-authgear-body-signature")
    for value in ["", "zz", request.headers["x-hook"][:-2], "00" * 32]:
        assert fault_of(proof, asked({"x-hook": value}, body=request.body))
    assert fault_of(proof, asked(request.headers, body=request.body + b" "))


@pytest.mark.parametrize("value", ["t=1", "v1=00", f"t={AT_S}", f"t={AT_S},v1=", "t=,v1=00", ","])
def test_a_timed_signature_has_its_parts(value):
    assert fault_of(HookProof.TIMED_SIGNATURE, asked({"x-hook": value})) == "wrong_signature"


@pytest.mark.slow
@given(
    st.sampled_from([*HookProof]),
    st.dictionaries(
        st.sampled_from(
            ["authorization", "x-hook", "webhook-id", "webhook-timestamp", "webhook-signature"]
        ),
        st.text("Bearsic v1,=t0 ٣\ud800+/", max_size=24),
    ),
    st.none() | st.text(max_size=4),
    st.binary(max_size=8),
)
def test_nothing_but_the_secret_proves(proof, headers, path_secret, body):
    secrets = known(proof, KEY if proof is SIGNED else SECRET)
    request = asked(headers, path_secret, body)
    found = proof_fault(proof, secrets, request, header=HEADER)
    assert found is not None
    assert SECRET not in repr((secrets, request, found))
