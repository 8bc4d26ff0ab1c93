#!/usr/bin/env bash
# Fetches the clients of one language, in the versions that are pinned here, into a cache outside of
# the tree, and prints what runs them: the Python, the folder of modules, the jar.
# usage: fetch.sh python|node|java
# cache: $LPROF_CLIENTS, else $XDG_CACHE_HOME/lprof/clients, else ~/.cache/lprof/clients
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${LPROF_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/lprof/clients}
need() { command -v "$1" >/dev/null || { echo "fetch: no $1 on this machine" >&2; exit 1; }; }
# A folder of what a file names, made once.
folder() { echo "$cache/$1-$(cksum < "$here/$2" | cut -d' ' -f1)"; }
case $1 in
  python)
    need python3
    to=$(folder python requirements.txt)
    if [ ! -e "$to/done" ]; then
      python3 -m venv "$to" >&2
      "$to/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" >&2
      touch "$to/done"
    fi
    echo "$to/bin/python" ;;
  node)
    need node
    need npm
    to=$(folder node package.json)
    if [ ! -e "$to/done" ]; then
      mkdir -p "$to"
      cp "$here/package.json" "$to"
      npm install --prefix "$to" --silent --no-audit --no-fund >&2
      touch "$to/done"
    fi
    echo "$to/node_modules" ;;
  java)
    need java
    need mvn
    IFS=: read -r group artifact version < "$here/jars.txt"
    jar=$cache/$artifact-$version.jar
    [ -s "$jar" ] || mvn -q -B dependency:copy -Dartifact="$group:$artifact:$version" \
      -DoutputDirectory="$cache" -Dmdep.useBaseVersion=true >&2
    [ -s "$jar" ]
    echo "$jar" ;;
esac
