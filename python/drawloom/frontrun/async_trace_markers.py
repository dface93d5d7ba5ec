"""Markers in coroutines."""

from ..markers import AsyncTraceExecutor, async_frontrun

__all__ = ["AsyncTraceExecutor", "async_frontrun"]
