/* The two builds of a unit of loops: CLONES stands before each of its functions that loop,
 * and LOOPS(name) is the name of what it hands on.
 *
 * With PLAIN_LOOPS, which the unit's twin *_plain.c defines, the loops are compiled once,
 * for the baseline of the architecture. Otherwise they are compiled once for each x86-64
 * level, and the one that fits is chosen when the module is loaded; a compiler that
 * cannot do that makes the plain loops twice. With SKCRF_SDCA_NO_AVX512 the highest level
 * is left out, so that a processor that has AVX-512 can test the loops of one that has
 * AVX2 at most. */
#ifndef SKCRF_CLONES_H
#define SKCRF_CLONES_H

#ifdef PLAIN_LOOPS
#define LOOPS(name) name##_plain
#else
#define LOOPS(name) name##_clones
#endif

/* The thread sanitizer is not ready yet when a module is loaded. */
#if !defined(PLAIN_LOOPS) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_THREAD__)
#ifdef SKCRF_SDCA_NO_AVX512
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define CLONES
#endif

/* MSVC knows the word by another name, unless it is asked for C11. Its own headers use it
 * in another sense: they are to be included before this one. */
#if defined(_MSC_VER) && !defined(__clang__) && !defined(__STDC_VERSION__)
#define restrict __restrict
#endif

#endif
