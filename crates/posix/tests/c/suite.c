/* Twelve programs of the suite of bugs, as C. `suite NAME STRATEGY` explores the one with the bug, `suite NAME STRATEGY fixed`
   the one without; `suite NAME` runs it on threads of the system. */
#include "suite.h"

static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER, other_lock = PTHREAD_MUTEX_INITIALIZER;
static var a, b, c, d;
static int is_fixed;

static void lock(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
static void unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }

static void run_all(int count, void *(*const threads[])(void *))
{
    pthread_t started[4];
    for (int i = 0; i < count; i++)
        create(&started[i], threads[i], NULL);
    for (int i = 0; i < count; i++)
        join(started[i]);
}
#define RUN(...) run_all(sizeof((void *(*[])(void *)){__VA_ARGS__}) / sizeof(void *), (void *(*const[])(void *)){__VA_ARGS__})
#define THREAD(name) static void *name(void *arg)
#define UNUSED (void)arg

/* A read and a write each. */
THREAD(increment)
{
    UNUSED;
    if (is_fixed)
        atomic_fetch_add(&a, 1);
    else
        plus(&a, 1);
    return NULL;
}

static void lost_update(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    RUN(increment, increment);
    CHECK(drawloom_task_self() != 0 ? a == 2 : a <= 2);
}

/* Two locks, taken in opposite order. */
THREAD(first_then_second)
{
    UNUSED;
    lock(&one_lock);
    lock(&other_lock);
    plus(&a, 1);
    unlock(&other_lock);
    unlock(&one_lock);
    return NULL;
}

THREAD(second_then_first)
{
    pthread_mutex_t *first = is_fixed ? &one_lock : &other_lock, *second = is_fixed ? &other_lock : &one_lock;
    UNUSED;
    lock(first);
    lock(second);
    plus(&a, 1);
    unlock(second);
    unlock(first);
    return NULL;
}

static void deadlock01(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    RUN(first_then_second, second_then_first);
}

/* The balance is wrong when all three have come in this order. a: balance, b: deposited, c: withdrawn. */
THREAD(check_balance)
{
    UNUSED;
    lock(&one_lock);
    if (b == 1 && c == 1)
        CHECK(a == (is_fixed ? -1 : -5));
    unlock(&one_lock);
    return NULL;
}

THREAD(deposit)
{
    UNUSED;
    lock(&one_lock);
    plus(&a, 2);
    b = 1;
    unlock(&one_lock);
    return NULL;
}

THREAD(withdraw)
{
    UNUSED;
    lock(&one_lock);
    plus(&a, -4);
    c = 1;
    unlock(&one_lock);
    return NULL;
}

static void account(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 1);
    atomic_init(&b, 0);
    atomic_init(&c, 0);
    RUN(check_balance, deposit, withdraw);
}

/* The reader comes after both writers, and did not expect both. */
THREAD(add_one) { UNUSED; lock(&one_lock); plus(&a, 1); unlock(&one_lock); return NULL; }
THREAD(add_two) { UNUSED; lock(&one_lock); plus(&a, 2); unlock(&one_lock); return NULL; }

THREAD(expect_less)
{
    UNUSED;
    lock(&one_lock);
    CHECK(a < (is_fixed ? 4 : 3));
    unlock(&one_lock);
    return NULL;
}

static void lazy01(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    RUN(add_one, add_two, expect_less);
}

/* A checker sees one half of a pair. */
THREAD(set_pair)
{
    UNUSED;
    if (is_fixed)
        lock(&one_lock);
    a = 1;
    b = -1;
    if (is_fixed)
        unlock(&one_lock);
    return NULL;
}

THREAD(check_pair)
{
    UNUSED;
    if (is_fixed)
        lock(&one_lock);
    if (!(a == 0 && b == 0))
        CHECK(a == 1 && b == -1);
    if (is_fixed)
        unlock(&one_lock);
    return NULL;
}

static void reorder_3(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    atomic_init(&b, 0);
    RUN(set_pair, set_pair, check_pair);
}

/* A reader comes between the two stages of a writer. */
THREAD(write_stages)
{
    UNUSED;
    lock(&one_lock);
    a = 1;
    if (!is_fixed)
        unlock(&one_lock);
    lock(&other_lock);
    b = a + 1;
    unlock(&other_lock);
    if (is_fixed)
        unlock(&one_lock);
    return NULL;
}

THREAD(read_stages)
{
    long first, second;
    UNUSED;
    lock(&one_lock);
    if (a == 0) {
        unlock(&one_lock);
        return NULL;
    }
    first = a;
    unlock(&one_lock);
    lock(&other_lock);
    second = b;
    unlock(&other_lock);
    CHECK(second == first + 1);
    return NULL;
}

static void twostage(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    atomic_init(&b, 0);
    RUN(write_stages, read_stages);
}

/* A length is read, the lock given up, and the buffer shorter then. a: count, b: the other's count. */
THREAD(cut_and_grow)
{
    UNUSED;
    for (long by = -3; by <= 3; by += 6) {
        lock(&one_lock);
        plus(&a, by);
        unlock(&one_lock);
    }
    return NULL;
}

static void stringbuffer(int fixed)
{
    pthread_t other;
    long length;
    is_fixed = fixed;
    atomic_init(&a, 3);
    atomic_init(&b, 0);
    create(&other, cut_and_grow, NULL);
    lock(&other_lock);
    lock(&one_lock);
    length = a;
    if (!fixed)
        unlock(&one_lock);
    (void)(long)b;
    if (!fixed)
        lock(&one_lock);
    CHECK(drawloom_task_self() == 0 || length <= a);
    unlock(&one_lock);
    b = length;
    unlock(&other_lock);
    join(other);
}

