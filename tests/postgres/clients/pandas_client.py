"""pandas: frames of queries and of whole tables, in portions, and after what failed.

    pandas_client.py PORT
"""
import sys

import pandas
import sqlalchemy as sa

for driver in ["psycopg", "psycopg2"]:
    engine = sa.create_engine(f"postgresql+{driver}://somebody@127.0.0.1:{sys.argv[1]}/lprof")
    frame = pandas.read_sql("SELECT request_type, duration_us, start_ts FROM requests", engine)
    assert len(frame) == 149 and frame["duration_us"].dtype == "int64", frame.dtypes
    assert isinstance(frame["start_ts"].dtype, pandas.DatetimeTZDtype), frame.dtypes
    whole = pandas.read_sql("requests", engine)
    assert len(whole) == 149 and "log_sequence_id" in whole.columns
    assert len(pandas.read_sql_table("spans", engine, columns=["span_id"])) > 149
    portions = pandas.read_sql("SELECT request_id FROM requests", engine, chunksize=50)
    assert [len(portion) for portion in portions] == [50, 50, 49]
    with engine.connect().execution_options(stream_results=True) as connection:
        portions = pandas.read_sql("SELECT request_id FROM requests", connection, chunksize=100)
        assert [len(portion) for portion in portions] == [100, 49]
    with engine.connect() as connection:
        with connection.begin_nested() as savepoint:
            try:
                pandas.read_sql("SELECT nothing FROM requests", connection)
                raise AssertionError("no such column")
            except (sa.exc.DBAPIError, pandas.errors.DatabaseError):
                savepoint.rollback()
        assert len(pandas.read_sql("SELECT 1 AS one", connection)) == 1
    by_type = pandas.read_sql(
        sa.text("SELECT request_type, avg(duration_us) AS mean FROM requests WHERE duration_us >= :least GROUP BY 1"),
        engine, params={"least": 0},
    )
    assert len(by_type) == 6 and by_type["mean"].astype(float).min() >= 0
