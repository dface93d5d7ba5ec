/* The tests of a program whose results are shown in one block. */
#include "half.h"

static long result;

static long stores(long closure) { return __pluto_chan_send(CAPTURE(closure, 1), 42); }

static long spawn_store(long channel)
{
    long closure = closure_of(stores, 1);
    CAPTURE(closure, 1) = channel;
    return __pluto_task_spawn(closure);
}

static void basic_spawn(void)
{
    long channel = __pluto_chan_create(1), task = spawn_store(channel);
    EXPECT(__pluto_task_get(task), 42);
}

static void pipeline(void)
{
    long channel = __pluto_chan_create(1);
    spawn_store(channel);
    EXPECT(__pluto_chan_recv(channel), 42);
}

static void no_deadlock(void)
{
    long channel = __pluto_chan_create(1);
    for (int i = 0; i < 5; i++)
        spawn_store(channel);
    for (int i = 0; i < 5; i++)
        EXPECT(__pluto_chan_recv(channel), 42);
}

/* The result is only there if the task was faster. */
static void ordering(void)
{
    long channel = __pluto_chan_create(1), task = spawn_store(channel);
    result = __pluto_chan_try_recv(channel);
    if (__pluto_has_error())
        __pluto_clear_error();
    __pluto_print_string(__pluto_string_new("looked", 6));
    __pluto_task_get(task);
    EXPECT(result, 42);
}

static const struct test tests[] = {
    {"basic spawn", basic_spawn, SEQUENTIAL, 1},
    {"channel pipeline", pipeline, ROUND_ROBIN, 100},
    {"no deadlock", no_deadlock, EXHAUSTIVE, 100},
    {"stress test", pipeline, RANDOM, 1000},
    {"ordering bug", ordering, RANDOM, 1000},
};

int main(void) { return run_tests(tests, COUNT(tests)); }
