/* The half of a runtime that stays: a heap with a collector, strings, errors, expectations. Written for tests, after what generated
   code and the library need of it. */
#include "half.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the two are joined for users, by names of the object. */
extern void drawloom_pluto_exit(int status);
extern FILE *drawloom_pluto_stderr;
#undef exit
#define exit drawloom_pluto_exit
#define complain(...) fprintf(drawloom_pluto_stderr, __VA_ARGS__)

enum { OBJECT, STRING, TASK = 7, CHANNEL = 9 };

struct header {
    struct header *next;
    uint32_t size;
    uint8_t mark, tag;
    uint16_t slots;
};

__thread void *__pluto_current_error;
__thread void *__pluto_current_error_type;
__thread long *__pluto_current_task;

/* The heap. */
static struct header *heap;
static size_t used, threshold = 64 * 1024;
static void *bottom;
static long collected;

struct stack {
    char *low;
    size_t size;
    int active;
};
static struct stack stacks[256];
static int stack_count, current = -1, scanning;

void __pluto_gc_init(void *end) { bottom = end; }

void __pluto_gc_register_fiber_stack(char *low, size_t size)
{
    if (stack_count < 256) {
        struct stack made = {low, size, 1};
        stacks[stack_count++] = made;
    }
}

void __pluto_gc_mark_fiber_complete(int index)
{
    if (index >= 0 && index < stack_count)
        stacks[index].active = 0;
}

void __pluto_gc_set_current_fiber(int index) { current = index; }
void __pluto_gc_enable_fiber_scanning(void) { scanning = 1; }
void __pluto_gc_disable_fiber_scanning(void) { scanning = 0; }

/* All objects, by address. */
static struct header **sorted;
static size_t object_count;

static int by_address(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    return (one > other) - (one < other);
}

static void mark(long word);

static void trace(struct header *object)
{
    long *slots = (long *)(object + 1);
    if (object->tag == CHANNEL) {
        long *ring = (long *)slots[1], i;
        for (i = 0; i < slots[3]; i++)
            mark(ring[(slots[4] + i) % slots[2]]);
        return;
    }
    for (int i = 0; i < object->slots; i++)
        mark(slots[i]);
}

static void mark(long word)
{
    size_t low = 0, high = object_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct header *object = sorted[middle];
        char *start = (char *)(object + 1);
        if ((char *)word < start) {
            high = middle;
        } else if ((char *)word >= start + object->size) {
            low = middle + 1;
        } else {
            if (!object->mark) {
                object->mark = 1;
                trace(object);
            }
            return;
        }
    }
}

static void mark_range(char *low, char *high)
{
    long *at = (long *)((uintptr_t)low & ~(uintptr_t)7);
    for (; (char *)at < high; at++)
        mark(*at);
}

static void __attribute__((noinline)) collect(void)
{
    jmp_buf registers;
    struct header *object, **place;
    size_t i = 0;
    collected++;
    sorted = malloc(object_count * sizeof *sorted);
    for (object = heap; object; object = object->next)
        sorted[i++] = object;
    qsort(sorted, object_count, sizeof *sorted, by_address);
    setjmp(registers);
    mark_range((char *)&registers, (char *)(&registers + 1));
    mark_range((char *)&registers, bottom);
    for (int s = 0; s < stack_count && scanning; s++)
        if (stacks[s].active && s != current)
            mark_range(stacks[s].low, stacks[s].low + stacks[s].size);
    mark((long)__pluto_current_error);
    for (place = &heap; (object = *place);) {
        long *slots = (long *)(object + 1);
        if (object->mark) {
            object->mark = 0;
            place = &object->next;
            continue;
        }
        *place = object->next;
        used -= object->size + sizeof *object;
        object_count--;
        if (object->tag == TASK)
            free((void *)slots[4]);
        if (object->tag == CHANNEL) {
            free((void *)slots[0]);
            free((void *)slots[1]);
        }
        /* Who still uses it is to see that. */
        memset(slots, 0xDB, object->size);
        free(object);
    }
    free(sorted);
    threshold = used * 2 > 64 * 1024 ? used * 2 : 64 * 1024;
}

void *gc_alloc(size_t size, uint8_t tag, uint16_t slots)
{
    struct header *object;
    if (bottom && used + size > threshold)
        collect();
    object = calloc(1, sizeof *object + size);
    object->next = heap;
    object->size = (uint32_t)size;
    object->tag = tag;
    object->slots = slots;
    heap = object;
    object_count++;
    used += size + sizeof *object;
    return object + 1;
}

void *__pluto_alloc(long size) { return gc_alloc((size_t)size, OBJECT, (uint16_t)(size / 8)); }
long collections(void) { return collected; }
long heap_bytes(void) { return (long)used; }

/* Strings and errors. */
void *__pluto_string_new(const char *bytes, long length)
{
    long *text = gc_alloc(8 + (size_t)length + 1, STRING, 0);
    text[0] = length;
    memcpy(text + 1, bytes, (size_t)length);
    return text;
}

void __pluto_string_data(void *text, const char **bytes, long *length)
{
    *length = *(long *)text;
    *bytes = (char *)text + 8;
}

void __pluto_raise_error(void *error) { __pluto_current_error = error; }
void __pluto_error_set_type(void *kind) { __pluto_current_error_type = kind; }
long __pluto_has_error(void) { return __pluto_current_error != NULL; }
void *__pluto_get_error(void) { return __pluto_current_error; }
void *__pluto_get_error_type(void) { return __pluto_current_error_type; }

void __pluto_clear_error(void)
{
    __pluto_current_error = NULL;
    __pluto_current_error_type = NULL;
}

void raise_text(const char *message, const char *kind)
{
    void **error = __pluto_alloc(8);
    error[0] = __pluto_string_new(message, (long)strlen(message));
    __pluto_raise_error(error);
    __pluto_error_set_type(__pluto_string_new(kind, (long)strlen(kind)));
}

int says(long text, const char *expected)
{
    const char *bytes;
    long length;
    __pluto_string_data((void *)text, &bytes, &length);
    return length == (long)strlen(expected) && memcmp(bytes, expected, (size_t)length) == 0;
}

const char *caught(void)
{
    static char message[128];
    const char *bytes;
    long length;
    if (!__pluto_has_error())
        return "";
    __pluto_string_data(*(void **)__pluto_get_error(), &bytes, &length);
    snprintf(message, sizeof message, "%.*s", (int)length, bytes);
    __pluto_clear_error();
    return message;
}

long closure_of(long (*code)(long), int captures)
{
    long *closure = __pluto_alloc(8 * (1 + captures));
    closure[0] = (long)code;
    return (long)closure;
}

/* Expectations. */
void __pluto_expect_equal_int(long actual, long expected, long line)
{
    if (actual != expected) {
        complain("FAIL (line %ld): expected %ld to equal %ld\n", line, actual, expected);
        exit(1);
    }
}

void __pluto_expect_true(long actual, long line)
{
    if (!actual) {
        complain("FAIL (line %ld): expected true but got false\n", line);
        exit(1);
    }
}

int run_tests(const struct test *tests, int count)
{
    /* Generated code passes nothing here: what comes is what the register holds. */
    __pluto_gc_init((void *)1);
    for (int i = 0; i < count; i++) {
        __pluto_test_start(__pluto_string_new(tests[i].name, (long)strlen(tests[i].name)));
        __pluto_test_run((long)tests[i].code, tests[i].strategy, 0, tests[i].iterations);
        __pluto_test_pass();
    }
    __pluto_test_summary(count);
    return 0;
}
