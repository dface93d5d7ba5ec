// Deterministic concurrency testing: tasks, channels, locks and time of a C or C++ program, or of a language's runtime,
// under a scheduler that explores their interleavings, and repeats each of them.
//
// Made by cbindgen from the sources of `drawloom-capi`: change them, not this.
//
// A program calls `drawloom_run` with a function; what that function and the tasks that it spawns do through this header
// is explored. Handles are numbers of the running execution: 0 is none, and one of an earlier execution is a mistake that
// is found. Statuses below zero say that a call was none; what no correct program does, such as to unlock what it does
// not hold, is a finding at the place of the call, and ends the execution. Stacks of tasks that are left over when an
// execution ends are used again: nothing on them is cleaned up.
//
// A session belongs to the thread that runs it. Outside of one the calls do nothing and say so, except the atomics, which
// are what they are, and what asks for a number or a handle, which is 0.

#ifndef DRAWLOOM_H
#define DRAWLOOM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DRAWLOOM_NORETURN __attribute__((noreturn))
#else
#define DRAWLOOM_NORETURN
#endif

// As C's `memory_order_relaxed`, and so on.
#define DRAWLOOM_RELAXED 0

// As C's `memory_order_consume`.
#define DRAWLOOM_CONSUME 1

// As C's `memory_order_acquire`.
#define DRAWLOOM_ACQUIRE 2

// As C's `memory_order_release`.
#define DRAWLOOM_RELEASE 3

// As C's `memory_order_acq_rel`.
#define DRAWLOOM_ACQ_REL 4

// As C's `memory_order_seq_cst`.
#define DRAWLOOM_SEQ_CST 5

// Of a read-modify-write: exchanges it.
#define DRAWLOOM_EXCHANGE 0

// Adds, and wraps around.
#define DRAWLOOM_ADD 1

// Subtracts, and wraps around.
#define DRAWLOOM_SUB 2

// Bitwise and.
#define DRAWLOOM_AND 3

// Bitwise or.
#define DRAWLOOM_OR 4

// Bitwise exclusive or.
#define DRAWLOOM_XOR 5

// A channel without bound.
#define DRAWLOOM_UNBOUNDED UINT64_MAX

// A mutex that waits for itself where it is locked twice, which is found as a deadlock.
#define DRAWLOOM_MUTEX_NORMAL 0

// A mutex that its holder may lock again.
#define DRAWLOOM_MUTEX_RECURSIVE 1

// A mutex that says so where it is locked twice, or unlocked by somebody else.
#define DRAWLOOM_MUTEX_ERRORCHECK 2

// Who comes first is served first: a reader waits behind a writer that waits.
#define DRAWLOOM_RWLOCK_FAIR 0

// A reader does not wait for writers that wait.
#define DRAWLOOM_RWLOCK_PREFER_READERS 1

// A writer does not wait for readers that wait.
#define DRAWLOOM_RWLOCK_PREFER_WRITERS 2

// Receive a message from a channel.
#define DRAWLOOM_RECV 0

// Send a message to a channel.
#define DRAWLOOM_SEND 1

// Wait until a timer is due.
#define DRAWLOOM_TIMER 2

// Do not wait: `DRAWLOOM_DEFAULT` if no arm is ready.
#define DRAWLOOM_SELECT_DEFAULT 1

// An arm of a closed channel is never chosen; if all are closed, the select is `DRAWLOOM_CLOSED`. Without this it is ready, and
// its own status says that it is closed.
#define DRAWLOOM_SELECT_SKIP_CLOSED 2

// The first arm that is ready is chosen, and not any of them.
#define DRAWLOOM_SELECT_IN_ORDER 4

