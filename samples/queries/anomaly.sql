-- Tenths of a second in which a node prints more than its ten before let expect: by over three
-- standard deviations.
WITH tenths AS (
  SELECT node, date_bin(INTERVAL '100 milliseconds', ts) AS begins, count(*) AS events FROM events GROUP BY 1, 2
), expected AS (
  SELECT node, begins, events, avg(events) OVER earlier AS usual, stddev(events) OVER earlier AS spread,
         count(*) OVER earlier AS n_earlier
  FROM tenths WINDOW earlier AS (PARTITION BY node ORDER BY begins ROWS BETWEEN 10 PRECEDING AND 1 PRECEDING)
)
SELECT node, begins, events, round(usual, 1) AS usual
FROM expected
WHERE n_earlier = 10 AND events > usual + 3 * spread
ORDER BY begins, node
