"""Options of Frontrun, and their meaning here."""

from __future__ import annotations

from typing import Any

# What they would have to change is always so, or nothing: nobody waits for a clock, everything is seen, nothing is
# left behind from one execution to the next. By name, with the values that are so.
_ALWAYS: dict[str, Any] = {
    "clock_diagnostics": None,
    "debug": None,
    "deadlock_timeout": None,
    "detect_io": None,
    "max_branches": None,
    "max_ops": None,
    "patch_sleep": (True,),
    "reuse_workers": None,
    "timeout_per_run": None,
    "trace_packages": None,
    "track_dunder_dict_accesses": None,
    "warn_nondeterministic_sql": None,
    # A bound only ever leaves executions out. All are made, so what is told holds within any bound, too.
    "preemption_bound": None,
    # The order of executions, of which all are made.
    "search": None,
    "clock": ("real", "virtual"),
    "execution": ("thread",),
    "detect_sql": (False,),
    "lock_timeout": (None,),
    "error_on_any_race": (False,),
}


_WHY = {
    "clock": "timers fire when no task can run; with drawloom.explore(strategy='random', clock='explore') they also fire early",
    "execution": "processes are not under control, threads and tasks are",
    "detect_sql": "the rows that statements touch are not examined",
    "lock_timeout": "locks of databases are not under control",
    "error_on_any_race": "a race is a failure only if it has an effect; state the required property as an invariant",
    "patch_sleep": "time is virtual, and always so",
}


def check(options: dict[str, Any], function: str) -> None:
    """Raises if an option is none of Frontrun's, or cannot be done here."""
    for name, value in options.items():
        if name not in _ALWAYS:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        possible = _ALWAYS[name]
        if possible is not None and value not in possible:
            raise NotImplementedError(f"{function}({name}={value!r}): {_WHY.get(name, 'cannot be done here')}")
