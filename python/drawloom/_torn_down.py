"""How threads are unwound."""

from __future__ import annotations


class TornDown(BaseException):
    """Unwinds a thread whose execution is over. Not to be caught."""
