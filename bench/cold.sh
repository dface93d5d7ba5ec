#!/usr/bin/env bash
# What the first test costs somebody who adds a library to a project: how many crates its build has, what
# `cargo test --no-run` takes with an empty target folder, and what the test takes to find its bug and to report it.
# CPU seconds, user and system, all processes.
#
# usage: bench/cold.sh [ROUNDS] [BASE]      rounds (default 1); BASE: another checkout of drawloom, measured beside this one
#
# Each library has a crate of its own in a temporary folder, with the same test (bench/cold/). Peers come from the
# registry and are fetched before. A crate from the registry is never built incrementally; nor is drawloom here,
# which comes from this checkout. Contestants take turns, and the cheapest turn of each counts.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-1}
declare -A dependencies=(
    [loom]='loom = "0.7"'
    [shuttle]='shuttle = "0.9"'
    [drawloom]="drawloom = { path = \"$here/../crates/drawloom\", features = [\"controlled\"] }"
)
contestants=(loom shuttle drawloom)
if (($# > 1)); then
    dependencies[before]="drawloom = { path = \"$(cd "$2" && pwd)/crates/drawloom\", features = [\"controlled\"] }"
    contestants+=(before)
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_INCREMENTAL=0 DRAWLOOM_DIR=$scratch/kept RUST_BACKTRACE=0
unset CARGO_TARGET_DIR RUSTC_WRAPPER RUSTFLAGS

for contestant in "${contestants[@]}"; do
    source=$contestant
    [[ $source != before ]] || source=drawloom
    mkdir -p "$scratch/$contestant/tests"
    cp "$here/cold/$source.rs" "$scratch/$contestant/tests/deposit.rs"
    mkdir -p "$scratch/$contestant/src" && touch "$scratch/$contestant/src/lib.rs"
    cat >"$scratch/$contestant/Cargo.toml" <<TOML
[workspace]
[package]
name = "cold"
version = "0.0.0"
edition = "2021"
[dev-dependencies]
${dependencies[$contestant]}
TOML
    (cd "$scratch/$contestant" && cargo fetch --quiet)
done

# cpu COMMAND…: the CPU seconds that it took; what it says goes to the log.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$scratch/log" 2>&1; } 2>&1 | awk '{ printf "%.2f", $1 + $2 }'
}

least() {
    awk -v new="$1" -v old="${2:-}" 'BEGIN { print old == "" || new < old ? new : old }'
}

declare -A build run
for ((round = 0; round < rounds; round++)); do
    for contestant in "${contestants[@]}"; do
        cd "$scratch/$contestant"
        rm -rf target "$scratch/kept" drawloom-regressions
        built=$(cpu cargo test --quiet --offline --no-run) || { cat "$scratch/log" >&2; exit 1; }
        binary=$(find target/debug/deps -name 'deposit-*' -type f -executable)
        ran=$(cpu "$binary" || true)
        grep -q 'test a_deposit_is_lost ... FAILED' "$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
        build[$contestant]=$(least "$built" "${build[$contestant]:-}")
        run[$contestant]=$(least "$ran" "${run[$contestant]:-}")
    done
done

printf '| %-10s | %6s | %20s | %17s |\n' library crates 'cold build, CPU-s' 'first bug, CPU-s'
printf '| %-10s | %6s | %20s | %17s |\n' ---------- -----: ------------------: ---------------:
for contestant in "${contestants[@]}"; do
    cd "$scratch/$contestant"
    crates=$(cargo tree --offline --edges normal,build,dev --prefix none | sed 's/ (\*)$//' | sort -u | sed '/^$/d' | wc -l)
    printf '| %-10s | %6s | %20s | %17s |\n' "$contestant" "$((crates - 1))" "${build[$contestant]}" "${run[$contestant]}"
done
