"""What the server and the apps behind it say to each other in a request's state."""

from __future__ import annotations

from typing import Final

IN_PLACE: Final = "in_place"
"""In a request's state: the app may answer in the task that calls it, and call ``receive`` when it
wants the body and not before. The server asks for it (``100 Continue``), and sees by itself whether
the client goes away. Without it, as on any other server, somebody must listen meanwhile."""
