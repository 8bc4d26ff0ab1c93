-- Sketches that merge: one per node and minute is kept, and from these alone it is said how
-- many different blocks each node had to do with in all, and how long its spans took.
WITH printed AS (
  SELECT node, date_bin(INTERVAL '1 minute', ts) AS minute, unnest(values) AS item FROM events
), kept AS (
  SELECT node, minute, distinct_sketch(item['value']) AS blocks
  FROM printed WHERE item['name'] = 'Item.id' GROUP BY node, minute
), times AS (
  SELECT node, date_bin(INTERVAL '1 minute', start_ts) AS minute,
         quantile_sketch(arrow_cast(end_ts, 'Int64') - arrow_cast(start_ts, 'Int64')) AS took
  FROM spans GROUP BY node, minute
), blocks AS (
  SELECT node, distinct_estimate(distinct_merge(blocks)) AS about FROM kept GROUP BY node
), quantiles AS (
  SELECT node, quantile_merge(took) AS took FROM times GROUP BY node
)
SELECT node, about AS blocks,
       round(quantile_estimate(took, 0.5), 0) AS about_p50_us,
       round(quantile_estimate(took, 0.99), 0) AS about_p99_us
FROM blocks JOIN quantiles USING (node)
ORDER BY node
