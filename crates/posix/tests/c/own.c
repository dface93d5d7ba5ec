/* Variables of threads: each thread has its own, and they begin anew in each execution. */
#include <pthread.h>
#include <stdio.h>

#include <drawloom.h>

static _Thread_local int mine = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *counts(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        mine++;
        sched_yield();
    }
    DRAWLOOM_ASSERT(mine == 4);
    pthread_mutex_lock(&lock);
    sum += mine;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test(void *arg)
{
    pthread_t threads[2];
    (void)arg;
    sum = 0;
    DRAWLOOM_ASSERT(mine == 1);
    mine = 100;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, counts, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    DRAWLOOM_ASSERT(sum == 8 && mine == 100);
}

int main(void)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result = {0};
    result.size = sizeof result;
    drawloom_config_set(config, "strategy", "exhaustive");
    drawloom_config_set(config, "quiet", "true");
    drawloom_run(config, "own", test, NULL, NULL, &result);
    printf("%s, %d executions%s\n", result.kind ? result.kind : "passed", (int)result.executions,
           result.exhausted ? ", exhausted" : "");
    drawloom_result_free(&result);
    drawloom_config_free(config);
    return 0;
}
