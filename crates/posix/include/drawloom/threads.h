// The threads of C11 under drawloom: `#include <drawloom/threads.h>` in place of `<threads.h>`, as `<drawloom/pthread.h>`.
#ifndef DRAWLOOM_THREADS_H
#define DRAWLOOM_THREADS_H

#include <threads.h>
#include <time.h>

#include <drawloom.h>

int drawloom_thrd_create(thrd_t *, thrd_start_t, void *, const drawloom_loc *);
int drawloom_thrd_join(thrd_t, int *, const drawloom_loc *);
int drawloom_thrd_detach(thrd_t, const drawloom_loc *);
thrd_t drawloom_thrd_current(const drawloom_loc *);
void drawloom_thrd_exit(int, const drawloom_loc *) DRAWLOOM_NORETURN;
void drawloom_thrd_yield(const drawloom_loc *);
int drawloom_thrd_sleep(const struct timespec *, struct timespec *, const drawloom_loc *);
int drawloom_mtx_init(mtx_t *, int, const drawloom_loc *);
void drawloom_mtx_destroy(mtx_t *, const drawloom_loc *);
int drawloom_mtx_lock(mtx_t *, const drawloom_loc *);
int drawloom_mtx_trylock(mtx_t *, const drawloom_loc *);
int drawloom_mtx_timedlock(mtx_t *, const struct timespec *, const drawloom_loc *);
int drawloom_mtx_unlock(mtx_t *, const drawloom_loc *);
int drawloom_cnd_init(cnd_t *, const drawloom_loc *);
void drawloom_cnd_destroy(cnd_t *, const drawloom_loc *);
int drawloom_cnd_wait(cnd_t *, mtx_t *, const drawloom_loc *);
int drawloom_cnd_timedwait(cnd_t *, mtx_t *, const struct timespec *, const drawloom_loc *);
int drawloom_cnd_signal(cnd_t *, const drawloom_loc *);
int drawloom_cnd_broadcast(cnd_t *, const drawloom_loc *);
void drawloom_call_once(once_flag *, void (*)(void), const drawloom_loc *);
int drawloom_tss_create(tss_t *, tss_dtor_t, const drawloom_loc *);
void drawloom_tss_delete(tss_t, const drawloom_loc *);
void *drawloom_tss_get(tss_t, const drawloom_loc *);
int drawloom_tss_set(tss_t, void *, const drawloom_loc *);

#ifndef DRAWLOOM_NO_MACROS
#define thrd_create(a, b, c) drawloom_thrd_create((a), (b), (c), DRAWLOOM_HERE)
#define thrd_join(a, b) drawloom_thrd_join((a), (b), DRAWLOOM_HERE)
#define thrd_detach(a) drawloom_thrd_detach((a), DRAWLOOM_HERE)
#define thrd_current() drawloom_thrd_current(DRAWLOOM_HERE)
#define thrd_exit(a) drawloom_thrd_exit((a), DRAWLOOM_HERE)
#define thrd_yield() drawloom_thrd_yield(DRAWLOOM_HERE)
#define thrd_sleep(a, b) drawloom_thrd_sleep((a), (b), DRAWLOOM_HERE)
#define mtx_init(a, b) drawloom_mtx_init((a), (b), DRAWLOOM_HERE)
#define mtx_destroy(a) drawloom_mtx_destroy((a), DRAWLOOM_HERE)
#define mtx_lock(a) drawloom_mtx_lock((a), DRAWLOOM_HERE)
#define mtx_trylock(a) drawloom_mtx_trylock((a), DRAWLOOM_HERE)
#define mtx_timedlock(a, b) drawloom_mtx_timedlock((a), (b), DRAWLOOM_HERE)
#define mtx_unlock(a) drawloom_mtx_unlock((a), DRAWLOOM_HERE)
#define cnd_init(a) drawloom_cnd_init((a), DRAWLOOM_HERE)
#define cnd_destroy(a) drawloom_cnd_destroy((a), DRAWLOOM_HERE)
#define cnd_wait(a, b) drawloom_cnd_wait((a), (b), DRAWLOOM_HERE)
#define cnd_timedwait(a, b, c) drawloom_cnd_timedwait((a), (b), (c), DRAWLOOM_HERE)
#define cnd_signal(a) drawloom_cnd_signal((a), DRAWLOOM_HERE)
#define cnd_broadcast(a) drawloom_cnd_broadcast((a), DRAWLOOM_HERE)
#define call_once(a, b) drawloom_call_once((a), (b), DRAWLOOM_HERE)
#define tss_create(a, b) drawloom_tss_create((a), (b), DRAWLOOM_HERE)
#define tss_delete(a) drawloom_tss_delete((a), DRAWLOOM_HERE)
#define tss_get(a) drawloom_tss_get((a), DRAWLOOM_HERE)
#define tss_set(a, b) drawloom_tss_set((a), (b), DRAWLOOM_HERE)
#endif

#endif
