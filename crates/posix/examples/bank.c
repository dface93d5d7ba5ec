#include <drawloom.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int account;

static void *deposit(void *amount)
{
    int balance;
    pthread_mutex_lock(&lock);
    balance = account;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    account = balance + *(int *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test(void *arg)
{
    pthread_t other;
    int ten = 10, twenty = 20;
    (void)arg;
    account = 100;
    pthread_create(&other, NULL, deposit, &twenty);
    deposit(&ten);
    pthread_join(other, NULL);
    DRAWLOOM_ASSERT(account == 130);
}

int main(void) {
    drawloom_verdict verdict = drawloom_run(NULL, "bank", test, NULL, NULL, NULL);
    return verdict == DRAWLOOM_FAILED || verdict == DRAWLOOM_ERROR;
}
