#include "ring.h"

static int clamp_value(int value) {
    return value;
}

int ring_push(struct ring *into, int value) { //! ring
    return clamp_value(value); //! lib/ring.c::clamp_value
}
