// Models of express-cassandra, as its manual shows them: their tables, queries, migrations, and data to files and back.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before, test } = require("node:test");
const ExpressCassandra = require("express-cassandra");

const clients = [];

function options(keyspace, ormOptions = {}) {
  return {
    clientOptions: {
      contactPoints: ["127.0.0.1"], localDataCenter: "datacenter1", protocolOptions: { port: 9042 }, keyspace,
      queryOptions: { consistency: ExpressCassandra.consistencies.one }, socketOptions: { readTimeout: 60000 },
    },
    ormOptions: {
      defaultReplicationStrategy: { class: "SimpleStrategy", replication_factor: 1 },
      migration: "alter", disableTTYConfirmation: true, ...ormOptions,
    },
  };
}

async function connect(keyspace, ormOptions = {}) {
  const client = ExpressCassandra.createClient(options(keyspace, ormOptions));
  await client.initAsync();
  clients.push(client);
  return client;
}

async function model(client, name, schema) {
  const loaded = client.loadSchema(name, schema);
  return { loaded, changed: await loaded.syncDBAsync() };
}

const PERSON = {
  fields: {
    id: { type: "int" },
    name: { type: "varchar", default: "no name" },
    surname: "text",
    complete_name: { type: "text", default() { return `${this.name} ${this.surname}`; } },
    age: { type: "int", rule: { validator: (age) => age >= 0, message: "an age is not negative" } },
    active: "boolean",
    since: "timestamp",
    made: { type: "timestamp", default: { $db_function: "toTimestamp(now())" } },
    notes: { type: "map", typeDef: "<text, text>" },
    phones: { type: "list", typeDef: "<text>" },
    mails: { type: "set", typeDef: "<text>" },
    home: { type: "frozen", typeDef: "<address>" },
    place: { type: "frozen", typeDef: "<tuple<double, double>>" },
    shouted: { type: "text", virtual: { get() { return this.surname.toUpperCase(); } } },
  },
  key: [["id"], "name"],
  clustering_order: { name: "desc" },
  // ScyllaDB calls the index on a set `keys(..)`, which express-cassandra takes for a change.
  indexes: ["surname", "keys(notes)", "entries(notes)"],
  materialized_views: {
    by_age: { select: ["*"], key: ["age", "id", "name"] },
    from_m: { select: ["surname"], key: ["surname", "id", "name"], filters: { name: { $gte: "M" } } },
  },
  options: { timestamps: { createdAt: "created_at", updatedAt: "updated_at" }, versions: { key: "__v" } },
};

let client;
let Person;

function person(id, name, more = {}) {
  return new Person({ id, name, surname: "Doe", age: 30 + id, active: true, notes: { colour: "blue" },
    phones: ["1", "2"], mails: ["a@b.c"], home: { street: "Ring", zip: 1010 },
    place: new client.datatypes.Tuple(48.2, 16.4), ...more });
}

before(async () => {
  client = await connect("people", { udts: { address: { street: "text", zip: "int" } } });
  ({ loaded: Person } = await model(client, "Person", PERSON));
});

after(() => Promise.all(clients.map((each) => each.closeAsync())));

test("a schema that is there is not made again", async () => {
  const again = await connect("people", { udts: { address: { street: "text", zip: "int" } }, migration: "safe" });
  assert.equal((await model(again, "Person", PERSON)).changed, false);
});

test("an instance is saved, found with all of it, changed, and deleted", async () => {
  await person(1, "John").saveAsync();
  const john = await Person.findOneAsync({ id: 1, name: "John" });
  assert.equal(john.complete_name, "John Doe");
  assert.equal(john.shouted, "DOE");
  assert.deepEqual({ ...john.notes }, { colour: "blue" });
  assert.deepEqual(john.phones, ["1", "2"]);
  assert.equal(john.home.street, "Ring");
  assert.deepEqual(john.place.values(), [48.2, 16.4]);
  assert.ok(Math.abs(Date.now() - john.made.getTime()) < 3600_000);
  assert.ok(john.created_at instanceof Date);
  const version = String(john.__v);
  john.phones.push("3");
  john.notes.size = "XL";
  delete john.notes.colour;
  john.age = 50;
  assert.equal(john.isModified("age"), true);
  await john.saveAsync();
  const changed = await Person.findOneAsync({ id: 1 });
  assert.deepEqual(changed.phones, ["1", "2", "3"]);
  assert.deepEqual({ ...changed.notes }, { size: "XL" });
  assert.notEqual(String(changed.__v), version);
  await changed.deleteAsync();
  assert.equal(await Person.findOneAsync({ id: 1 }), undefined);
});

test("what a rule forbids is not saved", async () => {
  await assert.rejects(person(2, "Ann", { age: -1 }).saveAsync(), /an age is not negative/);
  assert.equal(await Person.findOneAsync({ id: 2 }), undefined);
});

