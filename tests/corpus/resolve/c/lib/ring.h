#ifndef RING_H
#define RING_H

struct ring {
    int size;
};

int ring_push(struct ring *into, int value); //! ring
#endif
