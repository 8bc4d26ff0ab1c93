#!/usr/bin/env bash
#SBATCH --job-name=lprof
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --requeue
# lprof on a Slurm cluster: submits an array that maps the logs of each node, one that decides the shares of a table,
# and what comes before and after it, each when all before it has succeeded. A task may be tried again at any time:
# outputs and shares appear as a whole, by a rename.
# usage: lprof.sh MODEL LOGS OUTPUTS TABLE N
# LOGS has a folder of logs for each node; all four are paths that all machines see; N is how many shares.
set -euo pipefail

# Submits a step, and prints its number: OPTION... -- ARGUMENT...
submit() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    sbatch --parsable "${options[@]}" "$0" "$@"
}

# Maps the logs of the node that this task of the array is for.
map() { # MODEL LOGS OUTPUTS
    local nodes node aside
    nodes=("$2"/*/)
    node=$(basename "${nodes[$SLURM_ARRAY_TASK_ID]}")
    [ ! -d "$3/$node" ] || return 0
    mkdir -p "$3"
    aside=$3/.$node.$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}
    lprof map --threads "$SLURM_CPUS_PER_TASK" --model "$1" --node "$node" -o "$aside" "$2/$node"
    # Who was first has mapped the same.
    mv -T "$aside" "$3/$node" || { rm -rf "$aside"; [ -d "$3/$node" ]; }
}

case $1 in
    map) map "${@:2}" ;;
    learn) lprof reduce --learn --table "$3" "$2"/* ;; # OUTPUTS TABLE
    partition) # OUTPUTS TABLE N
        share=$SLURM_ARRAY_TASK_ID/$4
        lprof reduce --threads "$SLURM_CPUS_PER_TASK" --partition "$share" --table "$3" "$2"/*
        ;;
    commit) lprof reduce --commit --table "$2" ;; # TABLE
    *)
        model=$(realpath "$1") logs=$(realpath "$2") outputs=$(realpath "$3") table=$(realpath "$4") n_shares=$5
        nodes=("$logs"/*/)
        mapped=$(submit --array="0-$((${#nodes[@]} - 1))" -- map "$model" "$logs" "$outputs")
        learnt=$(submit --dependency="afterok:$mapped" -- learn "$outputs" "$table")
        decided=$(submit --dependency="afterok:$learnt" --array="1-$n_shares" -- \
            partition "$outputs" "$table" "$n_shares")
        submit --dependency="afterok:$decided" -- commit "$table"
        ;;
esac
