-- Requests and their longest duration in each second: every request is in one window.
SELECT date_bin(INTERVAL '1 second', start_ts) AS begins, count(*) AS requests, max(duration_us) AS longest_us
FROM requests
GROUP BY begins
ORDER BY begins
