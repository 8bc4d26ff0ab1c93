-- Sessions of each node: its events without a silence of more than a second.
WITH gaps AS (
  SELECT node, ts, ts - lag(ts) OVER (PARTITION BY node ORDER BY ts) > INTERVAL '1 second' AS is_new
  FROM events
), sessions AS (
  SELECT node, ts, sum(CASE WHEN is_new THEN 1 ELSE 0 END) OVER (PARTITION BY node ORDER BY ts) AS number
  FROM gaps
)
SELECT node, number, min(ts) AS begins, max(ts) AS ends, count(*) AS events
FROM sessions
GROUP BY node, number
ORDER BY node, number
