#!/bin/sh
# Prepares a package named `tokio` for the cargo project in a folder, and prints the arguments that make cargo use it:
#
#     cargo test $(…/crates/tokio/named/prepare.sh .)
#
# The package is drawloom-tokio. It is written to the project's target folder, and the project's Cargo.lock is made to
# name it, as by any other patch; the lock file as it was is kept beside the package, to be put back afterwards:
#
#     cp target/drawloom/Cargo.lock Cargo.lock
set -eu
project=$(cd "${1:-.}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
drawloom=$(cd "$here/../../.." && pwd)
package="${CARGO_TARGET_DIR:-$project/target}/drawloom/tokio"

# The source of the real tokio, whose traits of `io` are re-exported: the one that drawloom-tokio depends on.
tokio=$(cargo metadata --manifest-path "$drawloom/crates/tokio/Cargo.toml" --format-version 1 |
    tr ',' '\n' | sed -n 's|.*"manifest_path":"\(.*/tokio-1\.[0-9.]*\)/Cargo.toml".*|\1|p' | head -n 1)
[ -n "$tokio" ] || { echo "prepare.sh: the source of tokio was not found" >&2; exit 1; }

mkdir -p "$package"
sed -e "s|@DRAWLOOM@|$drawloom|" -e "s|@TOKIO@|$tokio|" "$here/Cargo.toml.in" > "$package/Cargo.toml"
patch="patch.crates-io.tokio.path='$package'"

cd "$project"
[ -f Cargo.lock ] || cargo generate-lockfile >&2
grep -q '^name = "tokio"$' Cargo.lock || { echo "prepare.sh: the project does not depend on tokio" >&2; exit 1; }
if ! grep -q '"tokio 1.999.0"' Cargo.lock; then
    cp Cargo.lock "$package/../Cargo.lock"
    cargo update --config "$patch" --package tokio >&2
fi
echo "--config $patch"
