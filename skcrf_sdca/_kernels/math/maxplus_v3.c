/* The build of maxplus.c for x86-64-v3, AVX2: see levels.h. */
#define LEVEL 3
#include "levels.h"

#ifdef HAS_LEVELS
#pragma GCC target("arch=x86-64-v3")
#include "maxplus.c"
#endif
