"""ADBC: rows as columns of Arrow, which it takes by COPY as bytes.

    adbc_client.py PORT
"""
import sys

import adbc_driver_postgresql.dbapi
import pyarrow

where = f"postgresql://somebody@127.0.0.1:{sys.argv[1]}/lprof"
with adbc_driver_postgresql.dbapi.connect(where) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT request_id, duration_us, start_ts, flags, confidence FROM requests")
    table = cursor.fetch_arrow_table()
    assert table.num_rows == 149, table.num_rows
    types = [field.type for field in table.schema]
    expected = [pyarrow.string(), pyarrow.int64(), pyarrow.timestamp("us", "UTC"), pyarrow.list_(pyarrow.string())]
    assert types[:4] == expected and types[4] == pyarrow.float64(), types
    cursor.execute("SELECT count(*) FROM requests WHERE duration_us >= $1", (0,))
    assert cursor.fetchone() == (149,)
    assert connection.adbc_get_table_schema("requests").names[0] == "request_id"
