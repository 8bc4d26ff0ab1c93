#!/usr/bin/env bash
# Builds classes/, runs the sample on loopback and writes logs/ and expected/ anew.
# Needs a JDK 17 or later: JAVA_HOME, else the one on the path. Takes about half a minute.
# `rebuild.sh classes` builds classes/ only: the same sources give the same bytes.
set -euo pipefail
cd "$(dirname "$0")"
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

mapfile -t backend < <(find source/backend source/harness/harness/{Record,Truth}.java -name '*.java' | sort)
mapfile -t store < <(find source/store -name '*.java' | sort)
mapfile -t harness < <(find source/harness -name '*.java' | sort)

mkdir -p "$build/backend" "$build/harness"
"${bin}javac" -Xlint:all,-options -Werror --release 17 -d "$build/backend" "${backend[@]}"
for release in 8 17; do
    out=$build/java$release
    mkdir -p "$out" "classes/java$release"
    "${bin}javac" -Xlint:all,-options -Werror --release "$release" -cp "$build/backend" -d "$out" "${store[@]}"
    "${bin}jar" --create --no-manifest --date=2024-01-01T00:00:00Z \
        --file "classes/java$release/store.jar" -C "$out" blockstore
done
[ "${1:-all}" = classes ] && exit 0

"${bin}javac" -Xlint:all,-options -Werror --release 17 -cp "$build/java17" -d "$build/harness" "${harness[@]}"
run=$build/run
mkdir "$run"
# The harness starts the nodes, bounds the run in time and stops what it started.
if ! timeout -k 10 240 "${bin}java" -cp "classes/java17/store.jar:$build/backend:$build/harness" \
    harness.RunSample "$run"; then
    tail -n 20 "$run"/*.out >&2
    exit 1
fi
"${bin}java" -cp "$build/harness:$build/backend" harness.Collect "$run" .
wc -l logs/*.log expected/*.tsv
