"""lprof on a Spark cluster: one task maps the logs of a node, one task decides a share of the requests.

    spark-submit --master spark://HOST:7077 lprof_spark.py --lprof target/release/lprof --model shop.model \\
        --table /shared/shop --out /shared/outputs web=/shared/logs/web db=/shared/logs/db

The driver learns what all shares go by and makes them visible at the end. Binary and model are sent to the
executors; logs, outputs and the table lie in folders that the driver and all executors see under one path. The
table is the one that `lprof reduce` makes of the same outputs, row for row, however often tasks are tried again:
outputs and shares appear as a whole, when their folder is renamed.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import uuid

from pyspark import SparkFiles, TaskContext
from pyspark.sql import SparkSession


def lprof(binary, *arguments):
    """Runs lprof; says what it printed on standard error, which is also what is raised if it fails."""
    done = subprocess.run([binary, *arguments], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"lprof {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stderr


def lprof_of_task(name, *arguments):
    """Runs the binary that was sent with the job, with as many threads as the task has cores."""
    n_threads = TaskContext.get().cpus()
    return lprof(SparkFiles.get(name), *arguments, "--quiet", "--threads", str(n_threads))


def node_logs(arguments):
    """Nodes, each with its logs, of arguments `NODE=LOG`; a node may have several."""
    nodes = {}
    for argument in arguments:
        node, separator, log = argument.partition("=")
        if not separator or not node or not log or "/" in node or node.startswith("."):
            raise SystemExit(f"`{argument}`: expected NODE=LOG, a log or a folder of logs of a node")
        nodes.setdefault(node, []).append(os.path.abspath(log))
    return nodes


def mapper(name, model, folder):
    """A task: maps the logs of a node into a folder of its name, which is there as a whole or not at all."""

    def run(node_and_logs):
        node, logs = node_and_logs
        output = os.path.join(folder, node)
        aside = os.path.join(folder, f".{node}.{uuid.uuid4().hex}")
        try:
            lprof_of_task(name, "map", "--model", SparkFiles.get(model), "--node", node, "-o", aside, *logs)
            os.rename(aside, output)
        except OSError:
            # The output of who was first is whole, and the same.
            if not os.path.isdir(output):
                raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    return run


def decider(name, table, outputs, n_shares):
    """A task: decides the share of a number, from 1."""

    def run(number):
        share = f"{number}/{n_shares}"
        lprof_of_task(name, "reduce", "--partition", share, "--table", table, *outputs)

    return run


def parsed_arguments():
    """What the program was asked for."""
    parser = argparse.ArgumentParser(description="Make a request table of logs on a Spark cluster.")
    parser.add_argument("--lprof", required=True, metavar="BINARY", help="lprof, built for the executors")
    parser.add_argument("--model", required=True, help="what `lprof analyze` wrote")
    parser.add_argument("--table", required=True, help="shared folder of the request table")
    parser.add_argument("--out", required=True, help="shared folder for map outputs, a folder for each node")
    parser.add_argument("--partitions", type=int, metavar="N", help="shares [default: one per core]")
    parser.add_argument("logs", nargs="+", metavar="NODE=LOG", help="a log, or a folder of logs, of a node")
    return parser.parse_args()


def main():
    """Maps, learns, decides all shares and commits."""
    arguments = parsed_arguments()
    nodes = node_logs(arguments.logs)
    binary, model, table, folder = (
        os.path.abspath(path) for path in (arguments.lprof, arguments.model, arguments.table, arguments.out)
    )
    outputs = [os.path.join(folder, node) for node in nodes]
    there = [output for output in outputs if os.path.exists(output)]
    if there:
        raise SystemExit(f"`{there[0]}` is there already: give another folder with --out, or remove it first")
    os.makedirs(folder, exist_ok=True)

    context = SparkSession.builder.appName("lprof").getOrCreate().sparkContext
    for path in (binary, model):
        context.addFile(path)
    name, model_name = os.path.basename(binary), os.path.basename(model)
    context.parallelize(nodes.items(), len(nodes)).foreach(mapper(name, model_name, folder))
    print(lprof(binary, "reduce", "--learn", "--table", table, *outputs), end="", file=sys.stderr)
    n_shares = arguments.partitions or context.defaultParallelism
    shares = context.parallelize(range(1, n_shares + 1), n_shares)
    shares.foreach(decider(name, table, outputs, n_shares))
    print(lprof(binary, "reduce", "--commit", "--table", table), end="", file=sys.stderr)
    # What tasks left behind that were killed.
    for node in nodes:
        for aside in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(node)}.*")):
            shutil.rmtree(aside, ignore_errors=True)
    context.stop()


if __name__ == "__main__":
    main()
