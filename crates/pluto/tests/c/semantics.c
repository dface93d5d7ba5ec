/* What the compiler's code relies on, one test for each line of it. */
#include "half.h"

#include <string.h>

/* Closures, as generated code has them: the code, then what is captured. */
static long answer(long closure) { (void)closure; return 42; }
static long half_of(long closure) { double x = (double)CAPTURE(closure, 1) / 2; long bits; memcpy(&bits, &x, 8); return bits; }
static long fails(long closure) { (void)closure; raise_text("broken", "Odd"); return 0; }
static long nothing(long closure) { (void)closure; return 0; }

static long sends_one(long closure)
{
    long tx = CAPTURE(closure, 1);
    __pluto_chan_send(tx, CAPTURE(closure, 2));
    END_OF_SENDER(tx);
    return 0;
}

static long receives(long closure) { return __pluto_chan_recv(CAPTURE(closure, 1)); }

static long spawn_sender(long channel, long value)
{
    long closure = closure_of(sends_one, 2);
    CAPTURE(closure, 1) = channel;
    CAPTURE(closure, 2) = value;
    __pluto_chan_sender_inc(channel);
    return __pluto_task_spawn(closure);
}

static long spawn_receiver(long channel)
{
    long closure = closure_of(receives, 1);
    CAPTURE(closure, 1) = channel;
    return __pluto_task_spawn(closure);
}

static void a_result_is_got_as_often_as_asked(void)
{
    long task = __pluto_task_spawn(closure_of(answer, 0));
    EXPECT(__pluto_task_get(task), 42);
    EXPECT(__pluto_task_get(task), 42);
}

static void a_float_comes_as_its_bits(void)
{
    long closure = closure_of(half_of, 1), bits;
    double x;
    CAPTURE(closure, 1) = 5;
    bits = __pluto_task_get(__pluto_task_spawn(closure));
    memcpy(&x, &bits, 8);
    EXPECT_TRUE(x == 2.5);
}

static void an_error_of_a_task_is_the_getters(void)
{
    long task = __pluto_task_spawn(closure_of(fails, 0));
    EXPECT(__pluto_task_get(task), 0);
    EXPECT_TRUE(says((long)__pluto_get_error_type(), "Odd"));
    EXPECT_TRUE(strcmp(caught(), "broken") == 0);
    EXPECT(__pluto_task_get(task), 0);
    EXPECT_TRUE(strcmp(caught(), "broken") == 0);
}

static void an_error_that_is_pending_stays_with_its_task(void)
{
    long (*code)(long) = answer;
    raise_text("mine", "Own");
    EXPECT(__pluto_task_get(__pluto_task_spawn(closure_of(code, 0))), 42);
    EXPECT_TRUE(says((long)__pluto_get_error_type(), "Own"));
    EXPECT_TRUE(strcmp(caught(), "mine") == 0);
}

static void a_channel_without_room_has_room_for_one(void)
{
    long channel = __pluto_chan_create(0);
    EXPECT(__pluto_chan_send(channel, 7), 7);
    EXPECT(__pluto_chan_recv(channel), 7);
    END_OF_SENDER(channel);
}

static void messages_come_in_order(void)
{
    long channel = __pluto_chan_create(3);
    for (long i = 1; i <= 3; i++)
        __pluto_chan_send(channel, i);
    for (long i = 1; i <= 3; i++)
        EXPECT(__pluto_chan_recv(channel), i);
    END_OF_SENDER(channel);
}

static void a_full_channel_refuses_and_an_empty_one_too(void)
{
    long channel = __pluto_chan_create(1);
    EXPECT(__pluto_chan_try_recv(channel), 0);
    EXPECT_TRUE(strcmp(caught(), "channel empty") == 0);
    EXPECT(__pluto_chan_try_send(channel, 5), 5);
    EXPECT(__pluto_chan_try_send(channel, 6), 0);
    EXPECT_TRUE(strcmp(caught(), "channel full") == 0);
    EXPECT(__pluto_chan_try_recv(channel), 5);
    END_OF_SENDER(channel);
}

