"""What the server and the apps behind it say to each other in a request's state."""

from __future__ import annotations

from typing import Final

ASK_FOR_BODY: Final = "ask_for_body"
"""In a request's state, where its client waits for leave to send the body: what gives the leave."""
