#!/usr/bin/env bash
# Builds and runs small services with known answers; writes sets/NAME.
# usage: build.sh NAME ...      scratch, kept: $SERVICES_TMP, else a new folder
#
# source/NAME/program.conf is a fragment of this script:
#   libs      Maven coordinates, separated by blanks (logback is always there)
#   carriers  folders of harness/ that take the truth over libraries (spring ...)
#   agent     instead of those: Maven coordinates of a Java agent of OpenTelemetry, whose trace ids are the truth
#   app       package of the program: records of other loggers have no log point
#   threads   layout of the logs in sets/NAME/threads, as logback's; those in plain/ print no thread
#   node NAME PORT CLASS ARGS...      a process, waited for until it listens; $P1 ... $P6 are free ports
#   load THREADS COUNT URL TEMPLATE...   the unseen callers, see harness/truth/Load.java
# Lines that hold "Truth." only serve the labels: they are blanked before app.jar is compiled.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); tmp=${SERVICES_TMP:-$(mktemp -d)}
logback=ch.qos.logback:logback-classic:1.4.14

class_path() {
  local key; key=$(echo "$*" | md5sum | cut -c1-12)
  local dir=$tmp/libs/$key
  if [ ! -s "$dir/cp.txt" ]; then
    mkdir -p "$dir"
    { echo '<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId><version>1</version><packaging>pom</packaging><dependencies>'
      for lib in "$@"; do IFS=: read -r g a v <<< "$lib"; echo "<dependency><groupId>$g</groupId><artifactId>$a</artifactId><version>$v</version></dependency>"; done
      echo '</dependencies></project>'; } > "$dir/pom.xml"
    mvn -q -B -f "$dir/pom.xml" dependency:build-classpath -Dmdep.outputFile="$dir/cp.txt" >&2
  fi
  cat "$dir/cp.txt"
}

# what protoc makes of the services in a folder
stubs() {
  local dir=$tmp/tools; mkdir -p "$dir" "$2/stubs"
  for tool in com.google.protobuf:protoc:3.25.3 io.grpc:protoc-gen-grpc-java:1.63.0; do
    IFS=: read -r g a v <<< "$tool"
    [ -x "$dir/$a" ] || { mvn -q -B dependency:copy -Dartifact="$tool:exe:linux-x86_64" -DoutputDirectory="$dir" >&2; mv "$dir/$a-$v-linux-x86_64.exe" "$dir/$a"; chmod +x "$dir/$a"; }
  done
  "$dir/protoc" --plugin="$dir/protoc-gen-grpc-java" -I "$1" --java_out="$2/stubs" --grpc-java_out="$2/stubs" "$1"/*.proto
}

compile() { mkdir -p "$2"; find "$1" -name '*.java' -print0 | xargs -0 javac -g -parameters -nowarn -Xlint:-options -proc:none --release 17 -cp "$3" -d "$2"; }

node() {
  local name=$1 port=$2; shift 2
  start "$name" "$@"
  for _ in $(seq 600); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
    kill -0 "${pids[-1]}" 2>/dev/null || break; sleep 0.1
  done
  echo "$program: $name does not listen" >&2; tail -20 "$work/$name.out" >&2; exit 1
}
start() {
  local name=$1; shift
  (cd "$work" && exec java "${traced[@]}" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dtruth.node="$name" -Dtruth.dir="$work/logs" -Dtruth.app="$app" -Dtruth.skew="${skew[$name]:-0}" \
    -Dtruth.threads="$threads" -Dorg.springframework.boot.logging.LoggingSystem=none -cp "$work/run:$here/harness:$cp" "$@") > "$work/$name.out" 2>&1 &
  pids+=($!)
}
load() { java -XX:TieredStopAtLevel=1 -cp "$work/run:$cp" truth.Load "$@"; }

build() {
  program=$1; work=$tmp/programs/$program; rm -rf "$work"; mkdir -p "$work/logs/threads" "$work/logs/plain" "$work/seen"; pids=(); libs= carriers= agent= app= threads=
  declare -gA skew=()
  local source=$here/source/$program line
  for n in 1 2 3 4 5 6; do export "P$n=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"; done
  # the settings first, then what is run
  eval "$(grep -vE '^(node|load|start|sleep) ' "$source/program.conf")"
  cp=$(class_path $logback $libs); traced=()
  if [ -n "$agent" ]; then
    traced=(-javaagent:"$(class_path $agent)" -Dotel.javaagent.logging=none -Dotel.traces.exporter=none -Dotel.metrics.exporter=none -Dotel.logs.exporter=none)
  fi
  mkdir -p "$work/src"; cp -r "$here/harness/truth" "$work/src/truth"
  for c in $carriers; do cp -r "$here/harness/$c/." "$work/src/"; done
  for f in "$source"/*.java; do cp "$f" "$work/src/"; sed -E 's/.*(Truth\.|import truth).*//' "$f" > "$work/seen/${f##*/}"; done
  if compgen -G "$source/*.proto" > /dev/null; then stubs "$source" "$work/src"; cp -r "$work/src/stubs" "$work/seen/"; fi
  compile "$work/src" "$work/run" "$cp"; compile "$work/seen" "$work/app" "$cp"
  trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
  eval "$(grep -E '^(node|load|start|sleep) ' "$source/program.conf")"
  sleep 1; kill "${pids[@]}" 2>/dev/null || true; wait "${pids[@]}" 2>/dev/null || true; trap - EXIT
  local set=$here/sets/$program; rm -rf "$set"; mkdir -p "$set/threads" "$set/plain"
  for f in "$source"/*.yml "$source"/*.properties; do [ -e "$f" ] && cp "$f" "$work/app/"; done
  (cd "$work/app" && find . -type f | LC_ALL=C sort | jar --create --no-manifest --date=2024-01-01T00:00:00Z --file "$set/app.jar" @/dev/stdin)
  for f in "$work"/logs/*/*.log; do [ -s "$f" ] && zstd -q -19 "$f" -o "$set/${f#"$work"/logs/}.zst"; done
  { printf 'node\tline\tn_lines\tthread\tlog_point\tlevel\tunit\top\n'; cat "$work"/logs/*.truth; } | zstd -q -19 -o "$set/truth.tsv.zst"
  cp "$source/types.tsv" "$set/types.tsv"
  echo "$program: $(cat "$work"/logs/threads/*.log | wc -l) lines, $(cut -f7 "$work"/logs/*.truth | grep -vx -- - | sort -u | wc -l) units"
}
for name in "$@"; do build "$name"; done
