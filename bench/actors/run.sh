#!/usr/bin/env bash
# What actors cost, in instructions (callgrind) and memory, each as a difference of two runs of different size, beside channels, ractor
# under `drawloom test --tokio`, and TraceForge. Exit code 1 if a gate fails.
set -euo pipefail
shopt -s inherit_errexit

cd "$(dirname "$0")"
readonly DRAWLOOM=${DRAWLOOM:-../../target/debug/drawloom} # the command line
for tool in valgrind cargo awk "$DRAWLOOM"; do
    command -v "$tool" >/dev/null || { echo "run.sh: $tool is needed" >&2; exit 2; }
done
cargo build --quiet --release
readonly ACTORS=${CARGO_TARGET_DIR:-target}/release/drawloom-bench-actors
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# instructions COMMAND…: what it cost; what it printed is in `$scratch/tally`.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$scratch/log" "$@" >"$scratch/tally"
    awk '/Collected/ { print $4 }' "$scratch/log"
}

# per_step WORKLOAD: executions of two lengths.
per_step() {
    local few many steps_few steps_many
    few=$(instructions "$ACTORS" "$1" 1000 40); steps_few=$(awk '{ print $2 }' "$scratch/tally")
    many=$(instructions "$ACTORS" "$1" 2000 40); steps_many=$(awk '{ print $2 }' "$scratch/tally")
    awk "BEGIN { printf \"%.1f\", ($many - $few) / ($steps_many - $steps_few) }"
}

# per_execution WORKLOAD: two numbers of executions of the smallest test.
per_execution() {
    local few many
    few=$(instructions "$ACTORS" "$1" 1 500)
    many=$(instructions "$ACTORS" "$1" 1 1000)
    awk "BEGIN { printf \"%.0f\", ($many - $few) / 500 }"
}

# per_call COMMAND…, with SIZE for a number of calls, which is `CALLS` for the other one: 20 executions each.
per_call() {
    local few many
    few=$(CALLS=100 instructions "${@//SIZE/100}")
    many=$(CALLS=200 instructions "${@//SIZE/200}")
    awk "BEGIN { printf \"%.0f\", ($many - $few) / (20 * 100) }"
}

# gate WHAT MEASURED LIMIT: at most, or at least where the limit begins with `>`.
gate() {
    local verdict
    verdict=$(awk -v m="$2" -v l="${3#>}" -v least="${3:0:1}" 'BEGIN { print (least == ">" ? m >= l : m <= l) ? "PASS" : "FAIL" }')
    [[ $verdict == PASS ]] || failed=1
    printf '| %-52s | %10s | %8s | %s |\n' "$1" "$2" "$3" "$verdict"
}

row() {
    printf '| %-52s | %10s | %8s | %s |\n' "$@"
}

ratio() {
    awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

row what measured gate verdict
row ---- -------: ---: ----
channel=$(per_step channel); mailbox=$(per_step mailbox)
row "instructions of a step of a channel" "$channel" "" ""
row "instructions of a step of a mailbox" "$mailbox" "" ""
gate "a step of a mailbox beside one of a channel" "$(ratio "$mailbox" "$channel")" 1.5

smallest=$(per_execution smallest); traceforge=$(per_execution smallest-of-traceforge)
row "instructions of the smallest actor test" "$smallest" "" ""
row "the same of TraceForge" "$traceforge" "" ""
gate "executions beside those of TraceForge" "$(ratio "$traceforge" "$smallest")" ">20"

# Five senders: 120 orders, once and twice.
per_order() {
    local few many
    few=$(instructions "$ACTORS" "$1" 5 1)
    many=$(instructions "$ACTORS" "$1" 5 3)
    awk "BEGIN { printf \"%.0f\", ($many - $few) / 240 }"
}
exhausted=$(per_order fan-in); verified=$(per_order fan-in-of-traceforge)
row "instructions of an order of five senders, exhaustive" "$exhausted" "" ""
row "the same of TraceForge, verify" "$verified" "" ""
row "exhaustive executions beside those of TraceForge" "$(ratio "$verified" "$exhausted")" "" ""

# The mirror of the project is built once; then its binary is run by itself.
binary=$(cd ractor && "$(realpath "../$DRAWLOOM")" test --tokio --runner cargo --json -- --release |
    sed -n 's/.*"binary":"\([^"]*\)".*/\1/p' | head -1)
own=$(per_call "$ACTORS" calls SIZE 20)
export DRAWLOOM_DIR=$scratch DRAWLOOM_STRATEGY="random(iterations = 20, threads = 1, trace = false, max_steps = 1000000)"
theirs=$(per_call "$binary")
row "instructions of a call of a GenServer" "$own" "" ""
row "the same of ractor" "$theirs" "" ""
gate "calls beside those of ractor" "$(ratio "$theirs" "$own")" ">5"

memory=$("$ACTORS" large 10000 1 | awk '{ printf "%.0f", $3 / 1024 }')
gate "MiB of 10,000 processes and 1,000,000 messages" "$memory" 1024
exit $failed
