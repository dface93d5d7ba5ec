"""Where objects lie, what the process did before and what the system hands out reaches no result."""

import asyncio
import ctypes
import gc
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import weakref
from _thread import get_ident

import pytest
from common import Box, exhaust, one_interval

import drawloom

pytestmark = one_interval


def resources(result):
    return [resource["name"] for resource in json.loads(result.findings[0].record)["resources"]]


def test_an_attribute_of_a_list_is_called_by_its_name():
    class Named(list):
        count_of = 0

    def adds(s):
        s.count_of += 1

    result = exhaust(Named, [adds, adds], lambda s: s.count_of == 2)
    assert resources(result) == ["Named.count_of"]


def test_a_dict_with_the_names_of_a_module_is_none():
    def adds(s):
        s["a"] += 1

    result = exhaust(lambda: {"__name__": "x", "a": 0}, [adds, adds], lambda s: s["a"] == 2)
    assert resources(result) == ["dict['a']"]
