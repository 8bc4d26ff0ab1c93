# What Superset 4 asks beside SQLAlchemy's look at the tables: the databases, the form of an answer, its costs,
# the first rows and charts.
-- 1 rows: lprof
SELECT datname FROM pg_database WHERE datistemplate = false
;
-- 1 rows
select pg_catalog.version()
;
-- 1 rows: public
select current_schema()
;
-- 1 rows: on
show standard_conforming_strings
;
-- 1 rows: repeatable read
show transaction isolation level
;
-- 3 rows
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg!_%' ESCAPE '!' OR nspname = 'pg_catalog' ORDER BY nspname
;
-- 12 rows: requests
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind in ('r', 'p')
;
-- 0 rows
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('v', 'm')
;
-- 100 rows
SELECT * FROM public.requests
LIMIT 100
;
-- * rows
EXPLAIN SELECT count(*) FROM public.requests
;
-- 1 rows
SELECT pg_backend_pid()
;
-- 1 rows: 149
SELECT COUNT(*) AS count
FROM public.requests
LIMIT 50000
;
-- * rows
SELECT DATE_TRUNC('minute', start_ts) AS start_ts, request_type AS request_type, AVG(duration_us) AS "AVG(duration_us)"
FROM public.requests
WHERE start_ts >= TO_TIMESTAMP('2026-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND start_ts < TO_TIMESTAMP('2027-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY DATE_TRUNC('minute', start_ts), request_type
ORDER BY "AVG(duration_us)" DESC
LIMIT 10000
;
-- 6 rows: ClientHandler.writeBlock
SELECT request_type AS request_type, COUNT(*) AS count
FROM public.requests
GROUP BY request_type
ORDER BY count DESC
LIMIT 1000