// What a call comes to. Below zero: it was no call that can be carried out, and nothing was done.
enum drawloom_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done as asked.
    DRAWLOOM_OK = 0,
    // The channel is closed; of a receive: and empty.
    DRAWLOOM_CLOSED = 1,
    // There is no room in the channel.
    DRAWLOOM_FULL = 2,
    // There is nothing in the channel.
    DRAWLOOM_EMPTY = 3,
    // The wait was over before.
    DRAWLOOM_TIMED_OUT = 4,
    // Somebody else has it; of a question: no.
    DRAWLOOM_BUSY = 5,
    // The task was asked to end.
    DRAWLOOM_CANCELLED = 6,
    // No arm of the select was ready.
    DRAWLOOM_DEFAULT = 7,
    // Of all that arrived at the barrier, this task is the one that is told so; of a once: the initialiser is this task's to run.
    DRAWLOOM_LEADER = 8,
    // The task holds the lock already, and waiting would be for itself.
    DRAWLOOM_HELD = 9,
    // The task does not hold the lock.
    DRAWLOOM_NOT_HELD = 10,
    // There is no session on this thread.
    DRAWLOOM_E_NO_SESSION = -1,
    // The session belongs to another thread.
    DRAWLOOM_E_THREAD = -2,
    // Hooks must not call.
    DRAWLOOM_E_HOOK = -3,
    // A pointer is null that must not be.
    DRAWLOOM_E_NULL = -4,
    // The `size` of a struct is none that this library knows.
    DRAWLOOM_E_SIZE = -5,
    // A number is out of its range.
    DRAWLOOM_E_RANGE = -6,
    // The configuration does not know the key, or the key does not know the value.
    DRAWLOOM_E_CONFIG = -7,
    // A session cannot be begun within a session.
    DRAWLOOM_E_NESTED = -8,
    // A text is no UTF-8.
    DRAWLOOM_E_TEXT = -9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum drawloom_status drawloom_status;
#else
typedef int32_t drawloom_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a session comes to.
enum drawloom_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Nothing was found.
    DRAWLOOM_PASSED = 0,
    // Something was found.
    DRAWLOOM_FAILED = 1,
    // Nothing was found, and a limit ended the exploration before its strategy was done.
    DRAWLOOM_LIMIT = 2,
    // Nothing could be explored: the result says why.
    DRAWLOOM_ERROR = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum drawloom_verdict drawloom_verdict;
#else
typedef int32_t drawloom_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a session is asked for.
typedef struct drawloom_config drawloom_config;

// A place in the user's source. It, and the texts that it points to, must stay what they are until the session is over; the
// macro `DRAWLOOM_HERE` makes one that lives for ever, and a runtime makes one for each place of its own language.
//
// Instead of a pointer to one there may stand an address of code: `DRAWLOOM_LOC_OF_ADDRESS(address)`.
typedef struct {
    // `sizeof(drawloom_loc)`.
    size_t size;
    // The file, as reports name it and look for it.
    const char *file;
    // The function, or null.
    const char *function;
    // From 1; 0 if it is not known.
    uint32_t line;
    // From 1; 0 if it is not known.
    uint32_t column;
} drawloom_loc;

// A handle: the number of a task, a lock, a channel … of the running execution. 0 is none.
typedef uint64_t drawloom_handle;

// Storage of the caller's for the messages of a channel: then a tracing collector sees them. The pointers must stay valid until
// the execution is over.
typedef struct {
    // `sizeof(drawloom_ring)`.
    size_t size;
    // As many words as the channel has capacity.
    uint64_t *slots;
    // How many of them are messages.
    uint64_t *count;
    // Where the oldest is.
    uint64_t *head;
    // Where the next goes.
    uint64_t *tail;
} drawloom_ring;

// An arm of a select.
typedef struct {
    // `sizeof(drawloom_case)`.
    size_t size;
    // The channel or the timer.
    drawloom_handle handle;
    // `DRAWLOOM_RECV`, `DRAWLOOM_SEND` or `DRAWLOOM_TIMER`.
    uint32_t op;
    // What the chosen arm came to: `DRAWLOOM_OK` or `DRAWLOOM_CLOSED`.
    int32_t status;
    // The message: in for a send, out for a receive.
    uint64_t value;
} drawloom_case;

// What a session came to. All texts are its own, until it is freed; those that there are not are null.
typedef struct {
    // `sizeof(drawloom_result)`, set by the caller.
    size_t size;
    // Executions that were made.
    uint64_t executions;
    // Steps that were made in all of them.
    uint64_t steps;
    // Executions that failed.
    uint64_t failing;
    // Different causes that were found.
    uint64_t findings;
    // Not 0 if all behaviours have been explored.
    int32_t exhausted;
    // Not 0 if the wall-clock time was over before.
    int32_t timed_out;
    // The number of the execution that failed first, from 1; 0 if none did.
    uint64_t iteration;
    // Of the first finding: its kind in a word.
    const char *kind;
    // What happened.
    const char *message;
    // The schedule: `drawloom_config_set(config, "replay", token)` repeats it.
    const char *token;
    // One line that says what was done, and what was not.
    const char *summary;
    // All that is printed.
    const char *report;
} drawloom_result;