test("collections change in place", async () => {
  await person(3, "Eve").saveAsync();
  const key = { id: 3, name: "Eve" };
  await Person.updateAsync(key, { notes: { $add: { size: "S" } }, phones: { $append: ["3"] },
    mails: { $add: ["d@e.f"] } });
  await Person.updateAsync(key, { notes: { $remove: { colour: "" } }, phones: { $prepend: ["0"] },
    mails: { $remove: ["a@b.c"] } });
  await Person.updateAsync(key, { notes: { $replace: { size: "M" } }, phones: { $replace: [1, "one"] } });
  const eve = await Person.findOneAsync(key, { raw: true });
  assert.deepEqual({ ...eve.notes }, { size: "M" });
  assert.deepEqual(eve.phones, ["0", "one", "2", "3"]);
  assert.deepEqual(eve.mails, ["d@e.f"]);
});

test("queries by key, range, order, limit, token and index", async () => {
  for (const name of ["A", "B", "C", "D"]) await person(4, name, { surname: `of ${name}` }).saveAsync();
  const names = async (query, options = {}) =>
    (await Person.findAsync(query, { raw: true, ...options })).map((each) => each.name);
  assert.deepEqual(await names({ id: 4 }), ["D", "C", "B", "A"]);
  assert.deepEqual(await names({ id: 4, name: { $gt: "A", $lte: "C" }, $orderby: { $asc: "name" } }), ["B", "C"]);
  assert.deepEqual(await names({ id: 4, name: { $in: ["A", "C"] }, $limit: 1 }), ["C"]);
  assert.deepEqual(await names({ id: { $token: { $gte: 4, $lte: 4 } }, $limit: 2 }), ["D", "C"]);
  assert.deepEqual(await names({ surname: "of B" }), ["B"]);
  assert.deepEqual(await names({ mails: { $contains: "nobody" } }, { allow_filtering: true }), []);
  assert.deepEqual((await names({ id: 4, notes: { $contains_key: "colour" } })).length, 4);
  assert.deepEqual((await names({ id: 4, notes: { $contains: { colour: "blue" } } }, { allow_filtering: true })).length,
    4);
  assert.deepEqual(await names({ active: true, id: 4, surname: "of C" }, { allow_filtering: true }), ["C"]);
});

test("columns, functions and groups are selected", async () => {
  for (const name of ["A", "B"]) await person(5, name).saveAsync();
  const [row] = await Person.findAsync({ id: 5 }, { select: ["id", "sum(age) as total", "count(name) as times"] });
  assert.deepEqual([row.id, row.total, row.times.toNumber()], [5, 70, 2]);
  const groups = await Person.findAsync({ id: { $in: [5] }, $groupby: ["id"] }, { select: ["id", "max(name)"] });
  assert.deepEqual(groups.map((group) => group["system.max(name)"]), ["B"]);
  const distinct = await Person.findAsync({}, { select: ["id"], distinct: true });
  assert.equal(new Set(distinct.map((each) => each.id)).size, distinct.length);
});

test("views are read", async () => {
  await person(6, "Kid", { age: 7, surname: "Small" }).saveAsync();
  await person(6, "Old", { age: 77, surname: "Small" }).saveAsync();
  const byAge = await Person.findAsync({ age: 77 }, { materialized_view: "by_age", raw: true });
  assert.deepEqual(byAge.map((each) => each.name), ["Old"]);
  const fromM = await Person.findAsync({ surname: "Small" }, { materialized_view: "from_m", raw: true });
  assert.deepEqual(fromM.map((each) => each.name), ["Old"]);
});

test("conditions are applied or not", async () => {
  const applied = (result) => result.rows[0]["[applied]"];
  assert.equal(applied(await person(7, "Ada").saveAsync({ if_not_exist: true })), true);
  assert.equal(applied(await person(7, "Ada").saveAsync({ if_not_exist: true })), false);
  const key = { id: 7, name: "Ada" };
  assert.equal(applied(await Person.updateAsync(key, { age: 40 }, { conditions: { age: 37 } })), true);
  assert.equal(applied(await Person.updateAsync(key, { age: 41 }, { conditions: { age: { $lt: 37 } } })), false);
  assert.equal(applied(await Person.updateAsync({ id: 70, name: "No" }, { age: 1 }, { if_exists: true })), false);
  await Person.deleteAsync(key, { if_exists: true });
  assert.equal(await Person.findOneAsync(key), undefined);
});

test("what lives for a time", async () => {
  await person(8, "Fly").saveAsync({ ttl: 86400 });
  const [row] = await Person.findAsync({ id: 8 }, { select: ["ttl(age)"] });
  assert.ok(row["ttl(age)"] > 86000 && row["ttl(age)"] <= 86400);
});

