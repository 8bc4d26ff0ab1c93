-- The two longest requests of each type.
SELECT request_type, place, duration_us
FROM (SELECT request_type, duration_us,
             row_number() OVER (PARTITION BY request_type ORDER BY duration_us DESC, request_id) AS place
      FROM requests)
WHERE place <= 2
ORDER BY request_type, place
