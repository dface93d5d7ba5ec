/* What generated code sees of Pluto's runtime: the names that the compiler calls, and a few words to write such code by. */
#ifndef HALF_H
#define HALF_H

#include <stddef.h>
#include <stdint.h>

/* The library's. */
void __pluto_test_start(void *name);
void __pluto_test_run(long code, long strategy, long seed, long iterations);
void __pluto_test_pass(void);
void __pluto_test_summary(long count);
long __pluto_task_spawn(long closure);
long __pluto_task_get(long task);
void __pluto_task_detach(long task);
void __pluto_task_cancel(long task);
long __pluto_chan_create(long capacity);
long __pluto_chan_send(long channel, long message);
long __pluto_chan_recv(long channel);
long __pluto_chan_try_send(long channel, long message);
long __pluto_chan_try_recv(long channel);
void __pluto_chan_close(long channel);
void __pluto_chan_sender_inc(long channel);
void __pluto_chan_sender_dec(long channel);
long __pluto_select(long buffer, long count, long has_default);
long __pluto_rwlock_init(void);
void __pluto_rwlock_rdlock(long lock);
void __pluto_rwlock_wrlock(long lock);
void __pluto_rwlock_unlock(long lock);
long __pluto_time_ns(void);
long __pluto_time_wall_ns(void);
void __pluto_time_sleep_ns(long nanos);
void __pluto_random_seed(long seed);
long __pluto_random_int(void);
double __pluto_random_float(void);
void __pluto_print_int(long value);
void __pluto_print_float(double value);
void __pluto_print_string(void *text);
void __pluto_print_bool(int value);

/* The other half: half.c. */
void __pluto_gc_init(void *bottom);
void *gc_alloc(size_t size, uint8_t tag, uint16_t slots);
void *__pluto_alloc(long size);
void *__pluto_string_new(const char *bytes, long length);
void __pluto_string_data(void *text, const char **bytes, long *length);
void __pluto_raise_error(void *error);
void __pluto_error_set_type(void *kind);
long __pluto_has_error(void);
void *__pluto_get_error(void);
void *__pluto_get_error_type(void);
void __pluto_clear_error(void);
void __pluto_expect_equal_int(long actual, long expected, long line);
void __pluto_expect_true(long actual, long line);
long collections(void);
long heap_bytes(void);

extern __thread void *__pluto_current_error;

/* The strategies' numbers. */
enum { SEQUENTIAL, ROUND_ROBIN, RANDOM, EXHAUSTIVE };

/* A string of the heap. */
#define TEXT(literal) ((long)__pluto_string_new(literal, (long)sizeof(literal) - 1))
/* A closure of a function with so many captures; which are set next. */
long closure_of(long (*code)(long), int captures);
#define CAPTURE(closure, number) (((long *)(closure))[(number)])
/* Raises an error with a message, and a type. */
void raise_text(const char *message, const char *kind);
/* The message of the pending error, which is no more; empty if there is none. */
const char *caught(void);
/* Whether a string of the heap says this. */
int says(long text, const char *expected);
/* `expect(actual).to_equal(expected)` */
#define EXPECT(actual, expected) __pluto_expect_equal_int((actual), (expected), __LINE__)
#define EXPECT_TRUE(condition) __pluto_expect_true((condition) ? 1 : 0, __LINE__)
/* The end of a function with a sender. */
#define END_OF_SENDER(channel) __pluto_chan_sender_dec(channel)

/* A program of tests, as the compiler makes its main function. */
struct test {
    const char *name;
    void (*code)(void);
    long strategy, iterations;
};
int run_tests(const struct test *tests, int count);
#define COUNT(tests) ((int)(sizeof(tests) / sizeof((tests)[0])))

#endif
