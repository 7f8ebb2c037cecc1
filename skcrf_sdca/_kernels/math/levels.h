/* The builds of a unit of loops.
 *
 * A unit, name.c, is compiled for the baseline of the architecture, and on x86-64 once
 * more for each higher level that the compiler knows: its twins name_v3.c (AVX2) and
 * name_v4.c (AVX-512) define LEVEL and include it. LOOPS(name) is the name of what a
 * build hands on, CHOOSE(name, level) the address of the build for a level.
 *
 * WIDEST is how many numbers of double precision the registers hold: compilers keep a
 * vector that is longer in memory. */
#ifndef SKCRF_LEVELS_H
#define SKCRF_LEVELS_H

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__)
#define HAS_LEVELS
#endif

#if !defined(LEVEL)
#define LOOPS(name) name##_plain
#define WIDEST 2
#elif LEVEL == 3
#define LOOPS(name) name##_v3
#define WIDEST 4
#else
#define LOOPS(name) name##_v4
#define WIDEST 8
#endif

#ifdef HAS_LEVELS
#define CHOOSE(name, level) \
    ((level) >= 4 ? &name##_v4 : (level) == 3 ? &name##_v3 : &name##_plain)
#else
#define CHOOSE(name, level) (&name##_plain)
#endif

/* The level of this processor, 1 for the baseline; at most `highest`. */
static inline int skcrf_level(int highest)
{
#ifdef HAS_LEVELS
    __builtin_cpu_init();
    if (highest >= 4 && __builtin_cpu_supports("x86-64-v4"))
        return 4;
    if (highest >= 3 && __builtin_cpu_supports("x86-64-v3"))
        return 3;
#endif
    (void)highest;
    return 1;
}

/* MSVC knows the word by another name, unless it is asked for C11. Its own headers use it
 * in another sense: they are to be included before this one. */
#if defined(_MSC_VER) && !defined(__clang__) && !defined(__STDC_VERSION__)
#define restrict __restrict
#endif

#endif
