"""``python -m proofs.authorization``: writes the page anew."""

from __future__ import annotations

from pathlib import Path

from proofs.authorization.page import render

PAGE = Path(__file__).parents[2] / "docs/reference/authorization.md"

if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
