"""An error reaches its reader, whichever of the two versions of quart-trio is installed."""

from __future__ import annotations

import pytest

from risala.http.common.base import JsonApp


@pytest.mark.parametrize("context", [(), (object(),)], ids=["0.12", "0.13"])
@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/no-such", 404), ("POST", "/here", 405)]
)
async def test_an_unknown_path_and_method_have_their_answer(
    monkeypatch, context, method, path, status
):
    app = JsonApp("either", body_bytes_max=100, body_timeout_s=1)
    app.add_url_rule("/here", "here", list, methods=["GET"])
    answered = app.handle_user_exception
    # Either version is installed; the arguments are those of both.
    monkeypatch.setattr(app, "handle_user_exception", lambda *given: answered(*context, given[-1]))
    response = await app.test_client().open(path, method=method)
    assert response.status_code == status
    assert (await response.get_json())["requestId"] == response.headers["x-request-id"]
