"""How a simulated phone reaches a service: real HTTP, or what a test puts in its place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, Protocol

import httpcore2  # noqa: F401 -- httpx2 would import it with the first client, inside the loop
import httpx2

ANSWER_S: Final = 30.0
STREAM_S: Final = 3600.0
"""The app waits so long for the next event of its stream."""


class NetworkLostError(Exception):
    """No answer came."""


class PhoneNetwork(Protocol):
    """Carries the app's calls. Paths are below the API URL; a whole URL goes as it is."""

    async def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes]:
        """Status and body of an answer. Raises :class:`NetworkLostError`."""

    def listen(
        self, path: str, headers: dict[str, str]
    ) -> AbstractAsyncContextManager[tuple[int, AsyncIterator[bytes]]]:
        """Status and octets of an answer that does not end. Raises :class:`NetworkLostError`."""


class HttpNetwork:
    """Calls by real HTTP.

    Args:
        url: the app's API URL, which ends in ``/mobile/v1``.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(ANSWER_S, read=STREAM_S), trust_env=False
        )

    def _whole(self, path: str) -> str:
        return path if "://" in path else self._url + path

    async def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes]:
        """Status and body of an answer. Raises :class:`NetworkLostError`."""
        try:
            answer = await self._http.request(
                method, self._whole(path), headers=headers, content=body, timeout=ANSWER_S
            )
        except httpx2.HTTPError as error:
            raise NetworkLostError from error
        return answer.status_code, answer.content

    @asynccontextmanager
    async def listen(
        self, path: str, headers: dict[str, str]
    ) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
        """Status and octets of an answer that does not end. Raises :class:`NetworkLostError`."""
        try:
            async with self._http.stream("GET", self._whole(path), headers=headers) as answer:
                yield answer.status_code, answer.aiter_bytes()
        except httpx2.HTTPError as error:
            raise NetworkLostError from error

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()


class DroppingNetwork:
    """A network that loses calls, or their answers, before it carries others.

    Attributes:
        drop_calls: how many of the next calls do not arrive.
        drop_answers: how many of the next calls arrive, while their answers are lost.
    """

    def __init__(self, network: PhoneNetwork) -> None:
        self._network = network
        self.drop_calls = 0
        self.drop_answers = 0

    async def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes]:
        """Status and body of an answer. Raises :class:`NetworkLostError`."""
        if self.drop_calls > 0:
            self.drop_calls -= 1
            raise NetworkLostError
        answer = await self._network.ask(method, path, headers, body)
        if self.drop_answers > 0:
            self.drop_answers -= 1
            raise NetworkLostError
        return answer

    def listen(
        self, path: str, headers: dict[str, str]
    ) -> AbstractAsyncContextManager[tuple[int, AsyncIterator[bytes]]]:
        """Status and octets of an answer that does not end. Raises :class:`NetworkLostError`."""
        return self._network.listen(path, headers)
