/* What a runtime misses that interleaves tasks only where they wait, and prunes without looking at what follows. Each of these
   has schedules in which it fails, or a collection in the midst of an execution. */
#include "half.h"

#include <string.h>

static long spawn2(long (*code)(long), long a, long b)
{
    long closure = closure_of(code, 2);
    CAPTURE(closure, 1) = a;
    CAPTURE(closure, 2) = b;
    return __pluto_task_spawn(closure);
}

/* Takes a token from each of two channels, and gives both back. */
static long takes_both(long closure)
{
    long first = CAPTURE(closure, 1), second = CAPTURE(closure, 2);
    long a = __pluto_chan_recv(first), b = __pluto_chan_recv(second);
    __pluto_chan_send(second, b);
    __pluto_chan_send(first, a);
    return 0;
}

static void ab_ba(void)
{
    long a = __pluto_chan_create(1), b = __pluto_chan_create(1), one, other;
    __pluto_chan_send(a, 1);
    __pluto_chan_send(b, 1);
    one = spawn2(takes_both, a, b);
    other = spawn2(takes_both, b, a);
    __pluto_task_get(one);
    __pluto_task_get(other);
}

/* Reads a cell, which is a channel with one message, and writes it by a second exchange. */
static long increments(long closure)
{
    long cell = CAPTURE(closure, 1), seen = __pluto_chan_recv(cell);
    __pluto_chan_send(cell, seen);
    __pluto_chan_recv(cell);
    __pluto_chan_send(cell, seen + 1);
    return 0;
}

static void lost_update(void)
{
    long cell = __pluto_chan_create(1), one, other;
    __pluto_chan_send(cell, 0);
    one = spawn2(increments, cell, 0);
    other = spawn2(increments, cell, 0);
    __pluto_task_get(one);
    __pluto_task_get(other);
    EXPECT(__pluto_chan_recv(cell), 2);
}

static long sends_twice(long closure)
{
    __pluto_chan_send(CAPTURE(closure, 1), CAPTURE(closure, 2));
    __pluto_chan_send(CAPTURE(closure, 1), CAPTURE(closure, 2));
    return 0;
}

static void pairs(void)
{
    long channel = __pluto_chan_create(4), one = spawn2(sends_twice, channel, 1), other = spawn2(sends_twice, channel, 2);
    long first;
    __pluto_task_get(one);
    __pluto_task_get(other);
    first = __pluto_chan_recv(channel);
    EXPECT(__pluto_chan_recv(channel), first);
}

static long relays(long closure) { return __pluto_chan_send(CAPTURE(closure, 2), __pluto_chan_recv(CAPTURE(closure, 1))); }
static long sends(long closure) { return __pluto_chan_send(CAPTURE(closure, 1), CAPTURE(closure, 2)); }

static void transitive_order(void)
{
    long a = __pluto_chan_create(1), b = __pluto_chan_create(2);
    long one = spawn2(sends, a, 1), relay = spawn2(relays, a, b), other = spawn2(sends, b, 9);
    __pluto_task_get(one);
    __pluto_task_get(relay);
    __pluto_task_get(other);
    EXPECT(__pluto_chan_recv(b), 9);
}

static void try_after_a_spawn(void)
{
    long channel = __pluto_chan_create(1), task = spawn2(sends, channel, 5), got = __pluto_chan_try_recv(channel);
    if (__pluto_has_error())
        __pluto_clear_error();
    __pluto_task_get(task);
    EXPECT(got, 5);
}

static void every_arm_of_a_select(void)
{
    long a = __pluto_chan_create(1), b = __pluto_chan_create(1), arms[6] = {a, b, 0, 0, 0, 0};
    __pluto_chan_send(a, 1);
    __pluto_chan_send(b, 2);
    EXPECT(__pluto_select((long)arms, 2, 0), 0);
}

static void cancel_against_completion(void)
{
    long channel = __pluto_chan_create(1), task = spawn2(sends, channel, 5);
    __pluto_task_cancel(task);
    EXPECT(__pluto_task_get(task), 5);
}

static long spins(long closure)
{
    long channel = CAPTURE(closure, 1), got;
    do {
        got = __pluto_chan_try_recv(channel);
        if (__pluto_has_error())
            __pluto_clear_error();
    } while (got == 0);
    return got;
}

/* Nobody ever sends. */
static void a_task_that_spins(void) { __pluto_task_get(spawn2(spins, __pluto_chan_create(1), 0)); }

/* 40 messages and as many switches: deeper than 200 steps, and the last one is wrong. */
static long sends_many(long closure)
{
    for (long i = 0; i < 60; i++)
        __pluto_chan_send(CAPTURE(closure, 1), i);
    return 0;
}

