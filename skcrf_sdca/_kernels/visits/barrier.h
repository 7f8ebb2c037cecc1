/* A barrier for threads. They wait by spinning: they arrive within some hundred
 * microseconds of each other, and a sleeping thread takes as long to wake up. A thread
 * that has spun for long yields its core, since there may be fewer cores than threads.
 *
 * A thread that cannot go on aborts the barrier, so that no other waits for ever. */
#ifndef SKCRF_BARRIER_H
#define SKCRF_BARRIER_H

#if defined(_MSC_VER)
/* Without its macros for words such as min and small. */
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <intrin.h>
#include <windows.h>
#define skcrf_load(x) _InterlockedOr((volatile long *)(x), 0)
#define skcrf_store(x, value) _InterlockedExchange((volatile long *)(x), value)
#define skcrf_increment(x) _InterlockedIncrement((volatile long *)(x))
#define skcrf_pause() YieldProcessor()
#define skcrf_yield() SwitchToThread()
#else
#include <sched.h>
#define skcrf_load(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
#define skcrf_store(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
#define skcrf_increment(x) __atomic_add_fetch(x, 1, __ATOMIC_ACQ_REL)
#if defined(__x86_64__) || defined(__i386__)
#define skcrf_pause() __builtin_ia32_pause()
#else
#define skcrf_pause() ((void)0)
#endif
#define skcrf_yield() sched_yield()
#endif

enum { SKCRF_SPINS = 2000 };

typedef struct {
    long n_threads;
    long n_arrived;
    long n_passed; /* how often all threads have passed */
    long aborted;
} skcrf_barrier;

/* Wait for all threads; return 0 if the barrier was aborted. */
static inline int skcrf_barrier_wait(skcrf_barrier *barrier)
{
    const long n_passed = skcrf_load(&barrier->n_passed);
    long spins = 0;
    if (skcrf_increment(&barrier->n_arrived) == barrier->n_threads) {
        skcrf_store(&barrier->n_arrived, 0);
        skcrf_store(&barrier->n_passed, n_passed + 1);
        return 1;
    }
    while (skcrf_load(&barrier->n_passed) == n_passed) {
        if (skcrf_load(&barrier->aborted))
            return 0;
        if (++spins < SKCRF_SPINS)
            skcrf_pause();
        else
            skcrf_yield();
    }
    return 1;
}

static inline void skcrf_barrier_abort(skcrf_barrier *barrier)
{
    skcrf_store(&barrier->aborted, 1);
}

#endif
