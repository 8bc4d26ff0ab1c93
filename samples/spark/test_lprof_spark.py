"""The program on a cluster of two executors: the table must be the one of a single process, row for row.

`LPROF=target/release/lprof python3 samples/spark/test_lprof_spark.py`. Without PySpark, or Java, nothing is tested,
which is told; `LPROF_REQUIRE_SPARK=1` makes that a failure. The logs are the sample's, again and again, later and
with other names of blocks, so that they are several periods.
"""

import datetime
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import pyspark
    from pyspark.sql import SparkSession
except ImportError:
    pyspark = None

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.dirname(HERE)
LPROF = os.path.abspath(os.environ.get("LPROF", os.path.join(SAMPLES, "..", "target", "release", "lprof")))
NODES = ("a", "b", "c")
# Some 290,700 records: two periods, which are at least 131,072 events long.
N_TIMES = 450
EVERY = datetime.timedelta(seconds=6)
# One of them has nothing to decide.
N_SHARES = 3
TABLES = ("requests", "request_nodes", "spans", "events", "relations", "log_sequences")
# Of a run, on a machine that has much else to do.
SECONDS_MAX = 240
TIME = "%Y-%m-%d %H:%M:%S,%f"
TIME_BYTES = len("2026-11-21 12:15:03,114")


def write_log(source, target):
    """Writes the log again and again, each time later and of other blocks."""
    with open(source, encoding="utf-8") as log:
        lines = log.read().splitlines()
    times = [None] * len(lines)
    for at, line in enumerate(lines):
        try:
            times[at] = datetime.datetime.strptime(line[:TIME_BYTES], TIME)
        except ValueError:
            continue  # A line of a stack trace.
    with open(target, "w", encoding="utf-8") as log:
        for nth in range(N_TIMES):
            renamed = re.sub(r"block-(\d+)", lambda name: f"block-{nth * 1000 + int(name[1])}", "\n".join(lines))
            for moment, line in zip(times, renamed.split("\n")):
                if moment is not None:
                    line = (moment + nth * EVERY).strftime(TIME)[:TIME_BYTES] + line[TIME_BYTES:]
                log.write(line + "\n")


def lprof(*arguments):
    """Runs lprof, which must succeed."""
    subprocess.run([LPROF, *arguments, "--quiet"], check=True, timeout=SECONDS_MAX)


