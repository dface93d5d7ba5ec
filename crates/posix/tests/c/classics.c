/* Classic mistakes with threads, and the same without: plain variables, condition variables, barriers, semaphores, rwlocks, keys. */
#include <drawloom/pthread.h>
#include <drawloom/threads.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int is_fixed;

static void check(int condition, const char *what)
{
    if (!condition && drawloom_task_self() != 0)
        drawloom_fail("assertion", what, DRAWLOOM_HERE);
}
#define CHECK(condition) check((condition) != 0, #condition)
#define THREAD(name) static void *name(void *arg)
#define UNUSED (void)arg

static pthread_t started[4];
static void start(int which, void *(*run)(void *), void *arg) { CHECK(pthread_create(&started[which], NULL, run, arg) == 0); }
static void await(int count) { for (int i = 0; i < count; i++) CHECK(pthread_join(started[i], NULL) == 0); }

/* A wake-up that comes before the wait, and a flag that is looked at without the lock. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

THREAD(waits)
{
    UNUSED;
    if (is_fixed) {
        pthread_mutex_lock(&mutex);
        while (!ready)
            pthread_cond_wait(&cond, &mutex);
    } else if (!ready) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&cond, &mutex);
    } else {
        return NULL;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void lost_wakeup(void)
{
    atomic_init(&ready, 0);
    start(0, waits, NULL);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    await(1);
}

/* A buffer of one, with one condition variable for both sides: a signal may wake the wrong one. */
static int full, taken;

