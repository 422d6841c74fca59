//! The list model, by the statements that a service sends to ScyllaDB; TTLs under a clock that the test moves.

use liststore_driver_tests::{refusal, rows, rows_of, run, DbError, Server};
use scylla::client::session::Session;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;

const FEATURE: &str = "user#reading_history|v1";
const SECOND: i64 = 1_000_000_000;
const NOW: i64 = 1_724_949_845_430_000_000;

struct Lists {
    _server: Server,
    session: Session,
    insert: PreparedStatement,
    select: PreparedStatement,
    by_value: PreparedStatement,
    delete_all: PreparedStatement,
}

type Item = (i64, Vec<u8>);

fn item(at: i64, value: &str) -> Item {
    (at, value.as_bytes().to_vec())
}

/// Of a whole second each, so that the value may stand in for its hash.
fn item_key((at, value): &Item) -> String {
    format!("{at:019}#{}", String::from_utf8_lossy(value))
}

impl Lists {
    async fn start(arguments: &[&str]) -> Lists {
        let server = Server::start(arguments);
        let session = server.session_with_keyspace().await;
        for statement in [
            "CREATE TABLE list_items (feature_key text, entity_id text, item_key text, value blob, \
             PRIMARY KEY ((feature_key, entity_id), item_key)) \
             WITH CLUSTERING ORDER BY (item_key DESC) AND default_time_to_live = 864000",
            "CREATE INDEX list_items_by_value ON list_items((feature_key, entity_id), value)",
        ] {
            run(&session, statement, ()).await;
        }
        let prepare = |statement: &'static str| session.prepare(statement);
        Lists {
            insert: prepare(
                "INSERT INTO list_items (feature_key, entity_id, item_key, value) \
                 VALUES (?, ?, ?, ?) USING TTL ?",
            )
            .await
            .unwrap(),
            select: prepare(
                "SELECT value, item_key FROM list_items WHERE feature_key = ? AND entity_id = ? \
                 AND item_key >= ? ORDER BY item_key DESC LIMIT ?",
            )
            .await
            .unwrap(),
            by_value: prepare(
                "SELECT item_key FROM list_items WHERE feature_key = ? AND entity_id = ? AND value = ?",
            )
            .await
            .unwrap(),
            delete_all: prepare("DELETE FROM list_items WHERE feature_key = ? AND entity_id = ?")
                .await
                .unwrap(),
            session,
            _server: server,
        }
    }

    async fn add(&self, entity: &str, items: &[Item], ttl: i32) {
        let mut batch = Batch::new(BatchType::Logged);
        let values: Vec<_> = items
            .iter()
            .map(|item| (FEATURE, entity, item_key(item), item.1.clone(), ttl))
            .collect();
        for _ in items {
            batch.append_statement(self.insert.clone());
        }
        self.session.batch(&batch, values).await.unwrap();
    }

    async fn get(&self, entity: &str, minimum: i64, limit: i32) -> Vec<Item> {
        let values = (FEATURE, entity, format!("{minimum:019}"), limit);
        let result = self
            .session
            .execute_unpaged(&self.select, values)
            .await
            .unwrap();
        rows_of::<(Vec<u8>, String)>(result)
            .into_iter()
            .map(|(value, key)| (key[..19].parse().unwrap(), value))
            .collect()
    }

    async fn all(&self, entity: &str) -> Vec<Item> {
        self.get(entity, 0, 100).await
    }

    async fn remove_value(&self, entity: &str, value: &[u8]) -> usize {
        let found = self
            .session
            .execute_unpaged(&self.by_value, (FEATURE, entity, value))
            .await
            .unwrap();
        let keys: Vec<String> = rows_of::<(String,)>(found)
            .into_iter()
            .map(|(key,)| key)
            .collect();
        run(
            &self.session,
            "DELETE FROM list_items WHERE feature_key = ? AND entity_id = ? AND item_key IN ?",
            (FEATURE, entity, &keys),
        )
        .await;
        keys.len()
    }

