/* Programs with a known bug each, and without it: ordinary threads, locks and atomics. */
#ifndef SUITE_H
#define SUITE_H

#include <drawloom/pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef atomic_long var;

/* Two steps, as on plain memory. */
static inline long plus(var *variable, long by)
{
    long next = *variable + by;
    *variable = next;
    return next;
}

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

/* Within a session a finding, else the end of the program. */
static inline void fail(const char *condition)
{
    if (drawloom_task_self() != 0)
        drawloom_fail("assertion", condition, DRAWLOOM_HERE);
    fprintf(stderr, "failed: %s\n", condition);
    _exit(3);
}

static inline void create(pthread_t *thread, void *(*run)(void *), void *arg)
{
    if (pthread_create(thread, NULL, run, arg) != 0)
        fail("pthread_create");
}

static inline void join(pthread_t thread)
{
    if (pthread_join(thread, NULL) != 0)
        fail("pthread_join");
}

struct program {
    const char *name;
    void (*run)(int fixed);
};

#endif
