#!/bin/bash
# How long whole processes take on logs of any size, and how much memory, beside a count of
# lines, one regex (by ripgrep, where it is installed) and, where that is, Drain3, a miner of
# templates, over the same file in the same run. Of a machine that others use only the rate by
# processor time says something.
#
#   tests/benches/processes.sh LPROF AMPLIFY MODEL HEAD_SECONDS "MEGABYTES..." LOG...
#
# LPROF is the command, AMPLIFY the example `amplify-logs`. `map` reads the first LOG, amplified
# to each size; `reduce` its output; `run` all of them, as many nodes, amplified to that size
# together. The share of a table or output is of the bytes of its logs.
set -euo pipefail
lprof=$1 amplify=$2 model=$3 head=$4 sizes=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# what BYTES RECORDS OUTPUT COMMAND...: one row
row() {
    local what=$1 bytes=$2 records=$3 output=$4
    shift 4
    # Into a file: what prints to /dev/null may leave its work undone, as grep does.
    local code=0
    /usr/bin/time -f '%e %U %S %M' -o "$folder/time" "$@" > "$folder/out" 2> "$folder/err" || code=$?
    # A regex that matches nothing has been looked for all the same.
    if [ "$code" != 0 ] && [ "$what $code" != "regex 1" ]; then
        cat "$folder/err" >&2
        echo "failed: $*" >&2
        exit 1
    fi
    local share=0
    [ -z "$output" ] || share=$(du -sb "$output" | cut -f1)
    tail -n 1 "$folder/time" | awk -v what="$what" -v bytes="$bytes" -v records="$records" -v share="$share" '{
        wall = $1 < 0.005 ? 0.005 : $1  # the half of what is told apart
        cpu = $2 + $3 < 0.005 ? 0.005 : $2 + $3
        printf "%-8s %6.0f MB %8.2f s %8.2f cpu s %8.1f MB/s %8.1f MB/cpu s %9.0f records/s %6.0f MB peak %5.1f %%\n",
            what, bytes / 1e6, $1, $2 + $3, bytes / 1e6 / wall, bytes / 1e6 / cpu, records / wall, $4 / 1e3,
            100 * share / bytes }'
}

# ripgrep, if it is installed.
grep=(grep -cE)
! command -v rg > /dev/null || grep=(rg -c)

# The same miner of templates that others use, line by line.
drain='import sys
from drain3 import TemplateMiner
miner = TemplateMiner()
for line in open(sys.argv[1], errors="replace"):
    miner.add_log_message(line.rstrip())
print(len(miner.drain.clusters))'

for size in $sizes; do
    "$amplify" "$folder/one" "$size" "$head" "$1"
    "$amplify" "$folder/all" "$size" "$head" "$@"
    log=$(ls "$folder"/one/*)
    bytes=$(stat -c %s "$log")
    records=$(wc -l < "$log")
    row wc "$bytes" "$records" "" wc -l "$log"
    row regex "$bytes" "$records" "" "${grep[@]}" '[a-z]+_[0-9]+_[0-9]+ .*: ' "$log"
    if python3 -c 'import drain3' 2> /dev/null; then
        row drain3 "$bytes" "$records" "" python3 -c "$drain" "$log"
    fi
    row map "$bytes" "$records" "$folder/output" "$lprof" map -q --model "$model" --node n -o "$folder/output" "$log"
    row reduce "$bytes" "$records" "$folder/table" "$lprof" reduce -q --table "$folder/table" "$folder/output"
    bytes=$(cat "$folder"/all/* | wc -c)
    records=$(cat "$folder"/all/* | wc -l)
    row run "$bytes" "$records" "$folder/run" "$lprof" run -q --model "$model" --table "$folder/run" "$folder"/all/*
    rm -rf "$folder"/*
done
