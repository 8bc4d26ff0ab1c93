-- Writes in windows of a second, a new one every half: every request is in two of them.
SELECT date_bin(INTERVAL '500 milliseconds', start_ts) - hop.back AS begins, count(*) AS writes
FROM requests CROSS JOIN (VALUES (INTERVAL '0 seconds'), (INTERVAL '500 milliseconds')) AS hop(back)
WHERE request_type = 'ClientHandler.writeBlock'
GROUP BY begins
ORDER BY begins
