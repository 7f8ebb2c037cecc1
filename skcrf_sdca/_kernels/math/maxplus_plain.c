/* The plain build of maxplus.c: see clones.h. */
#define PLAIN_LOOPS
#include "maxplus.c"
