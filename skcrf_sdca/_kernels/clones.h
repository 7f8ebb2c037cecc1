/* CLONES: compile a function of plain loops once for each x86-64 level, and choose the
 * one that fits when the module is loaded. Elsewhere the same loops run as the compiler
 * finds best. */
#ifndef SKCRF_CLONES_H
#define SKCRF_CLONES_H

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    defined(__x86_64__) && defined(__gnu_linux__)
#define CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#endif
