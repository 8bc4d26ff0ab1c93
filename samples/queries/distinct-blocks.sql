-- How many different blocks each node had to do with: exactly, and by a sketch of fixed size.
WITH printed AS (SELECT node, unnest(values) AS item FROM events)
SELECT node, count(DISTINCT item['value']) AS blocks, approx_distinct(item['value']) AS about
FROM printed
WHERE item['name'] = 'Item.id'
GROUP BY node
ORDER BY node
