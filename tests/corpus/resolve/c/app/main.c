#include "lib/ring.h"

static int clamp_value(int value) {
    return value;
}

int main(void) {
    struct ring numbers; //! ring
    return ring_push(&numbers, clamp_value(1)); //! lib/ring.c::ring_push
}
