//! A driver that knows of shards opens a connection to each, and sends every request to the one that has its
//! partition.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use liststore_driver_tests::{rows, run, Server};
use scylla::client::session::Session;

/// As ScyllaDB's documents define it.
fn shard_of(token: i64, shards: u64) -> i32 {
    let biased = (token as u64).wrapping_add(1 << 63) << 12;
    ((u128::from(biased) * u128::from(shards)) >> 64) as i32
}

async fn shards_of_connections(session: &Session) -> HashMap<String, i32> {
    rows::<(IpAddr, i32, i32)>(
        session,
        "SELECT address, port, shard_id FROM system.clients",
        (),
    )
    .await
    .into_iter()
    .map(|(address, port, shard)| (format!("{address}:{port}"), shard))
    .collect()
}

async fn requests_go_to_their_shards(count: u64) {
    let server = Server::start(&["--shards", &count.to_string()]);
    let session = server.session_with_keyspace().await;
    let sharder = session.get_cluster_state().get_nodes_info()[0]
        .sharder()
        .expect("it has shards");
    assert_eq!(
        (u64::from(sharder.nr_shards.get()), sharder.msb_ignore),
        (count, 12)
    );
    // The pool fills in the background: its connections, and the one for schema and events.
    let mut connections = HashMap::new();
    let end = Instant::now() + Duration::from_secs(20);
    while connections.len() < count as usize + 1 {
        assert!(Instant::now() < end, "{connections:?}");
        connections = shards_of_connections(&session).await;
    }
    assert_eq!(
        connections.values().collect::<BTreeSet<_>>().len(),
        count as usize
    );

    run(&session, "CREATE TABLE t (p int PRIMARY KEY, v int)", ()).await;
    let insert = session
        .prepare("INSERT INTO t (p, v) VALUES (?, ?)")
        .await
        .unwrap();
    for p in 0..100 {
        session.execute_unpaged(&insert, (p, p * p)).await.unwrap();
    }
    let wanted: HashMap<_, _> = rows::<(i32, i64)>(&session, "SELECT p, token(p) FROM t", ())
        .await
        .into_iter()
        .map(|(p, token)| (p.to_string(), Some(shard_of(token, count))))
        .collect();
    assert_eq!(wanted.len(), 100);
    let sent: HashMap<_, _> = rows::<(String, String)>(
        &session,
        "SELECT key, client FROM liststore.requests WHERE tbl = 'feat.t' AND op = 'INSERT' ALLOW FILTERING",
        (),
    )
    .await
    .into_iter()
    .map(|(key, client)| (key, connections.get(&client).copied()))
    .collect();
    assert_eq!(sent, wanted);
}

#[tokio::test]
async fn two_shards_have_their_connections_and_requests() {
    requests_go_to_their_shards(2).await;
}

#[tokio::test]
async fn three_shards_have_their_connections_and_requests() {
    requests_go_to_their_shards(3).await;
}
