"""The tree of errors: whole, closed, and that of the API."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import risala.client
from risala.client import errors
from risala.client.errors import RefusedError, RisalaError, keyed, refusal
from risala.http.common.problems import CODES

ROOT = Path(__file__).parents[2]


def tree(kind: type[RisalaError] = RisalaError) -> dict[str, str]:
    """Each class and the one that it stands under."""
    found = {}
    for each in kind.__subclasses__():
        found[each.__name__] = kind.__name__
        found |= tree(each)
    return found


def drawn() -> dict[str, str]:
    """The same as it is drawn at the top of the file."""
    found, above = {}, {}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([\s│├└─]*)(\w+Error)\b", line):
            depth = (len(match[1]) - 4) // 4
            above[depth] = match[2]
            if depth:
                found[match[2]] = above[depth - 1]
    return found


def test_the_tree_is_drawn_as_it_is():
    assert drawn() == tree()


def test_every_error_can_be_imported_from_the_package():
    named = {each for each in tree() if getattr(risala.client, each, None) is None}
    assert named == set()


def test_nothing_else_is_raised():
    """Beside `ValueError` and `TypeError` for what the caller's own program got wrong."""
    raised = set()
    for path in (ROOT / "src/risala/client").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                raised.add(ast.unparse(node.exc.func))
    functions = {"refusal", "self._last", "_unanswered", "keyed", "httpx2.ReadTimeout"}
    assert raised - functions - {"ValueError", "TypeError"} <= {*tree()}


@pytest.mark.parametrize("status", sorted(CODES))
def test_every_status_of_the_api_is_an_error_of_the_right_side(status):
    error = refusal(status, {"code": CODES[status], "message": "Why.", "data": {}})
    assert isinstance(error, RefusedError)
    assert (error.status, error.code) == (status, CODES[status])
    sides = {402: "organization"} | dict.fromkeys(range(500, 600), "service")
    assert error.fault == sides.get(status, "caller")


@pytest.mark.parametrize("word", sorted(errors.BY_WORD))
def test_every_word_of_the_api_is_documented_there(word):
    assert word in (ROOT / "docs/reference/error-sentences.md").read_text()


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        (400, "SENDER_NOT_APPROVED", errors.SenderNotApprovedError),
        (400, "RECIPIENT_OPTED_OUT", errors.RecipientOptedOutError),
        (403, "COUNTRY_NOT_OPEN", errors.CountryNotOpenError),
        (403, "CHALLENGE_REQUIRED", errors.ChallengeRequiredError),
        (400, "NOT_CANCELABLE", errors.NotCancelableError),
        (402, "SPEND_CAP", errors.SpendCapError),
        (401, "KEY_EXPIRED", errors.KeyExpiredError),
        (403, "ADDRESS_NOT_ALLOWED", errors.AddressForbiddenError),
        (503, "OUTCOME_UNKNOWN", errors.OutcomeUnknownError),
        (400, "SPEND_CAP", errors.BadRequestError),
        (400, "NEW_WORD", errors.BadRequestError),
        (418, None, errors.RequestFaultError),
        (502, None, errors.ServiceFaultError),
    ],
)
def test_a_word_narrows_what_the_status_says(status, word, kind):
    assert type(refusal(status, {"code": "X", "data": {"code": word}})) is kind


@pytest.mark.parametrize("body", [None, "<html>", [], {"data": 3}, {"data": {"code": ["a"]}}])
def test_a_body_of_somebody_else_is_an_error_all_the_same(body):
    error = refusal(503, body)
    assert isinstance(error, errors.UnavailableError)
    assert error.code == ""


def test_the_faults_of_a_body_are_named():
    issue = {"path": ["messages", 3, "to"], "code": "invalid_phone_number", "message": "No."}
    error = refusal(400, {"code": "BAD_REQUEST", "data": {"issues": [issue]}})
    assert isinstance(error, errors.BadRequestError)
    [found] = error.issues
    assert (found.path, found.code) == (("messages", 3, "to"), "invalid_phone_number")


def test_a_limit_is_named():
    error = refusal(429, {"code": "X", "data": {"limit": "phone"}}, 12.0)
    assert isinstance(error, errors.TooManyRequestsError)
    assert (error.limit, error.retry_after_s) == ("phone", 12.0)


def test_an_error_crosses_to_another_process():
    """As one of a worker of a queue or of a pool does."""
    error = keyed(refusal(503, {"code": "X", "message": "Full."}, 2.0), ["a" * 8], is_batch=False)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.idempotency_key, copy.retry_after_s) == (str(error), "a" * 8, 2.0)
