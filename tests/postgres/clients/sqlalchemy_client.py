"""SQLAlchemy: its look at the tables, columns and keys, over psycopg 3, psycopg2 and asyncpg.

    sqlalchemy_client.py PORT
"""
import asyncio
import sys

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

TABLES = {
    "requests", "request_nodes", "spans", "events", "relations", "log_points", "top_level_methods",
    "communication_pairs", "log_sequences", "intervals", "inputs", "runs",
}


def look(connection):
    inspector = sa.inspect(connection)
    assert inspector.default_schema_name == "public", inspector.default_schema_name
    assert "public" in inspector.get_schema_names()
    assert set(inspector.get_table_names()) == TABLES, inspector.get_table_names()
    assert inspector.get_view_names() == []
    assert inspector.has_table("requests") and not inspector.has_table("nothing")
    columns = {column["name"]: column for column in inspector.get_columns("requests")}
    assert isinstance(columns["duration_us"]["type"], sa.BIGINT), columns["duration_us"]
    assert isinstance(columns["start_ts"]["type"], sa.TIMESTAMP) and columns["start_ts"]["type"].timezone
    assert isinstance(columns["flags"]["type"], sa.ARRAY), columns["flags"]
    assert not columns["request_id"]["nullable"] and columns["confidence"]["nullable"]
    assert columns["request_id"]["default"] is None and columns["request_id"]["comment"] is None
    assert inspector.get_pk_constraint("requests")["constrained_columns"] == []
    assert inspector.get_indexes("requests") == []
    assert inspector.get_foreign_keys("requests") == []
    assert inspector.get_unique_constraints("requests") == []
    assert inspector.get_check_constraints("requests") == []
    assert inspector.get_table_comment("requests") == {"text": None}
    assert inspector.get_sequence_names() == []
    assert inspector.get_enums() == []
    metadata = sa.MetaData()
    metadata.reflect(connection)
    assert set(metadata.tables) == TABLES, set(metadata.tables)
    requests = metadata.tables["requests"]
    query = sa.select(sa.func.count()).select_from(requests).where(requests.c.duration_us >= 0)
    assert connection.execute(query).scalar() == 149
    by_type = sa.select(requests.c.request_type, sa.func.max(requests.c.duration_us)).group_by(requests.c.request_type)
    assert len(connection.execute(by_type).all()) == 6
    with connection.begin_nested() as savepoint:
        try:
            connection.execute(sa.text("SELECT nothing FROM requests"))
            raise AssertionError("no such column")
        except sa.exc.DBAPIError:
            savepoint.rollback()
    assert connection.execute(sa.text("SELECT 1")).scalar() == 1


async def asynchronous(port):
    engine = create_async_engine(f"postgresql+asyncpg://somebody@127.0.0.1:{port}/lprof")
    async with engine.connect() as connection:
        await connection.run_sync(look)
        rows = await connection.stream(sa.text("SELECT request_id FROM requests"))
        assert len([row async for row in rows]) == 149
    await engine.dispose()


port = sys.argv[1]
for driver in sys.argv[2:] or ["psycopg", "psycopg2", "asyncpg"]:
    if driver == "asyncpg":
        asyncio.run(asynchronous(port))
        continue
    with sa.create_engine(f"postgresql+{driver}://somebody@127.0.0.1:{port}/lprof").connect() as connection:
        look(connection)
        streamed = connection.execution_options(stream_results=True, max_row_buffer=10)
        assert len(streamed.execute(sa.text("SELECT request_id FROM requests")).all()) == 149
