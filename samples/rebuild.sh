#!/usr/bin/env bash
# Builds classes/, runs the sample on loopback and writes logs/ and expected/ anew.
# Needs JDK 17 in JAVA_HOME or on the path; takes about a quarter of a minute.
# LATER_JAVA_HOME names a JDK 21 or later, which then rebuilds classes/java21 too.
# `rebuild.sh classes` builds classes/ only.
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
pack() { # RELEASE PREFIX_OF_TOOLS
    local out=$build/java$1
    mkdir -p "$out" "classes/java$1"
    "$2javac" -Xlint:all,-options -Werror --release "$1" -cp "$build/backend" -d "$out" "${store[@]}"
    local jar=$PWD/classes/java$1/store.jar
    rm -f "$jar"
    # Sorted names, a fixed date and no manifest: the same sources give the same bytes.
    (cd "$out" && find blockstore -name '*.class' | LC_ALL=C sort |
        "$2jar" --create --no-manifest --date=2024-01-01T00:00:00Z --file "$jar" @/dev/stdin)
}
pack 8 "$bin"
pack 17 "$bin"
[ -z "${LATER_JAVA_HOME:-}" ] || pack 21 "$LATER_JAVA_HOME/bin/"
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
