/* What no correct program does: each has its status, or is a finding at its place. */
#include <drawloom.h>
#include <stdio.h>
#include <string.h>

#define HERE DRAWLOOM_HERE
static drawloom_handle kept;
static int status;

static void nothing(void *arg) { (void)arg; }
static void lock_it(void *arg) { drawloom_mutex_lock(*(drawloom_handle *)arg, HERE); }
static void unlock_it(void *arg) { drawloom_mutex_unlock(*(drawloom_handle *)arg, HERE); }

/* Findings. */
static void unlocked_by_nobody(void *arg) { (void)arg; drawloom_mutex_unlock(drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE), HERE); }

static void unlocked_by_another(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    (void)arg;
    drawloom_mutex_lock(mutex, HERE);
    drawloom_task_join(drawloom_task_spawn(unlock_it, &mutex, HERE), HERE);
}

static void locked_twice(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    (void)arg;
    drawloom_mutex_lock(mutex, HERE);
    drawloom_mutex_lock(mutex, HERE);
}

static void destroyed_while_held(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    (void)arg;
    drawloom_mutex_lock(mutex, HERE);
    drawloom_mutex_destroy(mutex, HERE);
}

static void used_after_destruction(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    (void)arg;
    drawloom_mutex_destroy(mutex, HERE);
    drawloom_mutex_lock(mutex, HERE);
}

static void of_an_earlier_execution(void *arg)
{
    (void)arg;
    if (kept == 0)
        kept = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    drawloom_mutex_lock(kept, HERE);
}

static void of_another_kind(void *arg) { (void)arg; drawloom_chan_send(drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE), 1, HERE); }
static void of_no_kind(void *arg) { (void)arg; drawloom_mutex_lock(12345, HERE); }
static void none(void *arg) { (void)arg; drawloom_mutex_lock(0, HERE); }
static void no_such_task(void *arg) { (void)arg; drawloom_task_join(drawloom_task_self() + 7, HERE); }
static void no_entry(void *arg) { (void)arg; drawloom_task_spawn(NULL, NULL, HERE); }
static void joins_itself(void *arg) { (void)arg; drawloom_task_join(drawloom_task_self(), HERE); }
static void no_such_mutex(void *arg) { (void)arg; drawloom_mutex_new(9, HERE); }
static void no_such_preference(void *arg) { (void)arg; drawloom_rwlock_new(9, HERE); }
static void barrier_for_nobody(void *arg) { (void)arg; drawloom_barrier_new(0, HERE); }
static void too_many_permits(void *arg) { (void)arg; drawloom_semaphore_new(UINT64_MAX, HERE); }
static void rwlock_unlocked_by_nobody(void *arg) { (void)arg; drawloom_rwlock_unlock(drawloom_rwlock_new(0, HERE), HERE); }

static void downgraded_without_writing(void *arg)
{
    drawloom_handle lock = drawloom_rwlock_new(0, HERE);
    (void)arg;
    drawloom_rwlock_read(lock, HERE);
    drawloom_rwlock_downgrade(lock, HERE);
}

static void waits_without_the_mutex(void *arg)
{
    (void)arg;
    drawloom_condvar_wait(drawloom_condvar_new(HERE), drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE), HERE);
}

static void finishes_what_nobody_runs(void *arg) { (void)arg; drawloom_once_finish(drawloom_once_new(HERE), 1, HERE); }
static void chooses_from_nothing(void *arg) { (void)arg; drawloom_choose(0, HERE); }

static void ring_without_room(void *arg)
{
    drawloom_ring ring;
    (void)arg;
    memset(&ring, 0, sizeof ring);
    drawloom_chan_new(1, &ring, HERE);
}

static void gives_back_too_many_senders(void *arg)
{
    drawloom_handle chan = drawloom_chan_new(1, NULL, HERE);
    (void)arg;
    drawloom_chan_release(chan, HERE);
    drawloom_chan_release(chan, HERE);
}

static void misaligned_atomic(void *arg)
{
    uint64_t words[2] = {0, 0};
    (void)arg;
    drawloom_atomic_load((char *)words + 1, 8, DRAWLOOM_SEQ_CST, HERE);
}

