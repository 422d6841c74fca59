// The mapper that comes with cassandra-driver: one model over two tables and a view.
"use strict";

const assert = require("node:assert/strict");
const { after, before, test } = require("node:test");
const cassandra = require("cassandra-driver");

const { mapping: { Mapper, ModelBatchItem, UnderscoreCqlToCamelCaseMappings, q }, types } = cassandra;
let client;
let videos;
let mapper;

function video(number, more = {}) {
  return { videoId: types.Uuid.random(), userId: number % 3, addedOn: new Date(1_700_000_000_000 + number * 1000),
    videoName: `video ${number}`, tagSet: ["x", `t${number}`], ...more };
}

before(async () => {
  client = new cassandra.Client({ contactPoints: ["127.0.0.1"], localDataCenter: "datacenter1" });
  await client.connect();
  for (const statement of [
    "CREATE KEYSPACE media WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE media.videos (video_id uuid PRIMARY KEY, user_id int, added_on timestamp, video_name text, " +
      "tag_set set<text>, description text)",
    "CREATE TABLE media.user_videos (user_id int, added_on timestamp, video_id uuid, video_name text, " +
      "PRIMARY KEY (user_id, added_on, video_id)) WITH CLUSTERING ORDER BY (added_on DESC, video_id ASC)",
    "CREATE MATERIALIZED VIEW media.videos_by_name AS SELECT * FROM media.videos WHERE video_name IS NOT NULL AND " +
      "video_id IS NOT NULL PRIMARY KEY (video_name, video_id)",
  ]) await client.execute(statement);
  mapper = new Mapper(client, { models: { Video: {
    tables: ["videos", "user_videos", { name: "videos_by_name", isView: true }], keyspace: "media",
    mappings: new UnderscoreCqlToCamelCaseMappings(),
    columns: { video_name: { name: "videoName", fromModel: (name) => name.trim() } },
  } } });
  videos = mapper.forModel("Video");
});

after(() => client.shutdown());

test("one insert goes to all tables that have its keys, one find to the table that fits", async () => {
  const one = video(1, { videoName: " first ", description: "long" });
  await videos.insert(one);
  assert.equal((await videos.get({ videoId: one.videoId })).description, "long");
  assert.equal((await videos.find({ userId: 1 })).first().videoName, "first");
  assert.equal((await videos.find({ videoName: "first" })).first().videoId.toString(), one.videoId.toString());
});

test("ranges, order and limit", async () => {
  for (let number = 30; number < 42; number += 3) await videos.insert(video(number));
  const names = async (query, info) => [...await videos.find(query, info)].map((each) => each.videoName);
  assert.deepEqual(await names({ userId: 0 }), ["video 39", "video 36", "video 33", "video 30"]);
  assert.deepEqual(await names({ userId: 0, addedOn: q.gt(video(33).addedOn) }, { fields: ["videoName"], limit: 1 }),
    ["video 39"]);
  assert.deepEqual(await names({ userId: q.in_([0, 5]), addedOn: q.and(q.gte(video(33).addedOn),
    q.lt(video(39).addedOn)) }, { orderBy: { addedOn: "desc" } }).catch((error) => error.message),
  "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the " +
    "ORDER BY or the IN and sort client side, or disable paging for this query");
});

test("updates and removals go to all tables; conditions do not", async () => {
  const one = video(7);
  await videos.insert(one);
  await videos.update({ ...one, videoName: "other" });
  assert.equal((await videos.get({ videoId: one.videoId })).videoName, "other");
  assert.equal((await videos.find({ userId: 1, addedOn: one.addedOn })).first().videoName, "other");
  assert.equal((await videos.find({ videoName: "video 7" })).first(), null);
  await assert.rejects(videos.update({ ...one, videoName: "more" }, { when: { videoName: "no" } }),
    /cannot span multiple tables/);
  await videos.remove(one);
  assert.equal(await videos.get({ videoId: one.videoId }), null);
  assert.equal((await videos.find({ userId: 1, addedOn: one.addedOn })).first(), null);
});

test("tables one by one, with conditions, TTL and parts of collections", async () => {
  const alone = new Mapper(client, { models: { Video: { tables: ["videos"], keyspace: "media",
    mappings: new UnderscoreCqlToCamelCaseMappings() } } }).forModel("Video");
  const { videoId } = video(8);
  assert.equal((await alone.insert({ videoId, videoName: "n", tagSet: ["a"] }, { ifNotExists: true })).wasApplied(),
    true);
  const refused = await alone.insert({ videoId, videoName: "n" }, { ifNotExists: true });
  assert.equal(refused.wasApplied(), false);
  assert.equal(refused.first().videoName, "n");
  await alone.update({ videoId, tagSet: q.append(["b"]) });
  await alone.update({ videoId, tagSet: q.remove(["a"]) });
  assert.deepEqual((await alone.get({ videoId })).tagSet, ["b"]);
  assert.equal((await alone.update({ videoId, videoName: "m" }, { when: { videoName: "n" } })).wasApplied(), true);
  assert.equal((await alone.update({ videoId, videoName: "l" }, { when: { videoName: q.notEq("m") } })).wasApplied(),
    false);
  await alone.update({ videoId, description: "d" }, { ttl: 600 });
  const row = (await client.execute("SELECT ttl(description) AS t FROM media.videos WHERE video_id = ?", [videoId],
    { prepare: true })).first();
  assert.ok(row.t > 0 && row.t <= 600);
  assert.equal((await alone.remove({ videoId }, { ifExists: true })).wasApplied(), true);
  assert.equal(await alone.get({ videoId }), null);
});

test("batches over models and tables", async () => {
  const several = [video(50), video(51), video(52)];
  await mapper.batch(several.map((each) => videos.batching.insert(each)));
  for (const each of several) assert.equal((await videos.get({ videoId: each.videoId })).videoName, each.videoName);
  assert.ok(videos.batching.remove(several[0]) instanceof ModelBatchItem);
  await mapper.batch(several.map((each) => videos.batching.remove(each)));
  for (const each of several) assert.equal(await videos.get({ videoId: each.videoId }), null);
});

test("pages, and queries of one's own", async () => {
  for (let number = 100; number < 400; ++number) await videos.insert(video(number, { userId: 9 }));
  const byUser = videos.mapWithQuery("SELECT * FROM media.user_videos WHERE user_id = ?",
    (document) => [document.userId]);
  let page = await byUser({ userId: 9 }, { fetchSize: 70 });
  const seen = [...page];
  while (page.pageState) {
    page = await byUser({ userId: 9 }, { fetchSize: 70, pageState: page.pageState });
    seen.push(...page);
  }
  assert.deepEqual(seen.map((each) => each.videoName),
    Array.from({ length: 300 }, (_, number) => `video ${399 - number}`));
  assert.equal([...await videos.findAll({}, { fetchSize: 50 })].length, 50);
});