static void deep(void)
{
    long channel = __pluto_chan_create(1), task = spawn2(sends_many, channel, 0), last = 0;
    for (long i = 0; i < 60; i++)
        last = __pluto_chan_recv(channel);
    __pluto_task_get(task);
    EXPECT(last, 60);
}

/* Strings that only a channel's ring, a blocked sender's stack or a task that nobody holds keeps alive. */
static long sends_texts(long closure)
{
    long channel = CAPTURE(closure, 1);
    for (int i = 0; i < 50; i++) {
        long junk = 0;
        for (int j = 0; j < 20; j++)
            junk = TEXT("forgotten as soon as it is made, and long enough to matter to the heap of a test");
        EXPECT_TRUE(junk != 0);
        __pluto_chan_send(channel, TEXT("message"));
    }
    return 0;
}

static void a_collection_in_the_midst(void)
{
    long channel = __pluto_chan_create(1);
    long before = collections();
    spawn2(sends_texts, channel, 0);
    spawn2(sends_texts, channel, 0);
    for (int i = 0; i < 100; i++)
        EXPECT_TRUE(says(__pluto_chan_recv(channel), "message"));
    EXPECT_TRUE(collections() > before);
}

static long raises_kind(long closure)
{
    (void)closure;
    raise_text("kept", "Kind");
    return 0;
}

static void the_type_of_an_error_outlives_collections(void)
{
    long task = __pluto_task_spawn(closure_of(raises_kind, 0)), other = __pluto_task_spawn(closure_of(raises_kind, 0));
    __pluto_task_get(other);
    __pluto_clear_error();
    for (int i = 0; i < 2000; i++)
        (void)TEXT("forgotten, so that there is a collection before anybody asks for the error");
    __pluto_task_get(task);
    EXPECT_TRUE(says((long)__pluto_get_error_type(), "Kind"));
    EXPECT_TRUE(strcmp(caught(), "kept") == 0);
}

static void the_heap_does_not_grow(void)
{
    static long most;
    long channel = __pluto_chan_create(1), task = spawn2(sends_texts, channel, 0);
    for (int i = 0; i < 50; i++)
        (void)__pluto_chan_recv(channel);
    __pluto_task_get(task);
    if (most == 0)
        most = heap_bytes() + (256 << 10);
    EXPECT_TRUE(heap_bytes() < most);
}

static long nothing(long closure) { (void)closure; return 1; }

/* More tasks in all than a table of 256 has room for; a few at a time. */
static void many_tasks(void)
{
    for (int i = 0; i < 400; i++)
        EXPECT(__pluto_task_get(__pluto_task_spawn(closure_of(nothing, 0))), 1);
}

static void too_many_tasks_at_a_time(void)
{
    long channel = __pluto_chan_create(1);
    for (int i = 0; i < 300; i++)
        spawn2(relays, channel, channel);
    EXPECT(1, 1);
}

static long deep_frames(long depth)
{
    volatile char room[1024];
    room[0] = (char)depth;
    return depth == 0 ? room[0] : deep_frames(depth - 1) + room[0];
}

static long recurses(long closure) { (void)closure; return deep_frames(100) != 0; }
static void a_hundred_kilobytes_of_stack(void) { EXPECT(__pluto_task_get(__pluto_task_spawn(closure_of(recurses, 0))), 1); }

#define EVERY(test) {#test, test, EXHAUSTIVE, 100}

static const struct test tests[] = {
    EVERY(ab_ba),
    EVERY(lost_update),
    EVERY(pairs),
    EVERY(transitive_order),
    EVERY(try_after_a_spawn),
    EVERY(every_arm_of_a_select),
    EVERY(cancel_against_completion),
    {"ab_ba, drawn", ab_ba, RANDOM, 100},
    {"lost_update, drawn", lost_update, RANDOM, 100},
    {"a_task_that_spins", a_task_that_spins, RANDOM, 1},
    EVERY(deep),
    {"a_collection_in_the_midst", a_collection_in_the_midst, RANDOM, 20},
    EVERY(the_type_of_an_error_outlives_collections),
    {"the_heap_does_not_grow", the_heap_does_not_grow, RANDOM, 100},
    EVERY(many_tasks),
    EVERY(a_hundred_kilobytes_of_stack),
};

/* Apart: its schedule is long. */
static const struct test crowd[] = {{"too_many_tasks_at_a_time", too_many_tasks_at_a_time, RANDOM, 1}};

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? run_tests(crowd, COUNT(crowd)) : run_tests(tests, COUNT(tests));
}
