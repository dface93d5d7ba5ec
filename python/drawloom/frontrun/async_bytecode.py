"""`async_shuffler` by the name that it had before."""

from .async_shuffler import AsyncShuffler, _task_id_var
from .async_shuffler import __all__ as _all
from .async_shuffler import *  # noqa: F403

AsyncBytecodeShuffler = AsyncShuffler

__all__ = ["AsyncBytecodeShuffler", "_task_id_var", *_all]
