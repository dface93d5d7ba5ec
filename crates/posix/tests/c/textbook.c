/* Programs as textbooks have them, which know nothing of drawloom but `drawloom_run`. The linker leads their calls. `textbook NAME fixed|broken` explores
   one; without arguments all that work are run on threads of the system. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include <drawloom.h>

static int broken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count;

static void run_both(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, (void *)0);
    pthread_create(&threads[1], NULL, other, (void *)1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

/* Who is cancelled in a wait gives the lock back in a handler, or does not. The handler is the function of the C library itself. */
static void *waits(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (broken) {
        for (;;)
            pthread_cond_wait(&changed, &lock);
    } else {
        pthread_cleanup_push((void (*)(void *))(void (*)(void))pthread_mutex_unlock, &lock);
        for (;;)
            pthread_cond_wait(&changed, &lock);
        pthread_cleanup_pop(1);
    }
    return NULL;
}

static void cancel(void)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, waits, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void *adds(void *arg)
{
    (void)arg;
    if (broken) {
        int before;
        pthread_mutex_lock(&lock);
        before = count;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        count = before + 1;
        pthread_mutex_unlock(&lock);
    } else {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* `assert` of the C library is a finding, and does not end the process. */
static void asserts(void)
{
    count = 0;
    run_both(adds, adds);
    assert(count == 2);
}

/* A lock that hands out numbers, and spins without a word to the scheduler. */
static atomic_uint next_number, serving;

static void *takes_a_number(void *arg)
{
    unsigned mine;
    (void)arg;
    if (broken) {
        mine = atomic_load(&next_number);
        atomic_store(&next_number, mine + 1);
    } else {
        mine = atomic_fetch_add(&next_number, 1);
    }
    while (atomic_load(&serving) != mine)
        ;
    count++;
    atomic_fetch_add(&serving, 1);
    return NULL;
}

static void numbers(void)
{
    atomic_store(&next_number, 0);
    atomic_store(&serving, 0);
    count = 0;
    run_both(takes_a_number, takes_a_number);
    assert(count == 2);
}

/* A block is freed while somebody else may still read it. */
struct block {
    int value;
};
static struct block *_Atomic shared;

static void *reads(void *arg)
{
    struct block *block;
    (void)arg;
    pthread_mutex_lock(&lock);
    block = atomic_load(&shared);
    if (broken)
        pthread_mutex_unlock(&lock);
    if (block != NULL)
        assert(block->value == 7);
    if (!broken)
        pthread_mutex_unlock(&lock);
    return NULL;
}

static void *frees(void *arg)
{
    struct block *block;
    (void)arg;
    pthread_mutex_lock(&lock);
    block = atomic_exchange(&shared, NULL);
    free(block);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void freed(void)
{
    struct block *block = malloc(sizeof *block);
    block->value = 7;
    atomic_store(&shared, block);
    run_both(reads, frees);
}

/* Both free what they find. */
static void *frees_too(void *arg)
{
    struct block *block;
    if (!broken)
        return frees(arg);
    block = atomic_load(&shared);
    atomic_store(&shared, NULL);
    free(block);
    return NULL;
}

static void freed_twice(void)
{
    atomic_store(&shared, malloc(sizeof(struct block)));
    run_both(frees_too, frees_too);
}

/* Threads of C11, as they are. */
static mtx_t mutex;
static cnd_t condition;

static int produces(void *arg)
{
    (void)arg;
    mtx_lock(&mutex);
    count++;
    if (!broken)
        cnd_signal(&condition);
    mtx_unlock(&mutex);
    return 7;
}

static int consumes(void *arg)
{
    (void)arg;
    mtx_lock(&mutex);
    while (count == 0)
        cnd_wait(&condition, &mutex);
    count--;
    mtx_unlock(&mutex);
    return 8;
}

static void c11(void)
{
    thrd_t one, other;
    int first, second;
    count = 0;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&condition);
    thrd_create(&one, produces, NULL);
    thrd_create(&other, consumes, NULL);
    thrd_join(one, &first);
    thrd_join(other, &second);
    assert(first == 7 && second == 8);
    mtx_destroy(&mutex);
    cnd_destroy(&condition);
}

/* Calls with the number of a thread, and with a clock. */
static void *does_little(void *arg)
{
    int before;
    pthread_setname_np(pthread_self(), "worker");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_testcancel();
    return arg;
}

static void odd_calls(void)
{
    pthread_t thread;
    struct timespec deadline;
    int status;
    pthread_create(&thread, NULL, does_little, NULL);
    assert(!pthread_equal(thread, pthread_self()));
    while ((status = pthread_tryjoin_np(thread, NULL)) == EBUSY)
        sched_yield();
    assert(status == 0);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_nsec += 1000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    do
        status = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &deadline);
    while (status == 0);
    assert(status == (broken ? 0 : ETIMEDOUT));
    pthread_mutex_unlock(&lock);
}

/* The end of the process is the end of an execution. */
static void *leaves(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (broken && ++count == 2)
        exit(3);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void exits(void)
{
    count = 0;
    run_both(leaves, leaves);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"cancel", cancel},   {"assert", asserts},      {"numbers", numbers},           {"freed", freed},
    {"c11", c11},         {"freed twice", freed_twice},
    {"exits", exits},     {"odd calls", odd_calls},
};

static void test(void *program) { programs[*(size_t *)program].run(); }

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        drawloom_result result = {0};
        drawloom_config *config;
        const char *verdict;
        if (argc < 2) {
            programs[i].run();
            continue;
        }
        broken = strcmp(argv[1], "broken") == 0;
        config = drawloom_config_new();
        drawloom_config_set(config, "strategy", "exhaustive");
        drawloom_config_set(config, "quiet", argc > 2 ? "false" : "true");
        drawloom_config_set(config, "fixes", "false");
        result.size = sizeof result;
        if (argc > 2 && strcmp(argv[2], programs[i].name) != 0)
            continue;
        drawloom_run(config, programs[i].name, test, &i, NULL, &result);
        verdict = result.kind ? result.kind : "passed";
        printf("%s: %s%s%s, %s\n", programs[i].name, verdict, result.message ? ": " : "", result.message ? result.message : "",
               result.exhausted ? "exhausted" : "not exhausted");
        drawloom_result_free(&result);
        drawloom_config_free(config);
    }
    return 0;
}