static void no_such_order(void *arg)
{
    uint64_t word = 0;
    (void)arg;
    drawloom_atomic_load(&word, 8, 17, HERE);
}

static void select_of_rendezvous(void *arg)
{
    drawloom_case cases[2];
    size_t chosen;
    int i;
    (void)arg;
    memset(cases, 0, sizeof cases);
    for (i = 0; i < 2; i++) {
        cases[i].size = sizeof cases[i];
        cases[i].handle = drawloom_chan_new(0, NULL, HERE);
    }
    drawloom_select(cases, 2, 0, UINT64_MAX, &chosen, HERE);
}

static void ends_with_its_lock(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_NORMAL, HERE);
    (void)arg;
    drawloom_task_join(drawloom_task_spawn(lock_it, &mutex, HERE), HERE);
    drawloom_mutex_lock(mutex, HERE);
}

static void runs_for_ever(void *arg)
{
    uint64_t word = 0;
    (void)arg;
    while (drawloom_atomic_load(&word, 8, DRAWLOOM_SEQ_CST, HERE) == 0)
        ;
}

/* Statuses. */
static void error_checking(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_ERRORCHECK, HERE);
    (void)arg;
    status = drawloom_mutex_unlock(mutex, HERE);
}

static void held_already(void *arg)
{
    drawloom_handle mutex = drawloom_mutex_new(DRAWLOOM_MUTEX_ERRORCHECK, HERE);
    (void)arg;
    drawloom_mutex_lock(mutex, HERE);
    status = drawloom_mutex_lock(mutex, HERE);
    drawloom_mutex_unlock(mutex, HERE);
}

static void session_in_a_session(void *arg) { (void)arg; status = (int)drawloom_run(NULL, "inner", nothing, NULL, NULL, NULL); }
static void no_place_for_the_answer(void *arg) { (void)arg; status = drawloom_now_ns(NULL, HERE); }
static void no_text(void *arg) { (void)arg; status = drawloom_note(NULL); }

static void too_many_permits_given(void *arg)
{
    (void)arg;
    status = drawloom_semaphore_release(drawloom_semaphore_new(0, HERE), UINT64_MAX, HERE);
}

static void case_without_size(void *arg)
{
    drawloom_case arm;
    size_t chosen;
    (void)arg;
    memset(&arm, 0, sizeof arm);
    status = drawloom_select(&arm, 1, 0, UINT64_MAX, &chosen, HERE);
}

static void case_without_meaning(void *arg)
{
    drawloom_case arm;
    size_t chosen;
    (void)arg;
    memset(&arm, 0, sizeof arm);
    arm.size = sizeof arm;
    arm.op = 77;
    status = drawloom_select(&arm, 1, 0, UINT64_MAX, &chosen, HERE);
}

static void no_cases(void *arg)
{
    size_t chosen;
    (void)arg;
    status = drawloom_select(NULL, 3, 0, UINT64_MAX, &chosen, HERE);
}

static void sends_to_the_closed(void *arg)
{
    drawloom_handle chan = drawloom_chan_new(1, NULL, HERE);
    (void)arg;
    drawloom_chan_close(chan, HERE);
    status = drawloom_chan_send(chan, 1, HERE);
}

static int hooked;
static void calls_us(void *user) { (void)user; hooked = drawloom_task_yield(HERE); }

static void explore(const char *name, void (*body)(void *))
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    status = 99;
    kept = 0;
    drawloom_config_set(config, "strategy", "random");
    drawloom_config_set(config, "iterations", "2");
    drawloom_config_set(config, "allow_no_choice", "true");
    drawloom_config_set(config, "max_steps", "2000");
    drawloom_config_set(config, "trace", "false");
    drawloom_config_set(config, "quiet", "true");
    drawloom_config_set(config, "environment", "false");
    drawloom_run(config, name, body, NULL, NULL, &result);
    if (result.kind)
        printf("%s: %s: %s\n", name, result.kind, result.message);
    else
        printf("%s: status %d\n", name, status);
    drawloom_result_free(&result);
    drawloom_config_free(config);
}

