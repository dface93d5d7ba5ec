/* A lost update, two locks in opposite order, a channel: found, and with the right answer. */
#include <drawloom.h>
#include <stdio.h>
#include <string.h>

static int count;

static void add(void *arg)
{
    int seen;
    (void)arg;
    seen = DRAWLOOM_READ(count);
    DRAWLOOM_WRITE(count, seen + 1);
}

static uint64_t atomic_count;

static void add_atomically(void *arg)
{
    uint64_t seen;
    (void)arg;
    seen = drawloom_atomic_load(&atomic_count, 8, DRAWLOOM_SEQ_CST, DRAWLOOM_HERE);
    drawloom_atomic_store(&atomic_count, 8, seen + 1, DRAWLOOM_SEQ_CST, DRAWLOOM_HERE);
}

static void lost_update(void *arg)
{
    drawloom_handle other;
    (void)arg;
    atomic_count = 0;
    other = drawloom_task_spawn(add_atomically, NULL, DRAWLOOM_HERE);
    add_atomically(NULL);
    drawloom_task_join(other, DRAWLOOM_HERE);
    DRAWLOOM_ASSERT(atomic_count == 2);
}

static void race(void *arg)
{
    drawloom_handle other;
    (void)arg;
    count = 0;
    other = drawloom_task_spawn(add, NULL, DRAWLOOM_HERE);
    add(NULL);
    drawloom_task_join(other, DRAWLOOM_HERE);
}

static drawloom_handle first, second;

static void one_way(void *arg)
{
    (void)arg;
    drawloom_mutex_lock(first, DRAWLOOM_HERE);
    drawloom_mutex_lock(second, DRAWLOOM_HERE);
    drawloom_mutex_unlock(second, DRAWLOOM_HERE);
    drawloom_mutex_unlock(first, DRAWLOOM_HERE);
}

static void two_locks(void *arg)
{
    drawloom_handle other;
    (void)arg;
    first = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, DRAWLOOM_HERE);
    second = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, DRAWLOOM_HERE);
    other = drawloom_task_spawn(one_way, NULL, DRAWLOOM_HERE);
    drawloom_mutex_lock(second, DRAWLOOM_HERE);
    drawloom_mutex_lock(first, DRAWLOOM_HERE);
    drawloom_mutex_unlock(first, DRAWLOOM_HERE);
    drawloom_mutex_unlock(second, DRAWLOOM_HERE);
    drawloom_task_join(other, DRAWLOOM_HERE);
}

static void produce(void *arg)
{
    drawloom_handle chan = *(drawloom_handle *)arg;
    uint64_t i;
    for (i = 1; i <= 3; i++)
        drawloom_chan_send(chan, i, DRAWLOOM_HERE);
    drawloom_chan_release(chan, DRAWLOOM_HERE);
}

static void pipeline(void *arg)
{
    drawloom_handle chan, other;
    uint64_t message, sum = 0;
    (void)arg;
    chan = drawloom_chan_new(1, NULL, DRAWLOOM_HERE);
    other = drawloom_task_spawn(produce, &chan, DRAWLOOM_HERE);
    while (drawloom_chan_recv(chan, &message, DRAWLOOM_HERE) == DRAWLOOM_OK)
        sum += message;
    drawloom_task_join(other, DRAWLOOM_HERE);
    DRAWLOOM_ASSERT(sum == 6);
}

static int explore(const char *name, void (*body)(void *), const char *strategy)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result;
    drawloom_verdict verdict;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    drawloom_config_set(config, "strategy", strategy);
    drawloom_config_set(config, "trace", "false");
    verdict = drawloom_run(config, name, body, NULL, NULL, &result);
    printf("%s: %s%s%s, %lu executions%s\n", name, verdict == DRAWLOOM_PASSED ? "passed" : "failed",
           result.kind ? ": " : "", result.kind ? result.kind : "", (unsigned long)result.executions,
           result.exhausted ? ", exhausted" : "");
    drawloom_result_free(&result);
    drawloom_config_free(config);
    return verdict == DRAWLOOM_PASSED;
}

int main(void)
{
    explore("lost update", lost_update, "exhaustive");
    explore("lost update, sampled", lost_update, "auto");
    explore("race", race, "auto");
    explore("two locks", two_locks, "exhaustive");
    explore("pipeline", pipeline, "exhaustive");
    return 0;
}
