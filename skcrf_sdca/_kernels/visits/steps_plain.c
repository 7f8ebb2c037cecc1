/* The plain build of steps.c: see clones.h. */
#define PLAIN_LOOPS
#include "steps.c"
