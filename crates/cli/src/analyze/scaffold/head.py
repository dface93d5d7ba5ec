"""@SENTENCE@.

Runs both functions under Drawloom and fails if the suspected interleaving happens: Task A comes to its first line, Task B
makes its change, and Task A goes on. What the functions need is replaced by stand-ins; put the real thing in `make` where
that matters.
"""

import ast
import asyncio
import contextvars
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import os
import sys
import time
import types

import drawloom

FILE = @FILE@
FIRST, SECOND = @FIRST@, @SECOND@
OPENS, INTRUDES, CLOSES = @OPENS@, @INTRUDES@, @CLOSES@
STATE, BACKEND, FILLED = @STATE@, @BACKEND@, @FILLED@
# Whether Task A is cancelled in its window.
CANCELS = @CANCELS@
SCENARIO = None
