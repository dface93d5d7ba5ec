#!/usr/bin/env bash
# All scenarios on all simulators, in CPU time.
#
# usage: bench/clusters/run.sh
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release --features drawloom --bin drawloom
cargo build --quiet --release --no-default-features --features turmoil --bin turmoil
# madsim is itself only with this flag; and its artefacts are nobody else's.
RUSTFLAGS="--cfg madsim" CARGO_TARGET_DIR="$target/madsim" \
    cargo build --quiet --release --no-default-features --features madsim --bin madsim

for scenario in "echo 2 50000" "echo 10 50000" "heartbeats 5 3600" "tiny 2 20000" "tiny 10 2000"; do
    # shellcheck disable=SC2086
    {
        "$target/release/drawloom" $scenario
        "$target/madsim/release/madsim" $scenario
        if [[ $scenario == heartbeats* ]]; then
            # Long, and as long for each second: a minute tells as much as an hour.
            "$target/release/turmoil" heartbeats 5 60
        else
            "$target/release/turmoil" $scenario
            FIXED=1 "$target/release/turmoil" $scenario
        fi
    }
done
# What only matters here: whether it gets dearer with more nodes, and how much memory it takes.
for hosts in 2 10 50 100 500; do "$target/release/drawloom" echo $hosts 500000; done
"$target/release/drawloom" tiny 2 200000
"$target/release/drawloom" tiny 10 20000
