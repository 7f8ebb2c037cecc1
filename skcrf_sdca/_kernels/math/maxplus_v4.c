/* The build of maxplus.c for x86-64-v4, AVX-512: see levels.h. */
#define LEVEL 4
#include "levels.h"

#ifdef HAS_LEVELS
#pragma GCC target("arch=x86-64-v4")
#include "maxplus.c"
#endif