#define EXPLORE(body) explore(#body, body)

int main(void)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_hooks hooks;
    drawloom_result result;
    uint64_t word = 1;
    EXPLORE(unlocked_by_nobody);
    EXPLORE(unlocked_by_another);
    EXPLORE(locked_twice);
    EXPLORE(destroyed_while_held);
    EXPLORE(used_after_destruction);
    EXPLORE(of_an_earlier_execution);
    EXPLORE(of_another_kind);
    EXPLORE(of_no_kind);
    EXPLORE(none);
    EXPLORE(no_such_task);
    EXPLORE(no_entry);
    EXPLORE(joins_itself);
    EXPLORE(no_such_mutex);
    EXPLORE(no_such_preference);
    EXPLORE(barrier_for_nobody);
    EXPLORE(too_many_permits);
    EXPLORE(rwlock_unlocked_by_nobody);
    EXPLORE(downgraded_without_writing);
    EXPLORE(waits_without_the_mutex);
    EXPLORE(finishes_what_nobody_runs);
    EXPLORE(chooses_from_nothing);
    EXPLORE(ring_without_room);
    EXPLORE(gives_back_too_many_senders);
    EXPLORE(misaligned_atomic);
    EXPLORE(no_such_order);
    EXPLORE(select_of_rendezvous);
    EXPLORE(ends_with_its_lock);
    EXPLORE(runs_for_ever);
    EXPLORE(error_checking);
    EXPLORE(held_already);
    EXPLORE(session_in_a_session);
    EXPLORE(no_place_for_the_answer);
    EXPLORE(no_text);
    EXPLORE(too_many_permits_given);
    EXPLORE(case_without_size);
    EXPLORE(case_without_meaning);
    EXPLORE(no_cases);
    EXPLORE(sends_to_the_closed);
    /* Outside of a session. */
    printf("lock outside: status %d\n", drawloom_mutex_lock(1, HERE));
    printf("spawn outside: handle %d\n", (int)drawloom_task_spawn(nothing, NULL, HERE));
    printf("atomic outside: %d\n", (int)drawloom_atomic_load(&word, 8, DRAWLOOM_SEQ_CST, HERE));
    printf("no body: verdict %d\n", (int)drawloom_run(NULL, "none", NULL, NULL, NULL, NULL));
    /* Configurations. */
    status = drawloom_config_set(config, "speed", "11");
    printf("no such key: status %d, %.50s\n", status, drawloom_config_error(config));
    status = drawloom_config_set(config, "iterations", "many");
    printf("no such value: status %d, %.50s\n", status, drawloom_config_error(config));
    printf("no key: status %d\n", drawloom_config_set(config, NULL, "1"));
    printf("no configuration: %s\n", drawloom_config_error(NULL));
    printf("no such strategy: status %d\n", drawloom_config_set(config, "strategy", "radnom"));
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    drawloom_config_set(config, "quiet", "true");
    drawloom_config_set(config, "trace", "false");
    drawloom_config_set(config, "replay", "dl1nonsense");
    printf("no such schedule: verdict %d\n", (int)drawloom_run(config, "none", nothing, NULL, NULL, &result));
    drawloom_result_free(&result);
    drawloom_config_free(config);
    /* Hooks. */
    memset(&hooks, 0, sizeof hooks);
    printf("hooks without size: verdict %d\n", (int)drawloom_run(NULL, "none", nothing, NULL, &hooks, NULL));
    hooks.size = sizeof hooks;
    hooks.frame_size = 4096;
    printf("hooks with a large frame: verdict %d\n", (int)drawloom_run(NULL, "none", nothing, NULL, &hooks, NULL));
    hooks.frame_size = 0;
    hooks.execution_begin = calls_us;
    config = drawloom_config_new();
    drawloom_config_set(config, "allow_no_choice", "true");
    drawloom_config_set(config, "quiet", "true");
    drawloom_config_set(config, "trace", "false");
    drawloom_config_set(config, "iterations", "1");
    drawloom_run(config, "hooks", nothing, NULL, &hooks, NULL);
    drawloom_config_free(config);
    printf("a hook that calls: status %d\n", hooked);
    return 0;
}
