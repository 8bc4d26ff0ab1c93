#!/usr/bin/env bash
# Fetches the jars that each labelled set names (jars.txt: Maven coordinates, in
# class-path order) into a cache outside of the tree, and prints that folder.
# usage: fetch-jars.sh [SYSTEM ...]     (default: all)
# cache: $LPROF_JARS, else $XDG_CACHE_HOME/lprof/jars, else ~/.cache/lprof/jars
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${LPROF_JARS:-${XDG_CACHE_HOME:-$HOME/.cache}/lprof/jars}
command -v mvn >/dev/null || { echo "fetch-jars: no Maven (mvn) on this machine" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ | tr -d /)
for system in "$@"; do
  mkdir -p "$cache/$system"
  while IFS=: read -r group artifact version; do
    [ -n "$group" ] || continue
    jar="$cache/$system/$artifact-$version.jar"
    [ -s "$jar" ] && continue
    mvn -q -B dependency:copy -Dartifact="$group:$artifact:$version" \
      -DoutputDirectory="$cache/$system" -Dmdep.useBaseVersion=true >&2
    [ -s "$jar" ] || { echo "fetch-jars: Maven did not deliver $group:$artifact:$version" >&2; exit 1; }
  done < "$here/$system/jars.txt"
done
echo "$cache"