// What a language runtime is told, and asked. Each may be null. None of them may call this library, but for
// `drawloom_task_number`.
typedef struct {
    // `sizeof(drawloom_hooks)`.
    size_t size;
    // Passed to each of them.
    void *user;
    // An execution begins.
    void (*execution_begin)(void *user);
    // An execution is over, and all of its tasks have ended or are abandoned.
    void (*execution_end)(void *user);
    // There is a stack between these addresses; for each when the session begins or it is made. A stack keeps its number, from 0
    // on, and is used by one task after another.
    void (*stack_register)(void *user, size_t stack, void *low, void *high);
    // The same stack is none any more, or the session is over.
    void (*stack_unregister)(void *user, size_t stack);
    // On the scheduler's stack: `task` is about to run on this stack; 0: the scheduler itself runs again.
    void (*switch_to)(void *user, drawloom_handle task, size_t stack, void *low, void *high);
    // On the task's own stack: it is about to stop. `frame` is room for `frame_size` bytes there.
    void (*suspend)(void *user, drawloom_handle task, void *frame);
    // On the task's own stack: it goes on, with the same `frame`.
    void (*resume)(void *user, drawloom_handle task, void *frame);
    // On the task's own stack: its entry has returned.
    void (*task_end)(void *user, drawloom_handle task);
    // The task has not ended, the execution has: its stack is forgotten.
    void (*abandon)(void *user, drawloom_handle task);
    // All that would be printed, line by line. Level 0 is what there is to say, level 1 a report.
    void (*write)(void *user, int32_t level, const char *line);
    // At most 512.
    size_t frame_size;
} drawloom_hooks;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads the atomic of `size` bytes at `address`. Outside of a session it does nothing else.
uint64_t drawloom_atomic_load(const void *address, size_t size, int32_t order, const drawloom_loc *at);

// Writes `value` to the atomic of `size` bytes at `address`.
void drawloom_atomic_store(void *address, size_t size, uint64_t value, int32_t order, const drawloom_loc *at);

// Reads and writes the atomic of `size` bytes at `address`: what was there. `what` is `DRAWLOOM_EXCHANGE`, `DRAWLOOM_ADD` …
uint64_t drawloom_atomic_rmw(void *address,
                             size_t size,
                             uint32_t what,
                             uint64_t operand,
                             int32_t order,
                             const drawloom_loc *at);

// Writes `desired` to the atomic if `*expected` is there, and says so (not 0); else `*expected` becomes what is there. A `weak`
// one (not 0) may fail although it need not, as often as the configuration allows (`weak_failures`).
int32_t drawloom_atomic_compare_exchange(void *address,
                                         size_t size,
                                         uint64_t *expected,
                                         uint64_t desired,
                                         int32_t weak,
                                         int32_t success,
                                         int32_t failure,
                                         const drawloom_loc *at);

// A memory fence. No step of its own comes of it: memory is sequentially consistent.
drawloom_status drawloom_atomic_fence(int32_t _order, const drawloom_loc *at);

// A barrier for so many tasks.
drawloom_handle drawloom_barrier_new(uint64_t tasks, const drawloom_loc *at);

// Arrives, and waits for the others. One of them is `DRAWLOOM_LEADER`.
drawloom_status drawloom_barrier_wait(drawloom_handle barrier, const drawloom_loc *at);

// Whoever uses it from now on makes a mistake that is found.
drawloom_status drawloom_barrier_destroy(drawloom_handle barrier, const drawloom_loc *at);

// A channel that holds `capacity` messages: 0 for a rendezvous, `DRAWLOOM_UNBOUNDED` for one that never fills. It has one
// sender. `ring` may be null.
drawloom_handle drawloom_chan_new(uint64_t capacity,
                                  const drawloom_ring *ring,
                                  const drawloom_loc *at);

