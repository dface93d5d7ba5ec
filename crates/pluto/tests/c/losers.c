/* Functions of a runtime that another one takes the place of: if one of these is called, the swap has failed. */
#include "half.h"

#include <stdlib.h>

void __pluto_test_start(void *name) { (void)name; abort(); }
void __pluto_test_run(long code, long strategy, long seed, long iterations) { (void)code, (void)strategy, (void)seed, (void)iterations; abort(); }
void __pluto_test_pass(void) { abort(); }
void __pluto_test_summary(long count) { (void)count; abort(); }
long __pluto_task_spawn(long closure) { (void)closure; abort(); }
long __pluto_task_get(long task) { (void)task; abort(); }
long __pluto_chan_create(long capacity) { (void)capacity; abort(); }
long __pluto_chan_send(long channel, long message) { (void)channel, (void)message; abort(); }
long __pluto_chan_recv(long channel) { (void)channel; abort(); }
long __pluto_chan_try_recv(long channel) { (void)channel; abort(); }
void __pluto_print_string(void *text) { (void)text; abort(); }