static void a_closed_channel_gives_what_is_in_it_first(void)
{
    long channel = __pluto_chan_create(2);
    __pluto_chan_send(channel, 1);
    END_OF_SENDER(channel);
    EXPECT(__pluto_chan_recv(channel), 1);
    EXPECT(__pluto_chan_recv(channel), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
    EXPECT(__pluto_chan_try_recv(channel), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void closed_counts_for_more_than_full(void)
{
    long channel = __pluto_chan_create(1);
    __pluto_chan_send(channel, 1);
    __pluto_chan_close(channel);
    EXPECT(__pluto_chan_try_send(channel, 2), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
    EXPECT(__pluto_chan_send(channel, 2), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void closing_twice_does_no_harm(void)
{
    long channel = __pluto_chan_create(1);
    END_OF_SENDER(channel);
    END_OF_SENDER(channel);
    END_OF_SENDER(channel);
    EXPECT(__pluto_chan_recv(channel), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void no_channel_is_no_harm_to_who_counts_senders(void)
{
    __pluto_chan_sender_inc(0);
    __pluto_chan_sender_dec(0);
}

static void who_closes_twice_takes_it_from_others(void)
{
    long channel = __pluto_chan_create(1), task = spawn_sender(channel, 1);
    EXPECT(__pluto_task_get(task), 0);
    /* Its close, and the end of its function. Main had the last one. */
    __pluto_chan_sender_dec(channel);
    __pluto_chan_send(channel, 2);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
    END_OF_SENDER(channel);
}

static void the_last_sender_closes(void)
{
    long channel = __pluto_chan_create(2), sum = 0;
    spawn_sender(channel, 1);
    spawn_sender(channel, 2);
    END_OF_SENDER(channel);
    for (;;) {
        long message = __pluto_chan_recv(channel);
        if (__pluto_has_error())
            break;
        sum += message;
    }
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
    EXPECT(sum, 3);
}

static void a_close_wakes_who_waits_for_a_message(void)
{
    long channel = __pluto_chan_create(1), task = spawn_receiver(channel);
    END_OF_SENDER(channel);
    EXPECT(__pluto_task_get(task), 0);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void a_close_wakes_who_waits_for_room(void)
{
    long channel = __pluto_chan_create(1), task;
    __pluto_chan_send(channel, 0);
    task = spawn_sender(channel, 1);
    __pluto_chan_close(channel);
    __pluto_task_get(task);
    (void)caught();
    EXPECT(__pluto_chan_recv(channel), 0);
    END_OF_SENDER(channel);
}

static void select_takes_what_is_ready(void)
{
    long one = __pluto_chan_create(1), two = __pluto_chan_create(1), arms[6] = {one, two, 0, 0, 0, 0};
    __pluto_chan_send(two, 9);
    EXPECT(__pluto_select((long)arms, 2, 0), 1);
    EXPECT(arms[5], 9);
    END_OF_SENDER(two);
    END_OF_SENDER(one);
}

static void select_sends(void)
{
    long full = __pluto_chan_create(1), room = __pluto_chan_create(1), arms[6] = {full, room, 1, 1, 3, 4};
    __pluto_chan_send(full, 0);
    EXPECT(__pluto_select((long)arms, 2, 0), 1);
    EXPECT(__pluto_chan_recv(room), 4);
    END_OF_SENDER(room);
    END_OF_SENDER(full);
}

static void select_with_a_default_does_not_wait(void)
{
    long channel = __pluto_chan_create(1), arms[3] = {channel, 0, 0};
    EXPECT(__pluto_select((long)arms, 1, 1), -1);
    END_OF_SENDER(channel);
    EXPECT(__pluto_select((long)arms, 1, 1), -1);
    EXPECT_TRUE(!__pluto_has_error());
}

static void select_of_closed_channels_is_an_error(void)
{
    long channel = __pluto_chan_create(1), arms[6] = {channel, channel, 0, 1, 0, 1};
    END_OF_SENDER(channel);
    EXPECT(__pluto_select((long)arms, 2, 0), -2);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void select_never_chooses_a_closed_arm(void)
{
    long closed = __pluto_chan_create(1), open = __pluto_chan_create(1), arms[6] = {closed, open, 0, 0, 0, 0};
    END_OF_SENDER(closed);
    spawn_sender(open, 6);
    EXPECT(__pluto_select((long)arms, 2, 0), 1);
    EXPECT(arms[5], 6);
    END_OF_SENDER(open);
}

static void select_waits_until_all_are_closed(void)
{
    long one = __pluto_chan_create(1), arms[3] = {one, 0, 0}, task = spawn_sender(one, 1);
    END_OF_SENDER(one);
    EXPECT(__pluto_select((long)arms, 1, 0), 0);
    EXPECT(__pluto_select((long)arms, 1, 0), -2);
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
    __pluto_task_get(task);
}

static void a_task_that_waits_can_be_cancelled(void)
{
    long channel = __pluto_chan_create(1), task = spawn_receiver(channel);
    __pluto_task_cancel(task);
    EXPECT(__pluto_task_get(task), 0);
    EXPECT_TRUE(strcmp(caught(), "task cancelled") == 0);
    END_OF_SENDER(channel);
}

static void a_cancelled_task_gives_back_its_senders(void)
{
    long channel = __pluto_chan_create(1), task;
    __pluto_chan_send(channel, 1);
    task = spawn_sender(channel, 2);
    __pluto_task_cancel(task);
    END_OF_SENDER(channel);
    while (__pluto_chan_recv(channel), !__pluto_has_error())
        ;
    EXPECT_TRUE(strcmp(caught(), "channel closed") == 0);
}

static void a_task_that_is_done_keeps_its_result(void)
{
    long channel = __pluto_chan_create(1), task = spawn_sender(channel, 3), got;
    EXPECT(__pluto_chan_recv(channel), 3);
    got = __pluto_task_spawn(closure_of(answer, 0));
    EXPECT(__pluto_task_get(got), 42);
    __pluto_task_cancel(got);
    EXPECT(__pluto_task_get(got), 42);
    __pluto_task_get(task);
    END_OF_SENDER(channel);
}

static void a_detached_task_is_nobodys(void)
{
    __pluto_task_detach(__pluto_task_spawn(closure_of(fails, 0)));
    __pluto_task_detach(__pluto_task_spawn(closure_of(nothing, 0)));
    EXPECT_TRUE(!__pluto_has_error());
}

static void clocks_begin_anew_and_sleep_takes_no_time(void)
{
    long begin = __pluto_time_ns(), wall = __pluto_time_wall_ns();
    EXPECT(begin, 0);
    __pluto_time_sleep_ns(3600000000000L);
    EXPECT(__pluto_time_ns(), 3600000000000L);
    EXPECT(__pluto_time_wall_ns() - wall, 3600000000000L);
}

static long first_draw, draws;
static long draws_one(long closure) { (void)closure; return __pluto_random_int(); }

static void random_numbers_are_the_same_in_every_schedule(void)
{
    long one = __pluto_task_spawn(closure_of(draws_one, 0)), other = __pluto_task_spawn(closure_of(draws_one, 0));
    long a = __pluto_task_get(one), b = __pluto_task_get(other);
    double x = __pluto_random_float();
    EXPECT_TRUE(a != b);
    EXPECT_TRUE(x >= 0 && x < 1);
    if (draws++ == 0)
        first_draw = a;
    EXPECT(a, first_draw);
    __pluto_random_seed(5);
    a = __pluto_random_int();
    __pluto_random_seed(5);
    EXPECT(__pluto_random_int(), a);
}

static long lock;
static long guarded;

static long writes(long closure)
{
    (void)closure;
    __pluto_rwlock_wrlock(lock);
    guarded++;
    __pluto_rwlock_unlock(lock);
    return 0;
}

static void locks_of_singletons_outlive_executions(void)
{
    long one, other;
    if (lock == 0)
        lock = __pluto_rwlock_init();
    guarded = 0;
    one = __pluto_task_spawn(closure_of(writes, 0));
    other = __pluto_task_spawn(closure_of(writes, 0));
    __pluto_task_get(one);
    __pluto_task_get(other);
    __pluto_rwlock_rdlock(lock);
    EXPECT(guarded, 2);
    __pluto_rwlock_unlock(lock);
}

#define EVERY(test) {#test, test, EXHAUSTIVE, 100}
#define INLINE(test) {#test " (inline)", test, SEQUENTIAL, 1}

static const struct test tests[] = {
    EVERY(a_result_is_got_as_often_as_asked),
    INLINE(a_result_is_got_as_often_as_asked),
    EVERY(a_float_comes_as_its_bits),
    EVERY(an_error_of_a_task_is_the_getters),
    INLINE(an_error_of_a_task_is_the_getters),
    EVERY(an_error_that_is_pending_stays_with_its_task),
    INLINE(an_error_that_is_pending_stays_with_its_task),
    EVERY(a_channel_without_room_has_room_for_one),
    EVERY(messages_come_in_order),
    INLINE(messages_come_in_order),
    EVERY(a_full_channel_refuses_and_an_empty_one_too),
    INLINE(a_full_channel_refuses_and_an_empty_one_too),
    EVERY(a_closed_channel_gives_what_is_in_it_first),
    INLINE(a_closed_channel_gives_what_is_in_it_first),
    EVERY(closed_counts_for_more_than_full),
    INLINE(closed_counts_for_more_than_full),
    EVERY(closing_twice_does_no_harm),
    INLINE(closing_twice_does_no_harm),
    EVERY(no_channel_is_no_harm_to_who_counts_senders),
    EVERY(who_closes_twice_takes_it_from_others),
    EVERY(the_last_sender_closes),
    EVERY(a_close_wakes_who_waits_for_a_message),
    EVERY(a_close_wakes_who_waits_for_room),
    EVERY(select_takes_what_is_ready),
    INLINE(select_takes_what_is_ready),
    EVERY(select_sends),
    EVERY(select_with_a_default_does_not_wait),
    INLINE(select_with_a_default_does_not_wait),
    EVERY(select_of_closed_channels_is_an_error),
    INLINE(select_of_closed_channels_is_an_error),
    EVERY(select_never_chooses_a_closed_arm),
    EVERY(select_waits_until_all_are_closed),
    EVERY(a_task_that_waits_can_be_cancelled),
    EVERY(a_cancelled_task_gives_back_its_senders),
    EVERY(a_task_that_is_done_keeps_its_result),
    INLINE(a_task_that_is_done_keeps_its_result),
    EVERY(a_detached_task_is_nobodys),
    EVERY(clocks_begin_anew_and_sleep_takes_no_time),
    INLINE(clocks_begin_anew_and_sleep_takes_no_time),
    EVERY(random_numbers_are_the_same_in_every_schedule),
    EVERY(locks_of_singletons_outlive_executions),
};

int main(void) { return run_tests(tests, COUNT(tests)); }