    async fn advance(&self, seconds: i64) {
        run(
            &self.session,
            "UPDATE liststore.clock SET advance_seconds = ? WHERE key = 'clock'",
            (seconds,),
        )
        .await;
    }
}

#[tokio::test]
async fn items_come_back_newest_first() {
    let lists = Lists::start(&[]).await;
    let items: Vec<Item> = (0..20)
        .map(|i| item(NOW + i * SECOND, &format!("story-{i}")))
        .collect();
    lists.add("alice", &items[10..], 1000).await;
    lists.add("alice", &items[..10], 1000).await;
    let newest_first: Vec<Item> = items.into_iter().rev().collect();
    assert_eq!(lists.all("alice").await, newest_first);
    assert_eq!(lists.get("alice", 0, 3).await, newest_first[..3]);
    assert_eq!(
        lists.get("alice", NOW + 15 * SECOND, 100).await,
        newest_first[..5]
    );
    assert_eq!(lists.all("bob").await, []);
}

#[tokio::test]
async fn a_value_is_removed_wherever_it_is_and_a_list_whole() {
    let lists = Lists::start(&["--shards", "2"]).await;
    let value = |i| {
        if i % 2 == 1 {
            "again".to_string()
        } else {
            format!("once-{i}")
        }
    };
    let items: Vec<Item> = (0..50).map(|i| item(NOW + i * SECOND, &value(i))).collect();
    lists.add("alice", &items, 1000).await;
    lists.add("bob", &[item(NOW, "again")], 1000).await;
    assert_eq!(lists.remove_value("alice", b"again").await, 25);
    assert_eq!(lists.remove_value("alice", b"again").await, 0);
    let left = lists.all("alice").await;
    assert_eq!(left.len(), 25);
    assert!(left.iter().all(|(_, value)| value != b"again"));
    lists
        .session
        .execute_unpaged(&lists.delete_all, (FEATURE, "alice"))
        .await
        .unwrap();
    assert_eq!(lists.all("alice").await, []);
    assert_eq!(lists.all("bob").await, [item(NOW, "again")]);
}

#[tokio::test]
async fn a_batch_is_all_or_nothing() {
    let lists = Lists::start(&[]).await;
    let mut batch = Batch::new(BatchType::Logged);
    batch.append_statement(lists.insert.clone());
    batch.append_statement(lists.insert.clone());
    let values = |key: &'static str, ttl| (FEATURE, "alice", key, b"x".as_slice(), ttl);
    let result = lists
        .session
        .batch(&batch, (values("1", 10), values("2", -1)))
        .await;
    let (error, message) = refusal(result);
    assert_eq!(error, DbError::Invalid);
    assert!(
        message.contains("A TTL must be greater or equal to 0"),
        "{message}"
    );
    assert_eq!(
        rows::<(String,)>(&lists.session, "SELECT item_key FROM list_items", ()).await,
        []
    );
}

#[tokio::test]
async fn a_ttl_runs_out_when_the_clock_is_moved() {
    let lists = Lists::start(&["--clock", "manual"]).await;
    lists.add("alice", &[item(NOW, "short")], 60).await;
    lists
        .add("alice", &[item(NOW + SECOND, "long")], 3600)
        .await;
    lists
        .add("alice", &[item(NOW + 2 * SECOND, "for ever")], 0)
        .await;
    lists.advance(59).await;
    let left: Vec<(Vec<u8>, Option<i32>)> = rows(
        &lists.session,
        "SELECT value, TTL(value) FROM list_items",
        (),
    )
    .await;
    assert_eq!(
        left,
        [
            (b"for ever".to_vec(), None),
            (b"long".to_vec(), Some(3541)),
            (b"short".to_vec(), Some(1))
        ]
    );
    lists.advance(1).await;
    assert_eq!(lists.all("alice").await.len(), 2);
    lists.advance(30 * 86_400).await;
    assert_eq!(
        lists.all("alice").await,
        [item(NOW + 2 * SECOND, "for ever")]
    );
}
