"""Faces of plugins on the API's listener: their paths, and the handling of each request.

A query may hold a password here. Only the face gets it: it is in no log, request log, error, event
or trace, and neither is the text of a face's own exception.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import structlog

from risala.config.faults import ConfigError, Fault
from risala.config.model import Settings
from risala.engine.model.clock import Clock, SystemClock
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import ClientAddresses
from risala.http.common.parse import read_raw
from risala.http.common.plain import Handler, PlainAnswer, PlainPath, PlainRequest, problem_answer
from risala.http.common.problems import Problem, not_allowed, plain
from risala.http.common.request import is_plain_path
from risala.http.faces.paths import FacedApp, PathMounting, TypedAnswer
from risala.http.faces.service import ACCESS, CompatGateway, RequestService
from risala.plugins.face import (
    FacePath,
    FaceRefusal,
    FaceRefusedError,
    FaceRequest,
    GatewayFace,
    WordsFaults,
    fields_of,
)

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


log = structlog.get_logger("risala.http")

_PLACE: Final = re.compile(r"\\{(\\\+)?([a-z_]+)\\}")
"""A placeholder of a path after :func:`re.escape`: the plus of one that may be a number, and its
name."""
_PLUS: Final = re.compile(rb"(?<=/)%2B(?=[0-9])", re.IGNORECASE)
_METHODS: Final = frozenset(("GET", "POST", "DELETE"))
STATUSES: Final[Mapping[FaceRefusal, int]] = {
    FaceRefusal.UNAUTHORIZED: 401,
    FaceRefusal.SUSPENDED: 403,
    FaceRefusal.ADDRESS: 403,
    FaceRefusal.NO_BALANCE: 402,
    FaceRefusal.NOT_FOUND: 404,
    FaceRefusal.LIMITED: 429,
    FaceRefusal.UNAVAILABLE: 503,
    FaceRefusal.UNKNOWN: 503,
}
"""The status of a refusal that a face does not word itself; any other is 400."""
Refuse = Callable[[Iterable[str], PlainRequest], Awaitable[PlainAnswer]]
"""Answers a request that no face is handed; takes the methods that its path has."""


class Faces:
    """The faces of one listener."""

    def __init__(
        self,
        app: FacedApp,
        gateway: Gateway,
        access: CompatGateway,
        settings: Settings,
        keys: ApiKeyAuth,
        clock: Clock,
        base_url: str,
    ) -> None:
        self._app = app
        self._gateway = gateway
        self._access = access
        self._settings = settings
        self._keys = keys
        self._clock = clock
        self._base_url = base_url

    def add(self, name: str, face: GatewayFace) -> None:
        """Answer a face's paths.

        Raises:
            ConfigError: a path is malformed, or is already answered.
        """
        refuse = self._refuse(face, not_allowed)
        for path in face.paths:
            shape = _shape(name, path)
            taken = self._app.answers_at(path.path)
            if taken:
                raise _fault(name, f"its path {path.path} is the service's own")
            bound = {
                method: partial(self._answer, name, face, path, method) for method in path.methods
            }
            find = partial(_find, shape, path, bound, self._app.plain.bytes_max, refuse)
            self._app.plain.mount(find)

    def close(self, face: GatewayFace) -> None:
        """Let a face answer the unknown paths below its own. Called after all faces are mounted, so
        that none hides another's path."""
        if isinstance(face, WordsFaults) and (refuse := self._refuse(face, _unknown)) is not None:
            self._app.plain.mount(partial(_beneath, tuple(map(str.encode, face.beneath)), refuse))

    def _refuse(
        self, face: GatewayFace, problem_of: Callable[[Iterable[str]], Problem]
    ) -> Refuse | None:
        """Answers in a face's words what the face never gets; None: it has no such words."""
        if not isinstance(face, WordsFaults):
            return None

        async def refuse(methods: Iterable[str], _: PlainRequest) -> PlainAnswer:
            problem = problem_of(methods)
            answer = TypedAnswer(face.fault(problem.status, problem.message))
            answer.more = (*answer.more, *problem.headers.items())
            return answer

        return refuse

    async def _answer(
        self,
        name: str,
        face: GatewayFace,
        path: FacePath,
        method: str,
        arguments: Mapping[str, str],
        query: bytes,
        request: PlainRequest,
    ) -> PlainAnswer:
        now_ms = self._clock.now_ms()
        service = RequestService(
            self._gateway, self._access, self._settings, name, self._keys.address(request), now_ms
        )
        try:
            face_request = FaceRequest(
                request_id=request.id,
                method=method,
                path=path.path,
                arguments=arguments,
                query=fields_of(query),
                headers={
                    name.decode("latin-1"): values[0].decode("latin-1")
                    for name, values in request.fields.items()
                },
                base_url=self._base_url,
                received_at_ms=now_ms,
                read=partial(_read, request),
            )
            answer: PlainAnswer = TypedAnswer(await face.answer(face_request, service))
        except FaceRefusedError as refused:
            answer = problem_answer(_problem(refused), request.id)
        except Exception as error:  # noqa: BLE001 -- a plugin's bug has an answer too
            # Neither its text nor its trace: both may hold parts of the request.
            log.error(
                "faces.failed",
                face=name,
                error=type(error).__name__,
                at=_where(error),
                request_id=request.id,
            )
            problem = plain(500)
            if isinstance(face, WordsFaults):
                answer = TypedAnswer(face.fault(problem.status, problem.message))
            else:
                answer = problem_answer(problem, request.id)
        if service.failed:
            await self._app.plain.hold_guess(request.fields, request.client, answer.status)
        return answer