THREAD(consumes)
{
    UNUSED;
    pthread_mutex_lock(&mutex);
    while (!full)
        pthread_cond_wait(&cond, &mutex);
    full = 0;
    taken++;
    if (is_fixed)
        pthread_cond_broadcast(&cond);
    else
        pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void producer_consumer(void)
{
    full = taken = 0;
    start(0, consumes, NULL);
    start(1, consumes, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        while (full)
            pthread_cond_wait(&cond, &mutex);
        full = 1;
        if (is_fixed)
            pthread_cond_broadcast(&cond);
        else
            pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    await(2);
    CHECK(taken == 2);
}

/* A reader that writes: it holds the lock for reading only. */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int hits;

THREAD(reads)
{
    UNUSED;
    if (is_fixed)
        pthread_rwlock_wrlock(&rwlock);
    else
        pthread_rwlock_rdlock(&rwlock);
    hits++;
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}

static void readers_writers(void)
{
    hits = 0;
    start(0, reads, NULL);
    start(1, reads, NULL);
    await(2);
    CHECK(hits == 2);
}

/* Three philosophers, who all take the left fork first. */
static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

THREAD(dines)
{
    long me = (long)arg, left = me, right = (me + 1) % 3;
    if (is_fixed && me == 2) {
        left = 0;
        right = 2;
    }
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}

static void dining_philosophers(void)
{
    for (long i = 0; i < 3; i++)
        start((int)i, dines, (void *)i);
    await(3);
}

/* The pointer is looked at without the lock. */
static int *instance, object;

static int *get_instance(void)
{
    if (is_fixed || instance == NULL) {
        pthread_mutex_lock(&mutex);
        if (instance == NULL) {
            object = 7;
            instance = &object;
        }
        pthread_mutex_unlock(&mutex);
    }
    return instance;
}

THREAD(uses_instance) { UNUSED; CHECK(*get_instance() == 7); return NULL; }

static void double_checked_locking(void)
{
    instance = NULL;
    object = 0;
    start(0, uses_instance, NULL);
    start(1, uses_instance, NULL);
    await(2);
}

/* A round is over for whoever leads; others may be in the next one. */
static pthread_barrier_t barrier;
static atomic_int round_of, sum;

THREAD(takes_part)
{
    UNUSED;
    for (int i = 0; i < 2; i++) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            round_of++;
        if (is_fixed)
            pthread_barrier_wait(&barrier);
        CHECK(round_of == i + 1);
        if (is_fixed)
            pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barrier_reuse(void)
{
    atomic_init(&round_of, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    start(0, takes_part, NULL);
    start(1, takes_part, NULL);
    await(2);
    pthread_barrier_destroy(&barrier);
}

/* A permit that is not given back on one way out. */
static sem_t permits;

THREAD(works)
{
    long fails = (long)arg;
    sem_wait(&permits);
    sum++;
    if (!fails || is_fixed)
        sem_post(&permits);
    return NULL;
}

static void semaphore_leak(void)
{
    atomic_init(&sum, 0);
    sem_init(&permits, 0, 1);
    start(0, works, (void *)1);
    start(1, works, NULL);
    await(2);
    sem_destroy(&permits);
}

/* What needs no twin: it works. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int times, destroyed;
static void initialise(void) { times++; }
static void destroy(void *value) { (void)value; destroyed++; }
static pthread_key_t key;

THREAD(everything)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t recursive, checked;
    struct timespec soon;
    CHECK(pthread_once(&once, initialise) == 0 && times == 1);
    CHECK(pthread_getspecific(key) == NULL && pthread_setspecific(key, arg) == 0 && pthread_getspecific(key) == arg);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    pthread_mutex_destroy(&recursive);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attributes);
    CHECK(pthread_mutex_unlock(&checked) == EPERM && pthread_mutex_lock(&checked) == 0);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK && pthread_mutex_trylock(&checked) == EBUSY);
    clock_gettime(CLOCK_REALTIME, &soon);
    /* On threads of the system it would take an hour. */
    soon.tv_sec += drawloom_task_self() != 0 ? 3600 : -1;
    CHECK(pthread_cond_timedwait(&cond, &checked, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&checked) == 0);
    pthread_mutex_destroy(&checked);
    pthread_mutexattr_destroy(&attributes);
    pthread_exit((void *)5);
}

static int answers(void *arg) { return *(int *)arg + 1; }

static void what_works(void)
{
    void *result;
    thrd_t thread;
    mtx_t mtx;
    int arg = 41, value = 0;
    pthread_once_t fresh = PTHREAD_ONCE_INIT;
    once = fresh;
    atomic_init(&times, 0);
    atomic_init(&destroyed, 0);
    pthread_key_create(&key, destroy);
    start(0, everything, &arg);
    start(1, everything, &arg);
    CHECK(pthread_join(started[0], &result) == 0 && result == (void *)5);
    CHECK(pthread_join(started[1], NULL) == 0 && destroyed == 2 && times == 1);
    CHECK(drawloom_task_self() == 0 || pthread_join(started[1], NULL) == EINVAL);
    pthread_key_delete(key);
    CHECK(mtx_init(&mtx, mtx_plain) == thrd_success && mtx_lock(&mtx) == thrd_success && mtx_trylock(&mtx) == thrd_busy);
    mtx_unlock(&mtx);
    CHECK(thrd_create(&thread, answers, &arg) == thrd_success && thrd_join(thread, &value) == thrd_success && value == 42);
    sem_init(&permits, 0, 1);
    CHECK(sem_trywait(&permits) == 0 && sem_trywait(&permits) == -1 && errno == EAGAIN);
    sem_post(&permits);
    CHECK(sem_getvalue(&permits, &value) == 0 && value == 1);
    sem_destroy(&permits);
}

static const struct { const char *name; void (*run)(void); } programs[] = {
    {"lost wake-up", lost_wakeup},
    {"producer and consumer", producer_consumer},
    {"readers and writers", readers_writers},
    {"dining philosophers", dining_philosophers},
    {"double-checked locking", double_checked_locking},
    {"barrier reuse", barrier_reuse},
    {"semaphore leak", semaphore_leak},
    {"what works", what_works},
};

static void body(void *arg) { (*(void (*const *)(void))arg)(); }

static void explore(unsigned which, const char *strategy)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    drawloom_config_set(config, "strategy", strategy);
    drawloom_config_set(config, "trace", "false");
    drawloom_config_set(config, "quiet", "true");
    drawloom_config_set(config, "spurious_wakeups", "0");
    drawloom_run(config, programs[which].name, body, (void *)&programs[which].run, NULL, &result);
    printf("%s%s, %s: %s%s\n", programs[which].name, is_fixed ? " (fixed)" : "", strategy, result.kind ? result.kind : "passed",
           result.exhausted ? ", exhausted" : "");
    drawloom_result_free(&result);
    drawloom_config_free(config);
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        is_fixed = 1;
        if (argc < 2) {
            programs[i].run();
            printf("%s: ran\n", programs[i].name);
            continue;
        }
        explore(i, argv[1]);
        is_fixed = 0;
        explore(i, argv[1]);
    }
    return 0;
}