/* A request is admitted, the driver stops, the request goes on. a: pending, b: stopping, c: event, d: stopped. */
static void release(void)
{
    if (atomic_fetch_add(&a, -1) - 1 == 0)
        c = 1;
}

THREAD(stop_driver)
{
    UNUSED;
    b = 1;
    release();
    if (c == 1)
        d = 1;
    return NULL;
}

THREAD(add_request)
{
    UNUSED;
    if (is_fixed)
        atomic_fetch_add(&a, 1);
    if (b == 0) {
        if (!is_fixed)
            atomic_fetch_add(&a, 1);
        CHECK(d == 0);
    }
    release();
    return NULL;
}

static void bluetooth(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 1);
    atomic_init(&b, 0);
    atomic_init(&c, 0);
    atomic_init(&d, 0);
    RUN(stop_driver, add_request);
}

static void dereference(var *pointer) { CHECK(*pointer != 0); }

/* CVE-2009-3547: a pipe is opened that is being closed. */
THREAD(open_pipe)
{
    UNUSED;
    lock(&one_lock);
    if (!is_fixed || a != 0)
        dereference(&a);
    unlock(&one_lock);
    return NULL;
}

THREAD(close_pipe) { UNUSED; lock(&one_lock); a = 0; unlock(&one_lock); return NULL; }

static void cve_2009_3547(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 1);
    RUN(open_pipe, close_pipe);
}

/* CVE-2015-7550: a key is revoked between the look at its flags and its use. a: flags, b: payload. */
THREAD(read_key)
{
    UNUSED;
    if (is_fixed)
        lock(&one_lock);
    if (a == 0) {
        if (!is_fixed)
            lock(&one_lock);
        dereference(&b);
        unlock(&one_lock);
    } else if (is_fixed) {
        unlock(&one_lock);
    }
    return NULL;
}

THREAD(revoke_key) { UNUSED; lock(&one_lock); a = 2; b = 0; unlock(&one_lock); return NULL; }

static void cve_2015_7550(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    atomic_init(&b, 1);
    RUN(read_key, revoke_key);
}

/* CVE-2016-7911: a context is looked at, and then gone. */
THREAD(use_context)
{
    UNUSED;
    if (is_fixed)
        lock(&one_lock);
    if (a != 0)
        dereference(&a);
    if (is_fixed)
        unlock(&one_lock);
    return NULL;
}

THREAD(free_context)
{
    UNUSED;
    lock(&one_lock);
    if (a != 0)
        a = 0;
    unlock(&one_lock);
    return NULL;
}

static void cve_2016_7911(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 1);
    RUN(use_context, free_context);
}

/* CVE-2016-9806: both free the buffer that was stored last. a: buffer; b, c: whether each is freed. */
static void dump(long id)
{
    lock(&one_lock);
    a = id;
    if (!is_fixed)
        unlock(&one_lock);
    CHECK(atomic_exchange(a == 1 ? &b : &c, 1) == 0);
    if (is_fixed)
        unlock(&one_lock);
}

THREAD(dump_one) { UNUSED; dump(1); return NULL; }
THREAD(dump_two) { UNUSED; dump(2); return NULL; }

static void cve_2016_9806(int fixed)
{
    is_fixed = fixed;
    atomic_init(&a, 0);
    atomic_init(&b, 0);
    atomic_init(&c, 0);
    RUN(dump_one, dump_two);
}

#define PROGRAM(name) {#name, name}
static const struct program programs[] = {
    PROGRAM(account),       PROGRAM(bluetooth),     PROGRAM(deadlock01),    PROGRAM(lazy01),
    PROGRAM(reorder_3),     PROGRAM(twostage),      PROGRAM(stringbuffer),  PROGRAM(lost_update),
    PROGRAM(cve_2009_3547), PROGRAM(cve_2015_7550), PROGRAM(cve_2016_7911), PROGRAM(cve_2016_9806),
};

struct chosen {
    const struct program *program;
    int fixed;
};

static void body(void *arg)
{
    const struct chosen *chosen = arg;
    chosen->program->run(chosen->fixed);
}

static void explore(const struct program *program, const char *strategy, int fixed)
{
    struct chosen chosen = {program, fixed};
    drawloom_config *config = drawloom_config_new();
    drawloom_result result = {.size = sizeof result};
    const char *keys[][2] = {{"strategy", strategy}, {"trace", "false"}, {"spurious_wakeups", "0"}, {"weak_failures", "0"},
                             {"quiet", "true"},      {"keep_going", strcmp(strategy, "exhaustive") == 0 ? "true" : "false"}};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if (drawloom_config_set(config, keys[i][0], keys[i][1]) != DRAWLOOM_OK)
            printf("%s\n", drawloom_config_error(config));
    drawloom_run(config, program->name, body, &chosen, NULL, &result);
    printf("%s%s: %s, %lu executions, %lu failing%s\n", program->name, fixed ? " (fixed)" : "", result.kind ? result.kind : "passed",
           (unsigned long)result.executions, (unsigned long)result.failing, result.exhausted ? ", exhausted" : "");
    drawloom_result_free(&result);
    drawloom_config_free(config);
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (argc > 1) {
            explore(&programs[i], argv[1], argc > 2);
        } else if (strcmp(programs[i].name, "deadlock01") != 0) {
            programs[i].run(1);
            printf("%s: ran\n", programs[i].name);
        }
    }
    return 0;
}
