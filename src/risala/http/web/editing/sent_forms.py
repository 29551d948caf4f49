"""The forms of routes that take a file: read, and their file stored if a page of ours sent it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from risala.engine.model.errors import NotFound
from risala.http.web.files.uploading import is_multipart, read_multipart
from risala.http.web.forms import MARK_FIELD, SentForm, read_form, unmasked
from risala.http.web.page_request import PageRequest


async def sent_form(request: PageRequest, *, takes_file: bool) -> SentForm:
    """The form that was posted. Without the right mark, only what stands before its file.

    Raises:
        Problem, RequestEntityTooLarge, RequestTimeout: as
            :func:`risala.http.web.files.uploading.read_multipart` does.
    """
    if not takes_file or not is_multipart(request.http):
        return await read_form(request.http)
    gateway = request.site.gateway

    def is_ours(form: SentForm) -> bool:
        return gateway.people.derived.is_form_token(request.cookie, unmasked(form.text(MARK_FIELD)))

    async def store(chunks: AsyncIterator[bytes], name: str) -> str:
        return await gateway.receive_upload(request.organization_id, chunks, name, request.caller)

    patience_s = request.site.settings.http.body_timeout_s
    return await read_multipart(request.http, is_ours=is_ours, store=store, patience_s=patience_s)


async def form_before_file(request: PageRequest) -> SentForm:
    """What somebody without a session posted, up to a file. Raises the same."""
    if not is_multipart(request.http):
        return await read_form(request.http)
    patience_s = request.site.settings.http.body_timeout_s
    return await read_multipart(
        request.http, is_ours=lambda _: False, store=_store_nothing, patience_s=patience_s
    )


async def _store_nothing(chunks: AsyncIterator[bytes], name: str) -> str:
    raise NotFound("A stranger's file is not stored.")
