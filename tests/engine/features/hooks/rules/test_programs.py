"""Each preset against its program's own requests, and what the program takes for yes."""

from dataclasses import replace

import pytest

from programs import business, monitoring, sign_in
from programs.program import AT_S, KEY, OTHER_KEY, SECRET
from risala.engine.features.hooks.rules.answers import HookOutcome, HookResult, answer_of
from risala.engine.features.hooks.rules.presets import CUSTOM, preset, presets
from risala.engine.features.hooks.rules.reading import read
from risala.engine.features.hooks.rules.requests import (
    HookProof,
    HookSecrets,
    known_of,
    proof_fault,
)

PROGRAMS = [*sign_in.PROGRAMS, *monitoring.PROGRAMS, *business.PROGRAMS]
LATER = HookResult(HookOutcome.LATER, 503, "unavailable", "Try again.", retry_after_s=7)
NEVER = HookResult(HookOutcome.NEVER, 400, "invalid_recipient", "`/to` is no number.")
each_program = pytest.mark.parametrize(
    "program", [pytest.param(each, id=each.preset) for each in PROGRAMS]
)


def known(program, secret=None):
    return HookSecrets(known_of(program.proof, secret or program.secret))


@each_program
def test_a_program_s_request_is_read(program):
    found = preset(program.preset)
    assert read(found.mapping, program.request()) == program.reads
    assert program.suffix == found.suffix
    for message in program.reads:
        assert found.sends == "text" or message.code or message.text
        assert (message.to is None) == (found.to == "fixed")


@each_program
def test_a_program_proves_itself(program):
    found = preset(program.preset)
    assert program.proof in found.proofs
    request = program.request()
    assert proof_fault(program.proof, known(program), request, header=found.header) is None
    other = known(program, OTHER_KEY if program.secret == KEY else SECRET[::-1])
    fault = proof_fault(program.proof, other, request, header=found.header)
    assert fault is not None
    assert fault.code in {"wrong_secret", "wrong_signature"}


@each_program
def test_a_program_takes_the_answers_for_what_they_are(program):
    found = preset(program.preset)
    request = program.request()

    def answered(result):
        results = [
            HookResult(**{**fields(result), "message": each}) for each in program.reads or [None]
        ]
        return answer_of(found.answer, request, results)

    assert program.takes(answered(HookResult(HookOutcome.ACCEPTED)))
    assert not program.takes(answered(LATER))
    assert not program.takes(answered(NEVER))
    assert not program.tries_again(answered(NEVER)) or found.repeat_s


def fields(result):
    return {name: getattr(result, name) for name in HookResult.__slots__}


def test_each_preset_has_its_program_s_request():
    names = {each.name for each in presets()}
    assert names - {each.preset for each in PROGRAMS} == {CUSTOM}
    assert all(each.tried is not None for each in presets() if each.name != CUSTOM)


def test_each_proof_of_a_preset_is_that_of_a_request_or_carries_no_header():
    for each in presets():
        assert each.header or HookProof.HEADER not in each.proofs


def test_chatwoot_s_notes_and_customers_are_passed_over():
    found = preset("chatwoot")
    for program in business.CHATWOOT_BESIDE:
        assert read(found.mapping, program.request()) == ()
    for body in (b"{}", b"[]", b'"event"'):
        assert read(found.mapping, replace(business.CHATWOOT, body=body).request()) == ()


def test_supabase_signs_with_each_of_its_secrets():
    found = preset("supabase-auth")
    for keys in [(KEY,), (OTHER_KEY, KEY), (KEY, OTHER_KEY)]:
        for joined_by in (" ", ", "):
            request = sign_in.SUPABASE.request(keys=keys, joined_by=joined_by)
            secrets = HookSecrets(known_of(found.proofs[0], f"v1,{KEY}"))
            assert proof_fault(found.proofs[0], secrets, request) is None


def test_supabase_s_three_tries_are_one_message():
    """Their ids are new, and the body is the same."""
    found = preset("supabase-auth")
    assert found.repeat_s == 60
    for program in (sign_in.SUPABASE, sign_in.SUPABASE_OLD):
        tries = [
            program.request(at_s=AT_S + later, request_id=f"msg_{later}") for later in (0, 2, 4)
        ]
        assert len({each.headers["webhook-id"] for each in tries}) == 3
        assert {read(found.mapping, each) for each in tries} == {program.reads}