def _find(
    shape: re.Pattern[bytes],
    path: FacePath,
    bound: Mapping[str, Callable[..., Awaitable[PlainAnswer]]],
    body_bytes_max: int,
    refuse: Refuse | None,
    target: bytes,
) -> PlainPath | None:
    """The path for a target, with the handlers of this one request; None: another path."""
    place, _, query = target.partition(b"?")
    # Some libraries write a number's plus by its code, others as it is.
    place = _PLUS.sub(b"+", place)
    match = shape.fullmatch(place)
    if match is None or not is_plain_path(place):
        return None
    arguments = {name: value.decode("latin-1") for name, value in match.groupdict().items()}
    handlers: dict[str, Handler] = {
        method: partial(handle, arguments, query) for method, handle in bound.items()
    }
    if "GET" in handlers and not path.get_changes:
        handlers["HEAD"] = handlers["GET"]
    otherwise = None if refuse is None else partial(refuse, tuple(handlers))
    return PlainPath(path.path, handlers, body_bytes_max, otherwise)


def _beneath(starts: tuple[bytes, ...], refuse: Refuse, target: bytes) -> PlainPath | None:
    """The answer to an unknown path below a face's own; None: another path."""
    if not target.startswith(starts):
        return None
    return PlainPath("", {}, 0, partial(refuse, ()))


def _unknown(_: Iterable[str]) -> Problem:
    return plain(404)


def _shape(name: str, path: FacePath) -> re.Pattern[bytes]:
    """The pattern of a path.

    Raises:
        ConfigError: it is malformed.
    """
    plain_text = _PLACE.sub("x", re.escape(path.path)).replace("\\", "")
    if not is_plain_path(plain_text.encode()) or not {*path.methods} <= _METHODS:
        raise _fault(name, f"{path.path!r} is no path of a face")
    written = _PLACE.sub(_written, re.escape(path.path))
    return re.compile(written.encode())


def _written(place: re.Match[str]) -> str:
    """The pattern of a placeholder."""
    plus = r"\+?" if place[1] else ""
    return f"(?P<{place[2]}>{plus}[A-Za-z0-9_-]+)"


def _fault(name: str, text: str) -> ConfigError:
    return ConfigError([Fault(f"faces.{name}", text, "settings of the face")])


async def _read(request: PlainRequest) -> bytes:
    try:
        return await read_raw(request)
    except Problem as problem:
        raise FaceRefusedError(FaceRefusal.BAD_REQUEST, problem.message) from None


def _problem(refused: FaceRefusedError) -> Problem:
    headers = {}
    if refused.retry_after_s is not None:
        headers["Retry-After"] = str(refused.retry_after_s)
    return Problem(STATUSES.get(refused.refusal, 400), str(refused), headers=headers)


def _where(error: BaseException) -> str:
    """The file and line that an error comes from."""
    return next(iter(reversed([*_frames(error)])), "")


def _frames(error: BaseException) -> Iterator[str]:
    trace = error.__traceback__
    while trace is not None:
        yield f"{PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next


def add_faces(
    app: FacedApp,
    gateway: Gateway,
    access: CompatGateway,
    settings: Settings,
    faces: Mapping[str, GatewayFace],
    base_url: str,
    clock: Clock | None = None,
) -> None:
    """Answer the paths of faces in addition to the API's.

    Raises:
        ConfigError: a path is malformed, or is already answered.
    """
    keys = ApiKeyAuth(gateway, ClientAddresses(settings.http.trusted_proxies))
    base = settings.http.public_url or base_url
    mounted = Faces(app, gateway, access, settings, keys, clock or SystemClock(), base)
    for name, face in faces.items():
        mounted.add(name, face)
    for face in faces.values():
        mounted.close(face)


def mount(mounting: PathMounting) -> None:
    """Answer the paths of the plugins' faces; raises as :func:`add_faces`."""
    if not mounting.faces:
        return
    gateway = mounting.gateway
    access = gateway.access(ACCESS)
    add_faces(mounting.app, gateway, access, mounting.settings, mounting.faces, mounting.base_url)
