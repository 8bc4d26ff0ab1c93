// node-postgres: a pool, parameters, statements with names, portions by a cursor, types.
//
//     node node_client.js PORT
const assert = require("node:assert");
const { Client, Pool } = require("pg");
const Cursor = require("pg-cursor");

const where = { host: "127.0.0.1", port: Number(process.argv[2]), user: "somebody", database: "lprof" };

async function main() {
  const client = new Client(where);
  await client.connect();
  const counted = await client.query("SELECT count(*) AS n FROM requests WHERE duration_us >= $1", [0]);
  assert.deepStrictEqual(counted.rows, [{ n: "149" }]);
  assert.strictEqual(counted.fields[0].dataTypeID, 20);
  for (let round = 0; round < 2; round++) {
    const named = { name: "of-type", text: "SELECT request_id, start_ts, flags FROM requests WHERE request_type = $1", values: ["ClientHandler.writeBlock"] };
    const { rows } = await client.query(named);
    assert.strictEqual(rows.length, 48);
    assert(rows[0].start_ts instanceof Date && Array.isArray(rows[0].flags));
  }
  const among = "SELECT count(*) AS n FROM requests WHERE request_type = ANY($1)";
  const found = await client.query(among, [["ClientHandler.writeBlock", "nothing"]]);
  assert.strictEqual(found.rows[0].n, "48");
  const cursor = client.query(new Cursor("SELECT request_id FROM requests WHERE duration_us >= $1", [0]));
  const sizes = [];
  for (;;) {
    const rows = await cursor.read(60);
    if (rows.length === 0) break;
    sizes.push(rows.length);
  }
  await cursor.close();
  assert.deepStrictEqual(sizes, [60, 60, 29]);
  await assert.rejects(client.query("SELECT nothing FROM requests"), { code: "42703" });
  await client.query("BEGIN");
  await client.query("SAVEPOINT a");
  await assert.rejects(client.query("SELECT nothing FROM requests"), { code: "42703" });
  await assert.rejects(client.query("SELECT 1"), { code: "25P02" });
  await client.query("ROLLBACK TO SAVEPOINT a");
  assert.strictEqual((await client.query("SELECT 1 AS one")).rows[0].one, 1);
  await client.query("COMMIT");
  const several = await client.query("SELECT 1; SELECT count(*) FROM spans");
  assert.strictEqual(several.length, 2);
  await client.end();
  const pool = new Pool({ ...where, max: 3 });
  const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.query("SELECT $1::int AS n", [n])));
  assert.deepStrictEqual(answers.map((answer) => answer.rows[0].n), [1, 2, 3, 4, 5]);
  await pool.end();
}

main();
