-- Requests of each type estimated from a quarter of them, with bounds at 95 %. Ids end in a hash,
-- so their last digit draws the sample, the same on every node and in every run.
SELECT request_type, 4 * sampled AS about,
       round(4 * sampled - 1.96 * sqrt(12 * sampled), 1) AS low, round(4 * sampled + 1.96 * sqrt(12 * sampled), 1) AS high,
       in_all
FROM (SELECT request_type, count(*) AS in_all,
             count(*) FILTER (WHERE substr(request_id, 32) IN ('0', '1', '2', '3')) AS sampled
      FROM requests GROUP BY request_type)
ORDER BY in_all DESC, request_type