// Sends a message, and waits for room.
drawloom_status drawloom_chan_send(drawloom_handle chan, uint64_t message, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_chan_send_for(drawloom_handle chan, uint64_t message, uint64_t nanos, const drawloom_loc *at);

// Sends a message if there is room: else `DRAWLOOM_FULL`.
drawloom_status drawloom_chan_try_send(drawloom_handle chan, uint64_t message, const drawloom_loc *at);

// Receives a message into `*message`, and waits for one. A closed channel gives what is in it first. `message` may be null.
drawloom_status drawloom_chan_recv(drawloom_handle chan,
                                   uint64_t *message,
                                   const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_chan_recv_for(drawloom_handle chan, uint64_t *message, uint64_t nanos, const drawloom_loc *at);

// Receives a message if there is one: else `DRAWLOOM_EMPTY`.
drawloom_status drawloom_chan_try_recv(drawloom_handle chan, uint64_t *message, const drawloom_loc *at);

// Closes the channel: nothing is sent any more, and what was sent can still be received. Who waits is told.
// `DRAWLOOM_CLOSED` if it was closed before.
drawloom_status drawloom_chan_close(drawloom_handle chan, const drawloom_loc *at);

// Another task will send. No step: whoever passes a sender on has one.
drawloom_status drawloom_chan_acquire(drawloom_handle chan);

// One of those who send goes away; with the last one the channel is closed, which is `DRAWLOOM_CLOSED`: what was sent can still
// be received. To give back more than there were is a finding, and so nobody sends who has given back: a runtime that cannot
// vouch for that has `drawloom_chan_disown`.
drawloom_status drawloom_chan_release(drawloom_handle chan,
                                      const drawloom_loc *at);

// As `drawloom_chan_acquire`, of a channel whose senders nobody owns: a step.
drawloom_status drawloom_chan_adopt(drawloom_handle chan, const drawloom_loc *at);

// As `drawloom_chan_release`, of a channel whose senders nobody owns: a task may give one back that it does not have, and send
// afterwards. With the last one the channel is closed, also for those who send; one more is none. A channel has one at first.
// One way or the other: the two counts know nothing of each other.
drawloom_status drawloom_chan_disown(drawloom_handle chan,
                                     const drawloom_loc *at);

// How many messages are in the channel, into `*length`.
drawloom_status drawloom_chan_len(drawloom_handle chan, uint64_t *length, const drawloom_loc *at);

// One of `outcomes` alternatives, from 0: all of them are explored. 0 outside of a session.
uint64_t drawloom_choose(uint64_t outcomes, const drawloom_loc *at);

// 64 random bits: one choice of 65,536 outcomes, spread over all bits together with the task and the number of its draw. Not for
// exhaustive exploration: `drawloom_choose` is. 0 outside of a session.
uint64_t drawloom_random_u64(const drawloom_loc *at);

// A condition variable.
drawloom_handle drawloom_condvar_new(const drawloom_loc *at);

// Gives `mutex` back, waits to be notified, and locks it again.
drawloom_status drawloom_condvar_wait(drawloom_handle condvar, drawloom_handle mutex, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most: then it is `DRAWLOOM_TIMED_OUT`, and the mutex is locked again all
// the same.
drawloom_status drawloom_condvar_wait_for(drawloom_handle condvar,
                                          drawloom_handle mutex,
                                          uint64_t nanos,
                                          const drawloom_loc *at);

// Wakes who has waited longest, if anybody waits.
drawloom_status drawloom_condvar_notify_one(drawloom_handle condvar, const drawloom_loc *at);

// Wakes all that wait.
drawloom_status drawloom_condvar_notify_all(drawloom_handle condvar, const drawloom_loc *at);

// Whoever uses it from now on makes a mistake that is found.
drawloom_status drawloom_condvar_destroy(drawloom_handle condvar, const drawloom_loc *at);

// An event that has not happened.
drawloom_handle drawloom_event_new(const drawloom_loc *at);

// It happens: all who wait go on, and who waits later need not. `DRAWLOOM_BUSY` if it had happened before.
drawloom_status drawloom_event_set(drawloom_handle event, const drawloom_loc *at);

// Waits until it has happened.
drawloom_status drawloom_event_wait(drawloom_handle event, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_event_wait_for(drawloom_handle event, uint64_t nanos, const drawloom_loc *at);

// `DRAWLOOM_OK` if it has happened, else `DRAWLOOM_BUSY`.
drawloom_status drawloom_event_is_set(drawloom_handle event, const drawloom_loc *at);

// The task is about to read `size` bytes at `address`: what it does next. Nobody else runs in between.
drawloom_status drawloom_read(const void *address, size_t size, const drawloom_loc *at);

// The task is about to write `size` bytes at `address`: what it does next. Nobody else runs in between.
drawloom_status drawloom_write(const void *address, size_t size, const drawloom_loc *at);

// What was at these addresses is no more: who uses them next uses something new. For `free`, or for what is allocated anew.
drawloom_status drawloom_memory_forget(const void *address,
                                       size_t size);

// The program frees these addresses: a write to what is there. Who uses them afterwards fails, and so does who frees them once more, until
// `drawloom_memory_forget` says that they are somebody else's. The memory itself stays as it is.
drawloom_status drawloom_memory_free(const void *address,
                                     size_t size,
                                     const drawloom_loc *at);

// A mutex of this kind: `DRAWLOOM_MUTEX_NORMAL`, `DRAWLOOM_MUTEX_RECURSIVE` or `DRAWLOOM_MUTEX_ERRORCHECK`.
drawloom_handle drawloom_mutex_new(uint32_t kind, const drawloom_loc *at);

// Locks a mutex, and waits until it is free. `DRAWLOOM_HELD` of an error-checking one that the task holds.
drawloom_status drawloom_mutex_lock(drawloom_handle mutex, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_mutex_lock_for(drawloom_handle mutex, uint64_t nanos, const drawloom_loc *at);

// Locks a mutex if it is free: else `DRAWLOOM_BUSY`.
drawloom_status drawloom_mutex_try_lock(drawloom_handle mutex, const drawloom_loc *at);

// Gives a mutex back. Of an error-checking one that the task does not hold, `DRAWLOOM_NOT_HELD`; of any other, a finding.
drawloom_status drawloom_mutex_unlock(drawloom_handle mutex,
                                      const drawloom_loc *at);

// Whoever uses the mutex from now on makes a mistake that is found. So is this, if somebody holds it.
drawloom_status drawloom_mutex_destroy(drawloom_handle mutex, const drawloom_loc *at);

// A one-time initialiser.
drawloom_handle drawloom_once_new(const drawloom_loc *at);

// `DRAWLOOM_LEADER`: the initialiser is this task's to run, which calls `drawloom_once_finish` then. `DRAWLOOM_OK`: it has run.
// While another task runs it, this one waits.
drawloom_status drawloom_once_enter(drawloom_handle once,
                                    const drawloom_loc *at);

// The initialiser that was this task's to run has succeeded, if `done` is not 0; else another task may run it.
drawloom_status drawloom_once_finish(drawloom_handle once, int32_t done, const drawloom_loc *at);

// `DRAWLOOM_OK` if the initialiser has run, else `DRAWLOOM_BUSY`.
drawloom_status drawloom_once_is_done(drawloom_handle once, const drawloom_loc *at);

// Waits for the task's own token, and takes it. It may return without, as often as the configuration allows
// (`spurious_wakeups`).
drawloom_status drawloom_park(const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_park_for(uint64_t nanos, const drawloom_loc *at);

// Gives `task` its token, if it has none.
drawloom_status drawloom_unpark(drawloom_handle task, const drawloom_loc *at);

// A reader–writer lock that prefers whom `preference` says.
drawloom_handle drawloom_rwlock_new(uint32_t preference, const drawloom_loc *at);

// Locks it for reading, and waits until that can be.
drawloom_status drawloom_rwlock_read(drawloom_handle rwlock, const drawloom_loc *at);

// Locks it for writing, and waits until that can be.
drawloom_status drawloom_rwlock_write(drawloom_handle rwlock, const drawloom_loc *at);

// Locks it for reading, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_rwlock_read_for(drawloom_handle rwlock, uint64_t nanos, const drawloom_loc *at);

// Locks it for writing, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_rwlock_write_for(drawloom_handle rwlock, uint64_t nanos, const drawloom_loc *at);

// Locks it for reading if that can be at once: else `DRAWLOOM_BUSY`.
drawloom_status drawloom_rwlock_try_read(drawloom_handle rwlock, const drawloom_loc *at);

// Locks it for writing if that can be at once: else `DRAWLOOM_BUSY`.
drawloom_status drawloom_rwlock_try_write(drawloom_handle rwlock, const drawloom_loc *at);

// Gives back what the task holds of it.
drawloom_status drawloom_rwlock_unlock(drawloom_handle rwlock, const drawloom_loc *at);

// Turns the write lock that the task holds into a read lock.
drawloom_status drawloom_rwlock_downgrade(drawloom_handle rwlock, const drawloom_loc *at);

// Whoever uses it from now on makes a mistake that is found. So is this, if somebody holds it.
drawloom_status drawloom_rwlock_destroy(drawloom_handle rwlock, const drawloom_loc *at);

// Carries out one of the `count` arms at `cases`, which of them is written to `*chosen`. It waits until one is ready, for
// `timeout` nanoseconds of virtual time at most (`UINT64_MAX`: for ever), unless `flags` have `DRAWLOOM_SELECT_DEFAULT`.
drawloom_status drawloom_select(drawloom_case *cases,
                                size_t count,
                                uint32_t flags,
                                uint64_t timeout,
                                size_t *chosen,
                                const drawloom_loc *at);

// A semaphore with so many permits.
drawloom_handle drawloom_semaphore_new(uint64_t permits, const drawloom_loc *at);

// Takes `permits`, and waits until they are there.
drawloom_status drawloom_semaphore_acquire(drawloom_handle semaphore, uint64_t permits, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_semaphore_acquire_for(drawloom_handle semaphore,
                                               uint64_t permits,
                                               uint64_t nanos,
                                               const drawloom_loc *at);

// Takes `permits` if they are there: else `DRAWLOOM_BUSY`.
drawloom_status drawloom_semaphore_try_acquire(drawloom_handle semaphore, uint64_t permits, const drawloom_loc *at);

// Gives `permits`, whoever had them.
drawloom_status drawloom_semaphore_release(drawloom_handle semaphore, uint64_t permits, const drawloom_loc *at);

// How many permits there are, into `*permits`.
drawloom_status drawloom_semaphore_value(drawloom_handle semaphore, uint64_t *permits, const drawloom_loc *at);

// Whoever uses it from now on makes a mistake that is found.
drawloom_status drawloom_semaphore_destroy(drawloom_handle semaphore, const drawloom_loc *at);

// The version of this interface: the major number in the upper 16 bits.
uint32_t drawloom_abi_version(void);

// A configuration that asks for nothing in particular. To be freed.
drawloom_config *drawloom_config_new(void);

// Sets `key` to `value`: "strategy", "seed", "iterations", "max_steps" … as the reference page of configurations has them;
// "replay" to a token; "environment" to "false", so that `DRAWLOOM_STRATEGY` and the like have no say; "quiet" to "true", so that
// nothing is printed; "executor" to "fibers", so that a program is explored that has variables of threads, which its tasks share.
// What is wrong, `drawloom_config_error` says.
drawloom_status drawloom_config_set(drawloom_config *config,
                                    const char *key,
                                    const char *value);

// What was wrong with the last key that could not be set; empty if nothing was. It lives until the next is set.
const char *drawloom_config_error(const drawloom_config *config);

// Frees a configuration. It may be null.
void drawloom_config_free(drawloom_config *config);

// Frees the texts of a result, which can be used again. It may be null.
void drawloom_result_free(drawloom_result *result);

// Explores `body(arg)` as the test `name`. `config`, `hooks` and `result` may be null. What there is to say is printed, to the hook
// `write` or to standard error.
drawloom_verdict drawloom_run(const drawloom_config *config,
                              const char *name,
                              void (*body)(void*),
                              void *arg,
                              const drawloom_hooks *hooks,
                              drawloom_result *result);

// The program has failed: a finding, with `message`. `kind` is "assertion", or any other word. In a task it does not return;
// outside of a session it prints the message and aborts.
void drawloom_fail(const char *kind,
                   const char *message,
                   const drawloom_loc *at) DRAWLOOM_NORETURN;

// Gives a channel, a lock or anything else the name that reports know it by, for the rest of the execution.
drawloom_status drawloom_resource_name(drawloom_handle resource, const char *name);

// The same for memory that was accessed under control, by its address.
drawloom_status drawloom_memory_name(const void *address, const char *name);

// Says something beside what goes wrong in this execution: reports show what was said first.
drawloom_status drawloom_note(const char *note);

// Spawns a task that calls `entry(arg)`. Its handle, or 0 outside of a session.
drawloom_handle drawloom_task_spawn(void (*entry)(void*), void *arg, const drawloom_loc *at);

// Waits until `task` has ended.
drawloom_status drawloom_task_join(drawloom_handle task, const drawloom_loc *at);

// The same, for so many nanoseconds of virtual time at most.
drawloom_status drawloom_task_join_for(drawloom_handle task, uint64_t nanos, const drawloom_loc *at);

// `DRAWLOOM_OK` if `task` has ended, `DRAWLOOM_BUSY` if not.
drawloom_status drawloom_task_is_done(drawloom_handle task, const drawloom_loc *at);

// The handle of the running task; 0 outside of a session.
drawloom_handle drawloom_task_self(void);

// The number of a task in this execution: 0 for main, and the others in the order in which they were spawned.
uint64_t drawloom_task_number(drawloom_handle task);

// Ends the running task. Nothing on its stack is cleaned up.
void drawloom_task_exit(void) DRAWLOOM_NORETURN;

// Lets another task go on, if there is one that can: nothing can be gained by running on.
drawloom_status drawloom_task_yield(const drawloom_loc *at);

// Gives a task a name for reports.
drawloom_status drawloom_task_name(drawloom_handle task, const char *name);

// Nobody waits for `task`: when all others have ended, it is left where it is.
drawloom_status drawloom_task_make_daemon(drawloom_handle task);

// Asks `task` to end. It learns of that when it asks [`drawloom_task_is_cancelled`].
drawloom_status drawloom_task_cancel(drawloom_handle task, const drawloom_loc *at);

// `DRAWLOOM_CANCELLED` if `task` was asked to end, else `DRAWLOOM_OK`.
drawloom_status drawloom_task_is_cancelled(drawloom_handle task, const drawloom_loc *at);

// Kills `task`: it makes no further step, and gives nothing back that it holds. To others it has ended.
drawloom_status drawloom_task_kill(drawloom_handle task, const drawloom_loc *at);

// A pointer that belongs to the running task; null until it is set, and outside of a session.
void *drawloom_task_local(void);

// Sets the pointer that belongs to the running task.
drawloom_status drawloom_task_set_local(void *local);

// The virtual clock, into `*nanos`.
drawloom_status drawloom_now_ns(uint64_t *nanos, const drawloom_loc *at);

// Sleeps for so many nanoseconds of virtual time; for none, as `drawloom_task_yield`.
drawloom_status drawloom_sleep_ns(uint64_t nanos, const drawloom_loc *at);

// A timer for a select, due in so many nanoseconds.
drawloom_handle drawloom_timer_new(uint64_t nanos, const drawloom_loc *at);

// The timer is due in so many nanoseconds from now.
drawloom_status drawloom_timer_reset(drawloom_handle timer, uint64_t nanos, const drawloom_loc *at);

// The timer is never due. A timer is its task's own: no other may reset or stop it.
drawloom_status drawloom_timer_stop(drawloom_handle timer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DRAWLOOM_H */

// The place of a call, as a `const drawloom_loc *` that lives for ever.
#if defined(__GNUC__)
#define DRAWLOOM_HERE                                                                                                  \
    (__extension__({                                                                                                   \
        static const drawloom_loc drawloom_here_ = {sizeof(drawloom_loc), __FILE__, __func__, __LINE__, 0};            \
        &drawloom_here_;                                                                                               \
    }))
// The place that the function returns to in which this stands: debug information leads back to its line.
#define DRAWLOOM_CALLER DRAWLOOM_LOC_OF_ADDRESS(__builtin_return_address(0))
#else
#define DRAWLOOM_HERE ((const drawloom_loc *)0)
#define DRAWLOOM_CALLER ((const drawloom_loc *)0)
#endif

// An address of code, behind a call, as a place.
#define DRAWLOOM_LOC_OF_ADDRESS(address) ((const drawloom_loc *)(((uintptr_t)(address) << 1) | 1))

// Fails the execution unless `condition` holds.
#define DRAWLOOM_ASSERT(condition)                                                                                     \
    ((condition) ? (void)0 : drawloom_fail("assertion", "assertion failed: " #condition, DRAWLOOM_HERE))

// Reads and writes of plain memory, each with its step: `DRAWLOOM_READ(count) + 1`, `DRAWLOOM_WRITE(count, 1)`.
#define DRAWLOOM_READ(variable) (drawloom_read(&(variable), sizeof(variable), DRAWLOOM_HERE), (variable))
#define DRAWLOOM_WRITE(variable, value)                                                                                \
    do {                                                                                                               \
        __extension__ __typeof__(variable) drawloom_value_ = (value);                                                  \
        drawloom_write(&(variable), sizeof(variable), DRAWLOOM_HERE);                                                  \
        (variable) = drawloom_value_;                                                                                  \
    } while (0)
