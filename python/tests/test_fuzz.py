"""A few of the random programs; `python tests/fuzz.py 2000` and `python tests/fuzz_forms.py` for many."""

import pytest
from fuzz import compare
from fuzz_forms import compare_long, compare_pauses, compare_yields


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_and_traces_of_random_programs(seed):
    compare(seed)


def test_results_do_not_depend_on_when_threads_are_switched():
    for seed in range(5):
        compare(seed, repetitions=15)


@pytest.mark.parametrize("seed", range(20))
def test_long_functions_come_to_the_same_as_short_ones(seed):
    compare_long(seed)


@pytest.mark.parametrize("seed", range(20))
def test_threads_that_yield_lose_no_outcome(seed):
    compare_yields(seed)


@pytest.mark.parametrize("seed", range(10))
def test_tasks_that_pause_lose_no_outcome(seed):
    pytest.importorskip("trio")
    compare_pauses(seed)
