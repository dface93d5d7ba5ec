/* Code that knows nothing of drawloom: the linker leads its calls there. */
#include <pthread.h>
#include <stdio.h>
#include <drawloom.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *one_way(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void other_way(void *arg)
{
    pthread_t thread;
    (void)arg;
    pthread_create(&thread, NULL, one_way, NULL);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(thread, NULL);
}

int main(void)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result = {.size = sizeof result};
    drawloom_config_set(config, "strategy", "exhaustive");
    drawloom_config_set(config, "trace", "false");
    drawloom_run(config, "two locks", other_way, NULL, NULL, &result);
    printf("%s\n", result.kind ? result.kind : "passed");
    drawloom_result_free(&result);
    drawloom_config_free(config);
    return 0;
}
