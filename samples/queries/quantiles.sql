-- Quantiles of the duration of requests: exactly, and by t-digests, which merge.
SELECT request_type, count(*) AS requests,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY duration_us) AS p90_us,
       round(approx_percentile_cont(0.9) WITHIN GROUP (ORDER BY CAST(duration_us AS DOUBLE)), 1) AS about_p90_us
FROM requests
GROUP BY request_type
HAVING count(*) >= 10
ORDER BY request_type
