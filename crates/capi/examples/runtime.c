#include <drawloom.h>
#include <stdio.h>
#include <string.h>

/* The runtime: `spawn` and channels of a language, as its generated code calls them from elsewhere. */
#define RUNTIME static __attribute__((noinline))
typedef struct closure {
    void (*code)(struct closure *self);
    drawloom_handle captured;
} closure;

static void run_closure(void *arg)
{
    closure *called = (closure *)arg;
    called->code(called);
}

RUNTIME drawloom_handle rt_spawn(closure *called) { return drawloom_task_spawn(run_closure, called, DRAWLOOM_CALLER); }
RUNTIME void rt_join(drawloom_handle task) { drawloom_task_join(task, DRAWLOOM_CALLER); }
RUNTIME drawloom_handle rt_chan(uint64_t capacity) { return drawloom_chan_new(capacity, NULL, DRAWLOOM_CALLER); }
RUNTIME void rt_send(drawloom_handle chan, uint64_t value) { drawloom_chan_send(chan, value, DRAWLOOM_CALLER); }

RUNTIME uint64_t rt_recv(drawloom_handle chan)
{
    uint64_t value = 0;
    drawloom_chan_recv(chan, &value, DRAWLOOM_CALLER);
    return value;
}

/* A program of the language: two tasks add one to a counter that is kept in a channel. */
static void increment(closure *self)
{
    uint64_t seen = rt_recv(self->captured);
    rt_send(self->captured, seen);
    rt_recv(self->captured);
    rt_send(self->captured, seen + 1);
}

static void test(void *arg)
{
    closure one = {increment, 0}, other = {increment, 0};
    drawloom_handle counter = rt_chan(1), first, second;
    (void)arg;
    rt_send(counter, 0);
    one.captured = other.captured = counter;
    first = rt_spawn(&one);
    second = rt_spawn(&other);
    rt_join(first);
    rt_join(second);
    DRAWLOOM_ASSERT(rt_recv(counter) == 2);
}

int main(void)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_config_set(config, "strategy", "exhaustive");
    drawloom_verdict verdict = drawloom_run(config, "two increments", test, NULL, NULL, NULL);
    return verdict == DRAWLOOM_FAILED || verdict == DRAWLOOM_ERROR;
}
