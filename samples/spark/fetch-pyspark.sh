#!/usr/bin/env bash
# Fetches PySpark (requirements.txt) into a cache outside of the tree, and prints that folder, for PYTHONPATH.
# cache: $LPROF_PYSPARK, else $XDG_CACHE_HOME/lprof/pyspark, else ~/.cache/lprof/pyspark; a folder a version
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${LPROF_PYSPARK:-${XDG_CACHE_HOME:-$HOME/.cache}/lprof/pyspark}
version=$(sed -n 's/^pyspark==//p' "$here/requirements.txt")
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
release=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' || true)
[ "${release:-0}" -ge 17 ] || { echo "fetch-pyspark: no Java 17 or later on this machine" >&2; exit 1; }
python3 -m pip --version >/dev/null 2>&1 || { echo "fetch-pyspark: no pip of python3 on this machine" >&2; exit 1; }
if [ ! -d "$cache/$version" ]; then
  mkdir -p "$cache"
  aside=$(mktemp -d "$cache/.XXXXXX")
  trap 'rm -rf "$aside"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --target "$aside" -r "$here/requirements.txt" >&2
  chmod 755 "$aside"
  # Who was first has fetched the same.
  mv -T "$aside" "$cache/$version" 2>/dev/null || [ -d "$cache/$version" ]
fi
echo "$cache/$version"
