// The threads of a C program under drawloom: include this before anything else, or compile with `-include drawloom/pthread.h`.
//
// Within a session the calls below are steps of the exploration; without one they call the real functions. So one program serves both.
// Types, attributes, static initialisers and constants are the system's own. Code that was compiled without this, a library for
// one, is reached by the linker: `-Wl,@drawloom/wrap.rsp`.
//
// Sleeps and clocks are virtual, and `free` forgets who has used the memory. Link with `libdrawloom_posix.a`.
#ifndef DRAWLOOM_PTHREAD_H
#define DRAWLOOM_PTHREAD_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <drawloom.h>

#ifdef __cplusplus
extern "C" {
#endif

void drawloom_free(void *, const drawloom_loc *);
int drawloom_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *, const drawloom_loc *);
int drawloom_pthread_join(pthread_t, void **, const drawloom_loc *);
int drawloom_pthread_detach(pthread_t, const drawloom_loc *);
pthread_t drawloom_pthread_self(const drawloom_loc *);
void drawloom_pthread_exit(void *, const drawloom_loc *) DRAWLOOM_NORETURN;
int drawloom_sched_yield(const drawloom_loc *);
int drawloom_pthread_yield(const drawloom_loc *);
int drawloom_pthread_key_create(pthread_key_t *, void (*)(void *), const drawloom_loc *);
int drawloom_pthread_key_delete(pthread_key_t, const drawloom_loc *);
void *drawloom_pthread_getspecific(pthread_key_t, const drawloom_loc *);
int drawloom_pthread_setspecific(pthread_key_t, const void *, const drawloom_loc *);
int drawloom_pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *, const drawloom_loc *);
int drawloom_pthread_mutex_destroy(pthread_mutex_t *, const drawloom_loc *);
int drawloom_pthread_mutex_lock(pthread_mutex_t *, const drawloom_loc *);
int drawloom_pthread_mutex_trylock(pthread_mutex_t *, const drawloom_loc *);
int drawloom_pthread_mutex_timedlock(pthread_mutex_t *, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_mutex_unlock(pthread_mutex_t *, const drawloom_loc *);
int drawloom_pthread_spin_init(pthread_spinlock_t *, int, const drawloom_loc *);
int drawloom_pthread_spin_destroy(pthread_spinlock_t *, const drawloom_loc *);
int drawloom_pthread_spin_lock(pthread_spinlock_t *, const drawloom_loc *);
int drawloom_pthread_spin_trylock(pthread_spinlock_t *, const drawloom_loc *);
int drawloom_pthread_spin_unlock(pthread_spinlock_t *, const drawloom_loc *);
int drawloom_pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *, const drawloom_loc *);
int drawloom_pthread_cond_destroy(pthread_cond_t *, const drawloom_loc *);
int drawloom_pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *, const drawloom_loc *);
int drawloom_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_cond_signal(pthread_cond_t *, const drawloom_loc *);
int drawloom_pthread_cond_broadcast(pthread_cond_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_init(pthread_rwlock_t *, const pthread_rwlockattr_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_destroy(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_rdlock(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_wrlock(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_tryrdlock(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_trywrlock(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_rwlock_timedrdlock(pthread_rwlock_t *, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_rwlock_timedwrlock(pthread_rwlock_t *, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_rwlock_unlock(pthread_rwlock_t *, const drawloom_loc *);
int drawloom_pthread_barrier_init(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned, const drawloom_loc *);
int drawloom_pthread_barrier_destroy(pthread_barrier_t *, const drawloom_loc *);
int drawloom_pthread_barrier_wait(pthread_barrier_t *, const drawloom_loc *);
int drawloom_pthread_once(pthread_once_t *, void (*)(void), const drawloom_loc *);
int drawloom_sem_init(sem_t *, int, unsigned, const drawloom_loc *);
int drawloom_sem_destroy(sem_t *, const drawloom_loc *);
int drawloom_sem_wait(sem_t *, const drawloom_loc *);
int drawloom_sem_trywait(sem_t *, const drawloom_loc *);
int drawloom_sem_timedwait(sem_t *, const struct timespec *, const drawloom_loc *);
int drawloom_sem_post(sem_t *, const drawloom_loc *);
int drawloom_sem_getvalue(sem_t *, int *, const drawloom_loc *);
int drawloom_nanosleep(const struct timespec *, struct timespec *, const drawloom_loc *);
int drawloom_usleep(unsigned, const drawloom_loc *);
unsigned drawloom_sleep(unsigned, const drawloom_loc *);
int drawloom_clock_gettime(clockid_t, struct timespec *, const drawloom_loc *);
time_t drawloom_time(time_t *, const drawloom_loc *);
int drawloom_gettimeofday(struct timeval *, void *, const drawloom_loc *);
int drawloom_pthread_cancel(pthread_t, const drawloom_loc *);
void drawloom_pthread_testcancel(const drawloom_loc *);
int drawloom_pthread_setcancelstate(int, int *, const drawloom_loc *);
int drawloom_pthread_setcanceltype(int, int *, const drawloom_loc *);
int drawloom_pthread_tryjoin_np(pthread_t, void **, const drawloom_loc *);
int drawloom_pthread_timedjoin_np(pthread_t, void **, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_clockjoin_np(pthread_t, void **, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_setname_np(pthread_t, const char *, const drawloom_loc *);
int drawloom_pthread_kill(pthread_t, int, const drawloom_loc *);
int drawloom_pthread_setschedparam(pthread_t, int, const struct sched_param *, const drawloom_loc *);
int drawloom_pthread_setaffinity_np(pthread_t, size_t, const void *, const drawloom_loc *);
int drawloom_pthread_getaffinity_np(pthread_t, size_t, void *, const drawloom_loc *);
int drawloom_pthread_getattr_np(pthread_t, pthread_attr_t *, const drawloom_loc *);
int drawloom_pthread_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_mutex_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_rwlock_clockrdlock(pthread_rwlock_t *, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_pthread_rwlock_clockwrlock(pthread_rwlock_t *, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_sem_clockwait(sem_t *, clockid_t, const struct timespec *, const drawloom_loc *);
int drawloom_clock_nanosleep(clockid_t, int, const struct timespec *, struct timespec *, const drawloom_loc *);
void *drawloom_realloc(void *, size_t, const drawloom_loc *);

#ifdef __cplusplus
}
#endif

#ifndef DRAWLOOM_NO_MACROS
#define pthread_create(a, b, c, d) drawloom_pthread_create((a), (b), (c), (d), DRAWLOOM_HERE)
#define pthread_join(a, b) drawloom_pthread_join((a), (b), DRAWLOOM_HERE)
#define pthread_detach(a) drawloom_pthread_detach((a), DRAWLOOM_HERE)
#define pthread_self() drawloom_pthread_self(DRAWLOOM_HERE)
#define pthread_exit(a) drawloom_pthread_exit((a), DRAWLOOM_HERE)
#define sched_yield() drawloom_sched_yield(DRAWLOOM_HERE)
#define pthread_yield() drawloom_pthread_yield(DRAWLOOM_HERE)
#define pthread_key_create(a, b) drawloom_pthread_key_create((a), (b), DRAWLOOM_HERE)
#define pthread_key_delete(a) drawloom_pthread_key_delete((a), DRAWLOOM_HERE)
#define pthread_getspecific(a) drawloom_pthread_getspecific((a), DRAWLOOM_HERE)
#define pthread_setspecific(a, b) drawloom_pthread_setspecific((a), (b), DRAWLOOM_HERE)
#define pthread_mutex_init(a, b) drawloom_pthread_mutex_init((a), (b), DRAWLOOM_HERE)
#define pthread_mutex_destroy(a) drawloom_pthread_mutex_destroy((a), DRAWLOOM_HERE)
#define pthread_mutex_lock(a) drawloom_pthread_mutex_lock((a), DRAWLOOM_HERE)
#define pthread_mutex_trylock(a) drawloom_pthread_mutex_trylock((a), DRAWLOOM_HERE)
#define pthread_mutex_timedlock(a, b) drawloom_pthread_mutex_timedlock((a), (b), DRAWLOOM_HERE)
#define pthread_mutex_unlock(a) drawloom_pthread_mutex_unlock((a), DRAWLOOM_HERE)
#define pthread_spin_init(a, b) drawloom_pthread_spin_init((a), (b), DRAWLOOM_HERE)
#define pthread_spin_destroy(a) drawloom_pthread_spin_destroy((a), DRAWLOOM_HERE)
#define pthread_spin_lock(a) drawloom_pthread_spin_lock((a), DRAWLOOM_HERE)
#define pthread_spin_trylock(a) drawloom_pthread_spin_trylock((a), DRAWLOOM_HERE)
#define pthread_spin_unlock(a) drawloom_pthread_spin_unlock((a), DRAWLOOM_HERE)
#define pthread_cond_init(a, b) drawloom_pthread_cond_init((a), (b), DRAWLOOM_HERE)
#define pthread_cond_destroy(a) drawloom_pthread_cond_destroy((a), DRAWLOOM_HERE)
#define pthread_cond_wait(a, b) drawloom_pthread_cond_wait((a), (b), DRAWLOOM_HERE)
#define pthread_cond_timedwait(a, b, c) drawloom_pthread_cond_timedwait((a), (b), (c), DRAWLOOM_HERE)
#define pthread_cond_signal(a) drawloom_pthread_cond_signal((a), DRAWLOOM_HERE)
#define pthread_cond_broadcast(a) drawloom_pthread_cond_broadcast((a), DRAWLOOM_HERE)
#define pthread_rwlock_init(a, b) drawloom_pthread_rwlock_init((a), (b), DRAWLOOM_HERE)
#define pthread_rwlock_destroy(a) drawloom_pthread_rwlock_destroy((a), DRAWLOOM_HERE)
#define pthread_rwlock_rdlock(a) drawloom_pthread_rwlock_rdlock((a), DRAWLOOM_HERE)
#define pthread_rwlock_wrlock(a) drawloom_pthread_rwlock_wrlock((a), DRAWLOOM_HERE)
#define pthread_rwlock_tryrdlock(a) drawloom_pthread_rwlock_tryrdlock((a), DRAWLOOM_HERE)
#define pthread_rwlock_trywrlock(a) drawloom_pthread_rwlock_trywrlock((a), DRAWLOOM_HERE)
#define pthread_rwlock_timedrdlock(a, b) drawloom_pthread_rwlock_timedrdlock((a), (b), DRAWLOOM_HERE)
#define pthread_rwlock_timedwrlock(a, b) drawloom_pthread_rwlock_timedwrlock((a), (b), DRAWLOOM_HERE)
#define pthread_rwlock_unlock(a) drawloom_pthread_rwlock_unlock((a), DRAWLOOM_HERE)
#define pthread_barrier_init(a, b, c) drawloom_pthread_barrier_init((a), (b), (c), DRAWLOOM_HERE)
#define pthread_barrier_destroy(a) drawloom_pthread_barrier_destroy((a), DRAWLOOM_HERE)
#define pthread_barrier_wait(a) drawloom_pthread_barrier_wait((a), DRAWLOOM_HERE)
#define pthread_once(a, b) drawloom_pthread_once((a), (b), DRAWLOOM_HERE)
#define sem_init(a, b, c) drawloom_sem_init((a), (b), (c), DRAWLOOM_HERE)
#define sem_destroy(a) drawloom_sem_destroy((a), DRAWLOOM_HERE)
#define sem_wait(a) drawloom_sem_wait((a), DRAWLOOM_HERE)
#define sem_trywait(a) drawloom_sem_trywait((a), DRAWLOOM_HERE)
#define sem_timedwait(a, b) drawloom_sem_timedwait((a), (b), DRAWLOOM_HERE)
#define sem_post(a) drawloom_sem_post((a), DRAWLOOM_HERE)
#define sem_getvalue(a, b) drawloom_sem_getvalue((a), (b), DRAWLOOM_HERE)
#define nanosleep(a, b) drawloom_nanosleep((a), (b), DRAWLOOM_HERE)
#define usleep(a) drawloom_usleep((a), DRAWLOOM_HERE)
#define sleep(a) drawloom_sleep((a), DRAWLOOM_HERE)
#define clock_gettime(a, b) drawloom_clock_gettime((a), (b), DRAWLOOM_HERE)
#define time(a) drawloom_time((a), DRAWLOOM_HERE)
#define gettimeofday(a, b) drawloom_gettimeofday((a), (b), DRAWLOOM_HERE)
#define pthread_cancel(a) drawloom_pthread_cancel((a), DRAWLOOM_HERE)
#define pthread_testcancel() drawloom_pthread_testcancel(DRAWLOOM_HERE)
#define pthread_setcancelstate(a, b) drawloom_pthread_setcancelstate((a), (b), DRAWLOOM_HERE)
#define pthread_setcanceltype(a, b) drawloom_pthread_setcanceltype((a), (b), DRAWLOOM_HERE)
#define pthread_tryjoin_np(a, b) drawloom_pthread_tryjoin_np((a), (b), DRAWLOOM_HERE)
#define pthread_timedjoin_np(a, b, c) drawloom_pthread_timedjoin_np((a), (b), (c), DRAWLOOM_HERE)
#define pthread_clockjoin_np(a, b, c, d) drawloom_pthread_clockjoin_np((a), (b), (c), (d), DRAWLOOM_HERE)
#define pthread_setname_np(a, b) drawloom_pthread_setname_np((a), (b), DRAWLOOM_HERE)
#define pthread_kill(a, b) drawloom_pthread_kill((a), (b), DRAWLOOM_HERE)
#define pthread_setschedparam(a, b, c) drawloom_pthread_setschedparam((a), (b), (c), DRAWLOOM_HERE)
#define pthread_setaffinity_np(a, b, c) drawloom_pthread_setaffinity_np((a), (b), (c), DRAWLOOM_HERE)
#define pthread_getaffinity_np(a, b, c) drawloom_pthread_getaffinity_np((a), (b), (c), DRAWLOOM_HERE)
#define pthread_getattr_np(a, b) drawloom_pthread_getattr_np((a), (b), DRAWLOOM_HERE)
#define pthread_cond_clockwait(a, b, c, d) drawloom_pthread_cond_clockwait((a), (b), (c), (d), DRAWLOOM_HERE)
#define pthread_mutex_clocklock(a, b, c) drawloom_pthread_mutex_clocklock((a), (b), (c), DRAWLOOM_HERE)
#define pthread_rwlock_clockrdlock(a, b, c) drawloom_pthread_rwlock_clockrdlock((a), (b), (c), DRAWLOOM_HERE)
#define pthread_rwlock_clockwrlock(a, b, c) drawloom_pthread_rwlock_clockwrlock((a), (b), (c), DRAWLOOM_HERE)
#define sem_clockwait(a, b, c) drawloom_sem_clockwait((a), (b), (c), DRAWLOOM_HERE)
#define clock_nanosleep(a, b, c, d) drawloom_clock_nanosleep((a), (b), (c), (d), DRAWLOOM_HERE)
#define realloc(a, b) drawloom_realloc((a), (b), DRAWLOOM_HERE)
#define free(a) drawloom_free((a), DRAWLOOM_HERE)
#endif

#endif
