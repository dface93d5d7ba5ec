"""A few of the random programs; `python tests/fuzz.py 2000` for many."""

import pytest
from fuzz import compare


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_and_traces_of_random_programs(seed):
    compare(seed)


def test_results_do_not_depend_on_when_threads_are_switched():
    for seed in range(5):
        compare(seed, repetitions=15)