def processes():
    """All processes: parent and command by number."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], check=True, stdout=subprocess.PIPE, text=True)
    rows = (line.split(None, 2) for line in listing.stdout.splitlines())
    return {int(row[0]): (int(row[1]), row[2]) for row in rows if len(row) == 3}


def executor_of_a_share(root):
    """The executor, below the process `root`, that decides a share now; None if none does."""
    known = processes()
    for number, (_, command) in known.items():
        if " reduce --partition " not in command:
            continue
        executor = None
        while number in known and number != root:
            if "CoarseGrainedExecutorBackend" in known[number][1]:
                executor = number
            number = known[number][0]
        if number == root and executor is not None:
            return executor
    return None


class LprofOnSpark(unittest.TestCase):
    """Each test is a run of the program."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="lprof-spark-")
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        # Executors work below SPARK_HOME: a folder of the test's own, with all that the package has.
        home = cls.path("spark")
        os.mkdir(home)
        package = os.path.dirname(pyspark.__file__)
        for name in os.listdir(package):
            if name != "work":
                os.symlink(os.path.join(package, name), os.path.join(home, name))
        os.environ.update(
            SPARK_HOME=home,
            SPARK_LOCAL_DIRS=cls.path("local"),
            SPARK_LOCAL_IP="127.0.0.1",
            PYSPARK_PYTHON=sys.executable,
        )
        os.mkdir(cls.path("logs"))
        for node in NODES:
            write_log(os.path.join(SAMPLES, "logs", f"{node}.log"), cls.path("logs", f"{node}.log"))
        lprof("analyze", os.path.join(SAMPLES, "classes", "java17", "store.jar"), "-o", cls.path("store.model"))
        for node in NODES:
            log, output = cls.path("logs", f"{node}.log"), cls.path("outputs", node)
            lprof("map", "--model", cls.path("store.model"), "--node", node, log, "-o", output)
        lprof("reduce", "--table", cls.path("single"), *(cls.path("outputs", node) for node in NODES))

    @classmethod
    def path(cls, *names):
        """A path in the folder of the test."""
        return os.path.join(cls.scratch, *names)

    def run_program(self, name, kill=False):
        """Runs the program on two executors; kills one that decides a share. Gives the table."""
        logs = [f"{node}={self.path('logs', f'{node}.log')}" for node in NODES]
        command = [os.path.join(os.environ["SPARK_HOME"], "bin", "spark-submit")]
        command += ["--master", "local-cluster[2,1,2048]", "--conf", "spark.ui.enabled=false"]
        command += [os.path.join(HERE, "lprof_spark.py"), "--lprof", LPROF, "--model", self.path("store.model")]
        command += ["--table", self.path(name), "--out", self.path(f"{name}-outputs")]
        command += ["--partitions", str(N_SHARES), *logs]
        with open(self.path(f"{name}.txt"), "w+", encoding="utf-8") as said:
            process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
            try:
                killed, until = None, time.monotonic() + SECONDS_MAX
                while process.poll() is None and time.monotonic() < until:
                    time.sleep(0.05)
                    if kill and killed is None:
                        killed = executor_of_a_share(process.pid)
                        if killed is not None:
                            os.kill(killed, signal.SIGKILL)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            said.seek(0)
            text = said.read()
        self.assertEqual(process.returncode, 0, text[-10_000:])
        self.assertEqual(kill, killed is not None, "an executor is killed while it decides a share")
        self.assertEqual(kill, "Lost executor" in text, text[-10_000:])
        self.assertEqual(sorted(os.listdir(self.path(f"{name}-outputs"))), list(NODES), "nothing else is left")
        self.assertFalse(os.path.exists(self.path(name, "shares")))
        return self.path(name)

    def session(self):
        """Spark, to read tables in this process."""
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "4")
        session = builder.config("spark.log.level", "ERROR").getOrCreate()
        self.addCleanup(session.stop)
        return session

    def check_same(self, table):
        """All rows of a table must be those of the single process."""
        session = self.session()
        for name in TABLES:
            rows, expected = (read(session, folder, name) for folder in (table, self.path("single")))
            n_rows = expected.count()
            self.assertGreater(n_rows, 0, name)
            self.assertEqual(rows.count(), n_rows, name)
            self.assertEqual(rows.exceptAll(expected).take(1), [], name)
        requests = read(session, table, "requests")
        self.assertEqual(requests.select("request_id").distinct().count(), requests.count(), "every request once")

    def test_table_is_that_of_one_process(self):
        table = self.run_program("table")
        self.check_same(table)
        session = self.session()
        for name in ("requests", "spans", "events"):
            rows = session.read.parquet(os.path.join(table, name))
            self.assertIn("day", rows.columns)
            listed = files(table, name)
            self.assertEqual(rows.count(), sum(file["n_rows"] for file in listed), name)
            days = {re.search(r"day=([^/]+)", file["path"])[1] for file in listed}
            self.assertEqual({str(row.day) for row in rows.select("day").distinct().collect()}, days)

    def test_table_is_the_same_when_an_executor_is_killed(self):
        self.check_same(self.run_program("killed", kill=True))


def files(table, name):
    """The files of a table of this name, as the newest manifest lists them."""
    manifests = glob.glob(os.path.join(table, "manifest-*.json"))
    newest = max(manifests, key=lambda path: int(re.search(r"(\d+)\.json$", path)[1]))
    with open(newest, encoding="utf-8") as manifest:
        return [file for file in json.load(manifest)["files"] if file["table"] == name]


def read(session, table, name):
    """The rows of these files."""
    paths = [os.path.join(table, file["path"]) for file in files(table, name)]
    return session.read.option("recursiveFileLookup", "true").parquet(*paths)


if __name__ == "__main__":
    missing = "PySpark is not installed" if pyspark is None else None
    if missing is None and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing = "no Java on this machine"
    if missing is None:
        unittest.main()
    print(f"spark: skipped: {missing}", file=sys.stderr)
    sys.exit(os.environ.get("LPROF_REQUIRE_SPARK") == "1")
