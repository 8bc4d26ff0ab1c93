"""asyncpg: types of a first connection, statements, cursors in portions, COPY in both forms, faults.

    asyncpg_client.py PORT
"""
import asyncio
import datetime
import io
import sys

import asyncpg


async def copied(connection, query, **how):
    out = io.BytesIO()
    await connection.copy_from_query(query, output=out, **how)
    return out.getvalue()


async def main(port):
    where = dict(host="127.0.0.1", port=port, user="somebody", database="lprof")
    connection = await asyncpg.connect(**where, server_settings={"application_name": "test"})
    n = await connection.fetchval("SELECT count(*) FROM requests")
    assert n == 149, n
    row = await connection.fetchrow(
        "SELECT request_type, start_ts, duration_us, flags, confidence FROM requests"
        " WHERE duration_us >= $1 AND request_type = $2 ORDER BY duration_us DESC LIMIT 1",
        0,
        "ClientHandler.writeBlock",
    )
    assert isinstance(row["start_ts"], datetime.datetime) and row["start_ts"].tzinfo, row
    assert isinstance(row["flags"], list) and isinstance(row["duration_us"], int), row

    # Values of types that have to be asked of the catalog.
    assert await connection.fetchval("SELECT interval '1 day 2 seconds'") == datetime.timedelta(1, 2)
    assert await connection.fetchval("SELECT set_config('search_path', 'public', false)") == "public"
    assert await connection.fetchval("SELECT $1::text", "x") == "x"
    assert await connection.fetchval("SELECT count(*) FROM requests WHERE request_type = ANY($1::text[])",
                                     ["ClientHandler.writeBlock"]) == 48
    among = "SELECT count(*) FROM requests WHERE request_type = ANY($1) AND NOT request_type <> ALL($1)"
    assert await connection.fetchval(among, ["ClientHandler.writeBlock", "nothing"]) == 48
    # A type that is none of its own is asked of the catalog, with all that it is made of.
    kind = await connection.fetchrow("SELECT oid, typname FROM pg_catalog.pg_type WHERE typname = 'int4range'")
    assert kind["oid"] == 3904, kind
    introspected = await connection._introspect_types([3904, 1007], 60)
    assert {record["name"] for record in introspected[0]} >= {"int4range", "_int4", "int4"}, introspected

    # In portions: by a portal that is suspended.
    async with connection.transaction(readonly=True):
        seen = [row["request_id"] async for row in connection.cursor("SELECT request_id FROM requests", prefetch=10)]
        assert len(set(seen)) == 149, len(seen)
        cursor = await connection.cursor("SELECT request_id FROM requests ORDER BY request_id")
        first = await cursor.fetch(100)
        assert await cursor.forward(9) == 9
        rest = await cursor.fetch(100)
        assert (len(first), len(rest)) == (100, 40), (len(first), len(rest))

    # What fails within a savepoint does not end the transaction.
    async with connection.transaction():
        try:
            async with connection.transaction():
                await connection.fetch("SELECT nothing FROM requests")
            raise AssertionError("no such column")
        except asyncpg.UndefinedColumnError:
            pass
        assert await connection.fetchval("SELECT 1") == 1
    try:
        async with connection.transaction():
            try:
                await connection.fetch("SELECT nothing FROM requests")
            except asyncpg.UndefinedColumnError:
                pass
            await connection.fetchval("SELECT 1")
        raise AssertionError("the transaction had failed")
    except asyncpg.InFailedSQLTransactionError:
        pass

    text = await copied(connection, "SELECT request_id, duration_us FROM requests ORDER BY 1", format="csv", header=True)
    lines = text.decode().splitlines()
    assert len(lines) == 150 and lines[0] == "request_id,duration_us", lines[:2]
    text = await copied(connection, "SELECT request_id FROM requests WHERE duration_us >= $1".replace("$1", "0"))
    assert text.count(b"\n") == 149
    binary = await copied(connection, "SELECT 1::int4 AS a, 'x'::text AS b, NULL::text AS c", format="binary")
    head = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    assert binary == head + b"\0\3\0\0\0\4\0\0\0\1\0\0\0\1x\xff\xff\xff\xff" + b"\xff\xff", binary
    out = io.BytesIO()
    await connection.copy_from_table("requests", output=out, columns=["request_id"], format="binary")
    assert out.getvalue().startswith(head) and out.getvalue().endswith(b"\xff\xff")

    async with asyncpg.create_pool(**where, min_size=1, max_size=3) as pool:
        counts = await asyncio.gather(*(pool.fetchval("SELECT count(*) FROM spans") for _ in range(6)))
        assert len(set(counts)) == 1, counts
    await connection.reset()
    await connection.close()


asyncio.run(main(int(sys.argv[1])))