test("a batch is all of it", async () => {
  await person(9, "Was").saveAsync();
  const queries = [person(9, "New").save({ return_query: true }),
    Person.update({ id: 9, name: "Up" }, { age: 5 }, { return_query: true }),
    Person.delete({ id: 9, name: "Was" }, { return_query: true })];
  await client.doBatchAsync(queries);
  assert.deepEqual((await Person.findAsync({ id: 9 }, { raw: true })).map((each) => each.name), ["Up", "New"]);
});

test("large results come as a stream and row by row", async () => {
  const { loaded: Point } = await model(client, "Point",
    { fields: { p: "int", c: "int", v: "text" }, key: ["p", "c"] });
  for (let from = 0; from < 6000; from += 500) {
    await client.doBatchAsync(Array.from({ length: 500 }, (_, i) =>
      new Point({ p: 1, c: from + i, v: "x" }).save({ return_query: true })));
  }
  let next = 0;
  await new Promise((resolve, reject) => {
    Point.stream({ p: 1 }, { raw: true, fetchSize: 700 }, (reader) => {
      for (let row = reader.readRow(); row !== null; row = reader.readRow()) assert.equal(row.c, next++);
    }, (error) => (error ? reject(error) : resolve()));
  });
  assert.equal(next, 6000);
  let rows = 0;
  await new Promise((resolve, reject) => {
    Point.eachRow({ p: 1 }, { fetchSize: 1000, autoPage: true, raw: true }, () => { ++rows; },
      (error) => (error ? reject(error) : resolve()));
  });
  assert.equal(rows, 6000);
  await Point.truncateAsync();
  assert.deepEqual(await Point.findAsync({ p: 1 }), []);
});

test("counters count", async () => {
  const { loaded: Visits } = await model(client, "Visits",
    { fields: { page: "text", day: "int", times: "counter" }, key: ["page", "day"] });
  const { Long } = client.datatypes;
  await Visits.updateAsync({ page: "/", day: 1 }, { times: Long.fromInt(5) });
  await Visits.updateAsync({ page: "/", day: 1 }, { times: Long.fromInt(-2) });
  assert.equal((await Visits.findOneAsync({ page: "/", day: 1 })).times.toNumber(), 3);
});

test("a table follows its changed model", async () => {
  const first = await connect("moving");
  const fields = { id: "int", at: "int", old: "text", kept: "text" };
  const { loaded: First } = await model(first, "Thing", { fields, key: [["id"], "at"], indexes: ["kept"] });
  await new First({ id: 1, at: 1, old: "o", kept: "k" }).saveAsync();
  const second = await connect("moving");
  const { loaded: Second } = await model(second, "Thing", {
    fields: { id: "int", at: "int", kept: "text", added: { type: "set", typeDef: "<int>" } }, key: [["id"], "at"],
    indexes: ["added"], materialized_views: { by_kept: { select: ["kept"], key: ["kept", "id", "at"] } } });
  const found = await Second.findOneAsync({ id: 1, at: 1 });
  assert.equal(found.kept, "k");
  found.added = [4];
  await found.saveAsync();
  assert.equal((await Second.findAsync({ added: { $contains: 4 } })).length, 1);
  assert.equal((await Second.findAsync({ kept: "k" }, { materialized_view: "by_kept", raw: true })).length, 1);
  // Another key is another table.
  const third = await connect("moving");
  const { loaded: Third } = await model(third, "Thing",
    { fields: { id: "int", at: "int", kept: "text" }, key: [["id", "at"]] });
  assert.deepEqual(await Third.findAsync({ id: 1, at: 1 }), []);
});

test("models are read from a folder; data goes to files and comes back", async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "liststore-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.writeFileSync(path.join(folder, "ThingModel.js"),
    "module.exports = { fields: { id: 'int', at: 'timestamp', bytes: 'blob', big: 'varint' }, key: ['id'] };");
  await ExpressCassandra.setDirectory(folder).bindAsync(options("exported"));
  clients.push(ExpressCassandra);
  const { Thing } = ExpressCassandra.instance;
  const { Integer } = ExpressCassandra.datatypes;
  for (let id = 0; id < 30; ++id) {
    await new Thing({ id, at: new Date(id * 1000), bytes: Buffer.from([id]), big: Integer.fromInt(id) }).saveAsync();
  }
  await ExpressCassandra.exportAsync(folder);
  await Thing.truncateAsync();
  await ExpressCassandra.importAsync(folder, { batchSize: 10 });
  const back = await Thing.findAsync({}, { raw: true });
  assert.equal(back.length, 30);
  for (const row of back) {
    assert.equal(row.at.getTime(), row.id * 1000);
    assert.deepEqual(row.bytes, Buffer.from([row.id]));
    assert.equal(row.big.toString(), String(row.id));
  }
});
