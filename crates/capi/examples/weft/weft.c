/* Weft: a small language whose tasks, channels and select stand on drawloom.h. It is here to be read by those who write a runtime.
 *
 * A program is lines of words. `fn NAME PARAMETERS` and `test NAME` begin a function, `end` ends it. The statements:
 *
 *     let x 5            x is 5, or what another variable is       chan c 1         c is a channel with room for 1
 *     add x y            x becomes x + y                           send c x         sends x to c
 *     spawn t f x c      t is a task that runs f with x and c      recv c x         receives x from c; 0 if c is closed
 *     join t             waits for t                               try c x          the same, without waiting
 *     close c            closes c                                  select x c d     x is what comes first from c or d
 *     expect x 5         fails unless x is 5                       repeat 3 … end   does what is between three times
 *
 * What a runtime has to do: 1. `explore` runs each test as a session. 2. A spawned function is a task, a blocking statement a call. 3. Each
 * call says where it is: every line of the program has a `drawloom_loc` of its own, so findings name lines of Weft.
 */
#include <drawloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 400, MOST_WORDS = 8, MOST_VARIABLES = 16, MOST_NAME = 16 };

/* A line of the program, in words, and where it is. */
typedef struct line {
    char words[MOST_WORDS][64];
    int count;
    drawloom_loc at;
} line;

static line lines[MOST_LINES];
static int line_count;

/* Variables of a running function. A value is a number: also of a channel, and of a task. */
typedef struct frame {
    char names[MOST_VARIABLES][MOST_NAME];
    uint64_t values[MOST_VARIABLES];
    int count;
} frame;

/* What a task is spawned with. */
typedef struct call {
    int begin;
    frame variables;
} call;

static void wrong(const line *at, const char *what)
{
    drawloom_fail("panic", what, &at->at);
}

static uint64_t *variable(frame *of, const char *name)
{
    int i;
    for (i = 0; i < of->count; i++)
        if (strcmp(of->names[i], name) == 0)
            return &of->values[i];
    if (of->count == MOST_VARIABLES)
        return NULL;
    strncpy(of->names[of->count], name, MOST_NAME - 1);
    of->names[of->count][MOST_NAME - 1] = 0;
    of->values[of->count] = 0;
    return &of->values[of->count++];
}

static void set(frame *of, const line *at, int word, uint64_t value)
{
    uint64_t *place = variable(of, at->words[word]);
    if (place == NULL)
        wrong(at, "too many variables");
    *place = value;
}

static uint64_t get(frame *of, const line *at, int word)
{
    const char *text = at->words[word];
    const uint64_t *place;
    if (text[0] >= '0' && text[0] <= '9')
        return strtoull(text, NULL, 10);
    place = variable(of, text);
    if (place == NULL)
        wrong(at, "too many variables");
    return *place;
}

static int is(const line *at, const char *word) { return strcmp(at->words[0], word) == 0; }

/* The line behind the `end` of the block that begins at `begin`. */
static int behind(int begin)
{
    int depth = 1;
    for (begin++; begin < line_count && depth > 0; begin++)
        depth += is(&lines[begin], "repeat") - is(&lines[begin], "end");
    return begin;
}

static int find(const char *kind, const char *name)
{
    int i;
    for (i = 0; i < line_count; i++)
        if (is(&lines[i], kind) && strcmp(lines[i].words[1], name) == 0)
            return i;
    return -1;
}

static void run(frame *of, int begin);

/* Calls of one execution: nobody frees them in the midst, since a task may be abandoned anywhere. */
static call calls[64];
static int call_count;

/* The entry of a task. */
static void run_call(void *arg)
{
    call *called = (call *)arg;
    run(&called->variables, called->begin);
}

static uint64_t spawn(frame *of, const line *at)
{
    int i, begin = find("fn", at->words[2]);
    call *called = &calls[call_count % 64];
    drawloom_handle task;
    if (begin < 0 || call_count == 64)
        wrong(at, begin < 0 ? "there is no such function" : "too many tasks");
    call_count++;
    memset(called, 0, sizeof *called);
    called->begin = begin;
    for (i = 3; i < at->count && i - 1 < lines[begin].count; i++)
        set(&called->variables, &lines[begin], i - 1, get(of, at, i));
    task = drawloom_task_spawn(run_call, called, &at->at);
    drawloom_task_name(task, at->words[2]);
    return task;
}

static void select_from(frame *of, const line *at)
{
    drawloom_case cases[MOST_WORDS];
    size_t chosen = 0;
    int i, count = at->count - 2;
    memset(cases, 0, sizeof cases);
    for (i = 0; i < count; i++) {
        cases[i].size = sizeof cases[i];
        cases[i].handle = get(of, at, i + 2);
        cases[i].op = DRAWLOOM_RECV;
    }
    drawloom_select(cases, (size_t)count, 0, UINT64_MAX, &chosen, &at->at);
    set(of, at, 1, cases[chosen].value);
}

