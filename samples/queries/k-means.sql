-- What kinds of seconds there are: the vectors (reads, writes) of each node and second in two
-- clusters, by ten rounds of k-means that begin with the least and the most busy one.
WITH RECURSIVE vectors AS (
  SELECT node, date_bin(INTERVAL '1 second', ts) AS second,
         CAST(count(*) FILTER (WHERE method = 'readBlock') AS DOUBLE) AS reads,
         CAST(count(*) FILTER (WHERE method = 'writeBlock') AS DOUBLE) AS writes
  FROM events WHERE request_id IS NOT NULL GROUP BY 1, 2
), ends AS (
  SELECT min(reads + writes) AS least, max(reads + writes) AS most FROM vectors
), rounds AS (
  SELECT 0 AS round, c.kind, avg(v.reads) AS reads, avg(v.writes) AS writes, count(*) AS n
  FROM vectors v CROSS JOIN ends e CROSS JOIN (VALUES (0), (1)) AS c(kind)
  WHERE v.reads + v.writes = CASE c.kind WHEN 0 THEN e.least ELSE e.most END
  GROUP BY c.kind
  UNION ALL
  SELECT round + 1, kind, avg(vector_reads), avg(vector_writes), count(*)
  FROM (SELECT r.round, r.kind, v.reads AS vector_reads, v.writes AS vector_writes,
               row_number() OVER (PARTITION BY v.node, v.second
                 ORDER BY power(v.reads - r.reads, 2) + power(v.writes - r.writes, 2), r.kind) AS nearest
        FROM vectors v CROSS JOIN rounds r WHERE r.round < 10)
  WHERE nearest = 1
  GROUP BY round, kind
)
SELECT kind, round(reads, 2) AS reads, round(writes, 2) AS writes, n AS seconds
FROM rounds WHERE round = 10 ORDER BY kind
