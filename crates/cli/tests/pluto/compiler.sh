#!/bin/sh
# Stands for Pluto's compiler, as far as `drawloom pluto` sees it: `test FILE --no-cache` takes the runtime of tests from its cache or puts it
# there, links the test with it, and runs it. A test is a program of C that is written as generated code.
set -e
[ "$1" = test ] || exit 64
file=
for argument in "$@"; do case "$argument" in test|--*) ;; *) file=$argument ;; esac; done
runtime="$PLUTO_CACHE_DIR/runtime/0123456789abcdef.o"
if [ ! -s "$runtime" ]; then
    mkdir -p "$PLUTO_CACHE_DIR/runtime"
    # Its own runtime calls `exit`, and writes to `stderr`; it has names of ours, too, which must lose.
    cc -w -O0 -Ddrawloom_pluto_exit=exit -Ddrawloom_pluto_stderr=stderr -c "$HALF/half.c" -o "$TMPDIR/half.o"
    cc -w -O0 -c "$HALF/losers.c" -o "$TMPDIR/losers.o"
    ld -r "$TMPDIR/half.o" "$TMPDIR/losers.o" -o "$runtime"
fi
if [ "$(basename "$file")" = small.pluto ]; then exit 0; fi
cc -w -O0 -I "$HALF" -x c "$file" -x none "$runtime" -o "$TMPDIR/pluto_test" -lm
"$TMPDIR/pluto_test"
