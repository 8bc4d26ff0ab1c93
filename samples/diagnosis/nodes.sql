SELECT kept.node AS node, count(*) AS n,
       min(extract(epoch FROM kept.ts - got.ts)) * 1000 AS least_ms,
       max(extract(epoch FROM kept.ts - got.ts)) * 1000 AS most_ms
FROM events got JOIN events kept ON got.request_id = kept.request_id AND got.node = kept.node
WHERE got.method = 'writeBlock' AND kept.method = 'keep' AND got.ts >= '2026-11-21 12:15:05'
GROUP BY 1 ORDER BY 1
