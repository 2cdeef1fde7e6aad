#include <stdio.h>  //? import stdio.h
#include "near/shape.h"  //? import near/shape.h

#define LIMIT 10  //? constant LIMIT
#define MAX(a, b) ((a) > (b) ? (a) : (b))  //? macro MAX

/* A shape. */
struct shape {  //? struct shape doc="A shape."
	int size;  //? field shape.size
	struct side *sides[4];  //? field shape.sides; type side
	int (*draw)(struct canvas *on);  //? field shape.draw; type canvas
};

typedef struct {
	double x;  //? field point_t.x
} point_t;  //? struct point_t

typedef unsigned long key_t2;  //? type key_t2
enum color { RED, GREEN = 2 };  //? enum color; constant color.RED; constant color.GREEN
union value { int i; };  //? union value; field value.i

extern int verbose;  //? variable verbose extern
static const char *names[] = { "a" };  //? constant names internal static const
int helper(int code, char *text);  //? function helper declaration

/* The area of
 * a shape.
 */
static int area(const struct shape *s, point_t *origin)  //? function area internal static doc="The area of a shape."; type shape; type point_t
{
	int local = s->size, *other = &verbose;  //? read size on s; read verbose
	for (int i = 0; i < LIMIT; i++) {  //? read LIMIT
		local += MAX(s->sides[i]->length, helper(i, names[i]));  //? call MAX; read sides on s; read length on s.sides[]; call helper; read names
	}
	if (local > origin->x)  //? read x on origin
		return RED;  //? read RED
	return s->draw(make_canvas());  //? call draw on s; call make_canvas
}

struct shape *make(void)  //? function make; type shape
{
	return NULL;
}
