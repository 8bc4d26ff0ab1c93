#!/usr/bin/env bash
# What each pass earns: leaves out one at a time, over labelled sets, and prints what the means
# become without it (percentage points of correct and incorrect messages, b-cubed F).
#
#   tests/ablation.sh [-b LPROF] [-p PASS,...] [SET ...]
#
# SET is the name of a folder of tests/programs/sets, or SYSTEM/SET of tests/systems (its jars
# must have been fetched); none: all programs. Without -p all passes that did something in one
# of the sets are left out, and those that only help others. One core per run.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd); lprof=${CARGO_TARGET_DIR:-$root/target}/release/lprof; passes=
while getopts b:p: flag; do
  case $flag in b) lprof=$OPTARG ;; p) passes=${OPTARG//,/ } ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- $(ls "$root/tests/programs/sets")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
aids="counted ways entities delays at_work detours ownership"

# Scores of a set, without a pass: correct incorrect F, and the passes that did something.
score() {
  local set=$1 without=${2:-} name=${1//\//+} table folder jars
  table=$work/$name.${without//\//+}; folder=$root/tests/programs/sets/$set
  if [ -d "$folder" ]; then jars=("$folder/app.jar"); else
    folder=$root/tests/systems/$set; jars=("${LPROF_JARS:-$HOME/.cache/lprof/jars}/${set%%/*}"/*.jar)
  fi
  [ -f "$work/$name.model" ] || "$lprof" analyze -q "${jars[@]}" -o "$work/$name.model"
  "$lprof" run -q --threads 1 ${without:+--without-pass "$without"} --model "$work/$name.model" \
    --table "$table" "$folder"/*.log.zst > /dev/null 2>&1
  "$lprof" evaluate -q --passes --format json --table "$table" --truth "$folder/truth.tsv.zst" |
    jq -r '.all as $a | [$a.percent.correct, $a.percent.incorrect, 100 * $a.b_cubed.f,
      ([.passes[] | select(.deed != "begin" or .pass != "opens") | .pass] | unique | join(","))] | join(" ")'
  rm -rf "$table"
}

declare -A base
for set; do
  base[$set]=$(score "$set")
done
if [ -z "$passes" ]; then
  passes="$(printf '%s\n' "${base[@]}" | cut -d' ' -f4 | tr ',' '\n' | grep -v '^opens$' | sort -u | tr '\n' ' ')$aids"
fi
means() { awk '{ for (i = 1; i <= 3; i++) s[i] += $i } END { printf "%.2f\t%.2f\t%.2f", s[1]/NR, s[2]/NR, s[3]/NR }'; }
printf 'without\tsets_that_change\tcorrect\tincorrect\tb_cubed_f\n'
printf '(nothing)\t-\t%s\n' "$(printf '%s\n' "${base[@]}" | means)"
for pass in $passes; do
  n=0; : > "$work/differences"
  for set; do
    read -r c i f used <<< "${base[$set]}"
    line="0 0 0"
    # A pass that did nothing in a set changes nothing there.
    if [[ ",$used, $aids " == *[,\ ]$pass[,\ ]* ]]; then
      read -r c2 i2 f2 _ <<< "$(score "$set" "$pass")"
      line=$(awk -v a="$c" -v b="$i" -v d="$f" -v x="$c2" -v y="$i2" -v z="$f2" 'BEGIN { print x-a, y-b, z-d }')
      awk '{ exit !($1 || $2 || $3) }' <<< "$line" && n=$((n + 1))
    fi
    echo "$line" >> "$work/differences"
  done
  printf '%s\t%s\t%s\n' "$pass" "$n" "$(means < "$work/differences")"
done
