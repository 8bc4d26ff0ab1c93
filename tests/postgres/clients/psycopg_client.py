"""psycopg 3 and psycopg2: cursors of the server, portions, COPY in three forms, savepoints.

    psycopg_client.py PORT
"""
import io
import sys

import psycopg
import psycopg2
import psycopg2.extras

PORT = sys.argv[1]
WHERE = f"host=127.0.0.1 port={PORT} user=somebody dbname=lprof"


def third():
    with psycopg.connect(WHERE) as connection:
        assert connection.execute("SELECT count(*) FROM requests WHERE duration_us >= %s", (0,)).fetchone() == (149,)
        # As bytes.
        row = connection.cursor(binary=True).execute(
            "SELECT request_type, duration_us, flags, start_ts FROM requests ORDER BY 2 DESC LIMIT 1"
        ).fetchone()
        assert isinstance(row[1], int) and isinstance(row[2], list) and row[3].tzinfo, row
        for binary in (False, True):
            with connection.cursor(name="c", binary=binary) as cursor:
                cursor.itersize = 20
                cursor.execute("SELECT request_id, duration_us FROM requests ORDER BY duration_us")
                assert len(cursor.fetchmany(7)) == 7
                assert len(list(cursor)) == 142
        with connection.cursor(name="s", scrollable=True) as cursor:
            cursor.execute("SELECT generate_series(1, 10) AS n ORDER BY 1")
            assert cursor.fetchmany(5)[-1] == (5,)
            cursor.scroll(2)
            assert cursor.fetchone() == (8,)
            cursor.scroll(0, mode="absolute")
            assert cursor.fetchone() == (1,)
        with connection.cursor().copy("COPY (SELECT request_id, duration_us FROM requests) TO STDOUT") as copy:
            assert len(list(copy.rows())) == 149
        with connection.cursor().copy("COPY (SELECT request_id, duration_us FROM requests) TO STDOUT (FORMAT BINARY)") as copy:
            copy.set_types(["text", "int8"])
            rows = list(copy.rows())
            assert len(rows) == 149 and isinstance(rows[0][1], int), rows[:2]
        with connection.cursor().copy("COPY (SELECT request_id FROM requests WHERE duration_us >= %s) TO STDOUT", (0,)) as copy:
            assert len(list(copy.rows())) == 149
        savepoints(connection, psycopg.Error)
        with connection.transaction():
            connection.execute("SELECT 1")
        # A statement that is prepared by its name.
        for _ in range(3):
            connection.execute("SELECT request_id FROM requests LIMIT %s", (1,), prepare=True).fetchone()
        with connection.pipeline():
            a = connection.execute("SELECT 1")
            b = connection.execute("SELECT count(*) FROM spans")
        assert a.fetchone() == (1,) and b.fetchone()[0] > 0
        connection.rollback()
        connection.autocommit = True
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def second():
    connection = psycopg2.connect(WHERE)
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cursor:
        cursor.execute("SELECT request_type, flags FROM requests WHERE duration_us >= %s LIMIT 3", (0,))
        assert isinstance(cursor.fetchall()[0]["flags"], list)
    with connection.cursor(name="c") as cursor:
        cursor.itersize = 50
        cursor.execute("SELECT request_id FROM requests")
        assert len(list(cursor)) == 149
    with connection.cursor() as cursor:
        out = io.StringIO()
        cursor.copy_expert("COPY (SELECT request_id FROM requests) TO STDOUT WITH CSV HEADER", out)
        assert len(out.getvalue().splitlines()) == 150
        out = io.StringIO()
        cursor.copy_to(out, "requests", columns=("request_id", "duration_us"))
        assert len(out.getvalue().splitlines()) == 149
    connection.rollback()
    connection.set_session(readonly=True, autocommit=True, isolation_level="REPEATABLE READ")
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        cursor.execute("SELECT 1")
    connection.close()


def savepoints(connection, fault):
    connection.rollback()
    cursor = connection.cursor()
    cursor.execute("SAVEPOINT a")
    try:
        cursor.execute("SELECT nothing FROM requests")
        raise AssertionError("no such column")
    except fault as error:
        assert error.sqlstate == "42703", error.sqlstate
    try:
        cursor.execute("SELECT 1")
        raise AssertionError("the transaction has failed")
    except fault as error:
        assert error.sqlstate == "25P02", error.sqlstate
    cursor.execute("ROLLBACK TO SAVEPOINT a")
    assert cursor.execute("SELECT 1").fetchone() == (1,)
    cursor.execute("RELEASE SAVEPOINT a")
    try:
        cursor.execute("ROLLBACK TO SAVEPOINT a")
        raise AssertionError("no such savepoint")
    except fault as error:
        assert error.sqlstate == "3B001", error.sqlstate
    connection.rollback()


third()
second()
