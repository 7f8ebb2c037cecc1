/* The two builds of a unit of loops: CLONES stands before each of its functions that loop,
 * and LOOPS(name) is the name of what it hands on.
 *
 * With PLAIN_LOOPS, which the unit's twin *_plain.c defines, the loops are compiled once,
 * for the baseline of the architecture. Otherwise they are compiled once for each x86-64
 * level, and the one that fits is chosen when the module is loaded; a compiler that
 * cannot do that makes the plain loops twice. */
#ifndef SKCRF_CLONES_H
#define SKCRF_CLONES_H

#ifdef PLAIN_LOOPS
#define LOOPS(name) name##_plain
#else
#define LOOPS(name) name##_clones
#endif

#if !defined(PLAIN_LOOPS) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && defined(__x86_64__) && defined(__gnu_linux__)
#define CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#endif
