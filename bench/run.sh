#!/usr/bin/env bash
# The whole comparison: times and allocations (compare), instructions per step (callgrind)
# and system calls per execution (strace), with a verdict for every gate.
#
# usage: bench/run.sh [CARGO OPTIONS]     e.g. --no-default-features: peers and floor only
#
# Instructions and system calls are differences between two runs of different size, so
# that what a process costs by starting and ending cancels.
set -euo pipefail
shopt -s inherit_errexit

readonly INSTRUCTIONS_PER_STEP_AT_MOST=200
readonly SYSTEM_CALLS_PER_EXECUTION_AT_MOST=0
readonly JUDGED=drawloom

# Per-step cost: executions are the same in number and grow in length.
readonly EXECUTIONS=40 # many: the first is made twice, as a self-check
readonly OPS_FEW=2000 # per execution, over all tasks
readonly OPS_MANY=4000
# Per-execution cost: the smallest test, more and more often.
readonly ITERATIONS_FEW=500
readonly ITERATIONS_MANY=1000

for tool in valgrind strace cargo awk; do
    command -v "$tool" >/dev/null || { echo "run.sh: $tool is needed" >&2; exit 2; }
done

cd "$(dirname "$0")"
cargo build --quiet --release --bins "$@"
binaries=${CARGO_TARGET_DIR:-target}/release
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# Each of the next two runs `steps` with the arguments given and prints what the process
# cost, the executions and the steps ("-": not told).
instructions() {
    watched valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$scratch/log" \
        "$binaries/steps" "$@"
    echo "$(awk '/Collected/ { print $4 }' "$scratch/log") $(cat "$scratch/tally")"
}

system_calls() {
    watched strace -c -f -o "$scratch/log" "$binaries/steps" "$@"
    echo "$(awk '$NF == "total" { print $4 }' "$scratch/log") $(cat "$scratch/tally")"
}

watched() {
    "$@" >"$scratch/tally" 2>"$scratch/errors" || {
        echo "run.sh: failed: $*" >&2
        cat "$scratch/errors" >&2
        return 1
    }
}

# per UNIT FEW MANY: difference in cost over difference in executions, steps or ops.
per() {
    echo "$2 $3" | awk -v unit="$1" -v ops=$((EXECUTIONS * (OPS_MANY - OPS_FEW))) '{
        units["execution"] = $5 - $2
        units["step"] = $6 - $3
        units["op"] = ops
        if (units[unit] > 0) printf "%.3f", ($4 - $1) / units[unit]; else printf "-"
    }'
}

# row WHAT CONTESTANT MEASURED [LIMIT]: only drawloom is judged. A cost that could not be
# measured is not a pass.
row() {
    local what=$1 contestant=$2 measured=$3 gate="" verdict=""
    if (($# == 4)) && [[ $contestant == "$JUDGED" ]]; then
        gate="<= $4"
        verdict=$(awk -v measured="$measured" -v limit="$4" 'BEGIN {
            print (measured ~ /^-?[0-9.]+$/ && measured + 0 <= limit + 0) ? "PASS" : "FAIL"
        }')
        [[ $verdict == PASS ]] || failed=1
    fi
    line "$what" "$contestant" "$measured" "$gate" "$verdict"
}

line() {
    printf '| %-34s | %-10s | %12s | %-6s | %-7s |\n' "$@"
}

"$binaries/compare" || failed=1
echo

mapfile -t contestants < <("$binaries/steps" list)
line what contestant measured gate verdict
line ---------------------------------- ---------- -----------: ------ -------
for workload in lock atomic; do
    for tasks in 2 8; do
        for contestant in "${contestants[@]}"; do
            [[ $contestant != loom ]] || continue # the smallest test only
            few=$(instructions "$contestant" $workload $tasks $((OPS_FEW / tasks)) $EXECUTIONS)
            many=$(instructions "$contestant" $workload $tasks $((OPS_MANY / tasks)) $EXECUTIONS)
            row "instructions/step, $workload, $tasks tasks" "$contestant" \
                "$(per step "$few" "$many")" $INSTRUCTIONS_PER_STEP_AT_MOST
            row "instructions/op, $workload, $tasks tasks" "$contestant" \
                "$(per op "$few" "$many")"
        done
    done
done
for contestant in "${contestants[@]}"; do
    few=$(instructions "$contestant" lock 2 2 $ITERATIONS_FEW)
    many=$(instructions "$contestant" lock 2 2 $ITERATIONS_MANY)
    row "instructions/execution, smallest" "$contestant" "$(per execution "$few" "$many")"
done
for contestant in "${contestants[@]}"; do
    few=$(system_calls "$contestant" lock 2 2 $ITERATIONS_FEW)
    many=$(system_calls "$contestant" lock 2 2 $ITERATIONS_MANY)
    row "system calls/execution, smallest" "$contestant" \
        "$(per execution "$few" "$many")" $SYSTEM_CALLS_PER_EXECUTION_AT_MOST
done
exit $failed
