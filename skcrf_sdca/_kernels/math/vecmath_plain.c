/* The plain build of vecmath.c: see clones.h. */
#define PLAIN_LOOPS
#include "vecmath.c"