static void statement(frame *of, const line *at)
{
    uint64_t value = 0;
    if (is(at, "let")) {
        set(of, at, 1, get(of, at, 2));
    } else if (is(at, "add")) {
        set(of, at, 1, get(of, at, 1) + get(of, at, 2));
    } else if (is(at, "chan")) {
        value = drawloom_chan_new(get(of, at, 2), NULL, &at->at);
        drawloom_resource_name(value, at->words[1]);
        set(of, at, 1, value);
    } else if (is(at, "send")) {
        if (drawloom_chan_send(get(of, at, 1), get(of, at, 2), &at->at) != DRAWLOOM_OK)
            wrong(at, "the channel is closed");
    } else if (is(at, "recv") || is(at, "try")) {
        drawloom_handle chan = get(of, at, 1);
        if (is(at, "recv"))
            drawloom_chan_recv(chan, &value, &at->at);
        else
            drawloom_chan_try_recv(chan, &value, &at->at);
        set(of, at, 2, value);
    } else if (is(at, "close")) {
        drawloom_chan_close(get(of, at, 1), &at->at);
    } else if (is(at, "spawn")) {
        set(of, at, 1, spawn(of, at));
    } else if (is(at, "join")) {
        drawloom_task_join(get(of, at, 1), &at->at);
    } else if (is(at, "select")) {
        select_from(of, at);
    } else if (is(at, "expect")) {
        char message[160];
        if (get(of, at, 1) == get(of, at, 2))
            return;
        sprintf(message, "expected %.60s to be %llu, and it is %llu", at->words[1],
                (unsigned long long)get(of, at, 2), (unsigned long long)get(of, at, 1));
        drawloom_fail("assertion", message, &at->at);
    } else {
        wrong(at, "there is no such statement");
    }
}

static void run(frame *of, int begin)
{
    int i = begin + 1;
    while (i < line_count && !is(&lines[i], "end")) {
        if (is(&lines[i], "repeat")) {
            uint64_t times = get(of, &lines[i], 1);
            while (times-- > 0)
                run(of, i);
            i = behind(i);
        } else {
            statement(of, &lines[i++]);
        }
    }
}

/* A test is main. */
static void test(void *arg)
{
    frame variables;
    memset(&variables, 0, sizeof variables);
    call_count = 0;
    run(&variables, *(int *)arg);
}

static int explore(int begin, const char *strategy)
{
    drawloom_config *config = drawloom_config_new();
    drawloom_result result;
    drawloom_verdict verdict;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    if (drawloom_config_set(config, "strategy", strategy) != DRAWLOOM_OK)
        printf("%s\n", drawloom_config_error(config));
    drawloom_config_set(config, "trace", "false");
    drawloom_config_set(config, "allow_no_choice", "true");
    drawloom_config_set(config, "quiet", "true");
    verdict = drawloom_run(config, lines[begin].words[1], test, &begin, NULL, &result);
    printf("test %s: %s (%lu schedules%s)\n", lines[begin].words[1],
           verdict == DRAWLOOM_PASSED ? "ok" : result.kind ? result.kind : "refused", (unsigned long)result.executions,
           result.exhausted ? ", all there are" : "");
    if (verdict != DRAWLOOM_PASSED)
        printf("%s", result.report ? result.report : "");
    drawloom_result_free(&result);
    drawloom_config_free(config);
    return verdict == DRAWLOOM_PASSED;
}

static int read_program(const char *file)
{
    char text[512], *word;
    FILE *source = fopen(file, "r");
    int number = 0;
    if (source == NULL)
        return 0;
    while (fgets(text, sizeof text, source) != NULL && line_count < MOST_LINES) {
        line *at = &lines[line_count];
        number++;
        memset(at, 0, sizeof *at);
        if (strchr(text, '#') != NULL)
            *strchr(text, '#') = 0;
        for (word = strtok(text, " \t\r\n"); word != NULL && at->count < MOST_WORDS; word = strtok(NULL, " \t\r\n"))
            strncpy(at->words[at->count++], word, sizeof at->words[0] - 1);
        at->at.size = sizeof at->at;
        at->at.file = file;
        at->at.line = (uint32_t)number;
        line_count += at->count > 0;
    }
    fclose(source);
    return 1;
}

int main(int argc, char **argv)
{
    int i, passed = 1;
    if (argc < 2 || !read_program(argv[1])) {
        fprintf(stderr, "usage: weft FILE [STRATEGY]\n");
        return 2;
    }
    for (i = 0; i < line_count; i++)
        if (is(&lines[i], "test"))
            passed &= explore(i, argc > 2 ? argv[2] : "exhaustive");
    return passed ? 0 : 1;
}
