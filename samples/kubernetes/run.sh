#!/usr/bin/env bash
# Runs the four jobs one after the other, each when the one before has succeeded. The image `lprof:latest` has the
# command on its path; in the volume (volume.yaml) lie `model` and `logs/NODE/` for each node.
# usage: run.sh [TIMEOUT]     (of each job, default 24h)
set -euo pipefail
cd "$(dirname "$0")"
for step in map learn partition commit; do
    kubectl delete job "lprof-$step" --ignore-not-found
    kubectl apply -f "$step.yaml"
    kubectl wait --for=condition=complete --timeout="${1:-24h}" "job/lprof-$step"
done
