"""Words by which the server and the apps behind it understand each other, in a request's state."""

from __future__ import annotations

from typing import Final

IN_PLACE: Final = "in_place"
"""A key of a request's state. If present, the app may answer in the task that calls it, and call
``receive`` only when it wants the body: the server then requests it from the client (``100
Continue``), and notices itself when the client goes away. If missing, as on any other server, a
task of the app must listen meanwhile."""
