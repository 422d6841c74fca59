//! Values there and back: every native type, frozen collections, tuples, user types, counters.

use std::fmt::Debug;
use std::net::IpAddr;

use liststore_driver_tests::{rows, run, Server};
use scylla::client::session::Session;
use scylla::deserialize::row::DeserializeRow;
use scylla::deserialize::value::DeserializeValue;
use scylla::serialize::value::SerializeValue;
use scylla::value::{
    Counter, CqlDate, CqlDecimal, CqlDuration, CqlTime, CqlTimestamp, CqlTimeuuid, CqlVarint, Unset,
};
use scylla::{DeserializeValue, SerializeValue};
use uuid::Uuid;

/// As key where `is_key`, as regular column, as null and unset.
async fn there_and_back<V>(session: &Session, cql_type: &str, is_key: bool, value: V)
where
    V: SerializeValue + PartialEq + Debug + Clone,
    V: for<'r> DeserializeValue<'r, 'r>,
    (V,): for<'r> DeserializeRow<'r, 'r>,
    (Option<V>,): for<'r> DeserializeRow<'r, 'r>,
{
    run(
        session,
        &format!("CREATE TABLE v (p int PRIMARY KEY, v {cql_type})"),
        (),
    )
    .await;
    let insert = session
        .prepare("INSERT INTO v (p, v) VALUES (?, ?)")
        .await
        .unwrap();
    session.execute_unpaged(&insert, (1, &value)).await.unwrap();
    session
        .execute_unpaged(&insert, (2, None::<V>))
        .await
        .unwrap();
    session.execute_unpaged(&insert, (3, Unset)).await.unwrap();
    for (key, wanted) in [(1, Some(value.clone())), (2, None), (3, None)] {
        let found = rows::<(Option<V>,)>(session, "SELECT v FROM v WHERE p = ?", (key,)).await;
        assert_eq!(found, [(wanted,)], "{cql_type}");
    }
    run(session, "DROP TABLE v", ()).await;
    if is_key {
        run(
            session,
            &format!("CREATE TABLE k (p {cql_type}, c {cql_type}, PRIMARY KEY (p, c))"),
            (),
        )
        .await;
        run(
            session,
            "INSERT INTO k (p, c) VALUES (?, ?)",
            (&value, &value),
        )
        .await;
        let statement = "SELECT c FROM k WHERE p = ? AND c >= ?";
        let found = rows::<(V,)>(session, statement, (&value, &value)).await;
        assert_eq!(found, [(value,)], "{cql_type}");
        run(session, "DROP TABLE k", ()).await;
    }
}

#[tokio::test]
async fn every_native_type() {
    let server = Server::start(&[]);
    let session = server.session_with_keyspace().await;
    let s = &session;
    there_and_back(s, "ascii", true, "plain".to_string()).await;
    there_and_back(s, "bigint", true, i64::MIN).await;
    there_and_back(s, "blob", true, vec![0u8, 255]).await;
    there_and_back(s, "boolean", true, true).await;
    there_and_back(s, "date", true, CqlDate((1 << 31) + 19_782)).await;
    let decimal = CqlDecimal::from_signed_be_bytes_and_exponent(vec![0x80, 1], 4);
    there_and_back(s, "decimal", true, decimal).await;
    there_and_back(s, "double", true, 1e300).await;
    let duration = CqlDuration {
        months: 14,
        days: 3,
        nanoseconds: 5_000_000_000,
    };
    there_and_back(s, "duration", false, duration).await;
    there_and_back(s, "float", true, 0.5f32).await;
    there_and_back(s, "inet", true, "2001:db8::1".parse::<IpAddr>().unwrap()).await;
    there_and_back(s, "int", true, i32::MAX).await;
    there_and_back(s, "smallint", true, i16::MIN).await;
    there_and_back(s, "text", true, "größer\u{2028}".to_string()).await;
    there_and_back(s, "time", true, CqlTime(86_399_999_999_999)).await;
    there_and_back(s, "timestamp", true, CqlTimestamp(1_709_209_801_005)).await;
    let timeuuid = "c5e8f3d4-5c5e-11ef-9a1e-0242ac120002"
        .parse::<CqlTimeuuid>()
        .unwrap();
    there_and_back(s, "timeuuid", true, timeuuid).await;
    there_and_back(s, "tinyint", true, i8::MIN).await;
    there_and_back(s, "uuid", true, Uuid::from_u128(u128::MAX)).await;
    let varint = CqlVarint::from_signed_bytes_be(vec![0x80; 26]);
    there_and_back(s, "varint", true, varint).await;
    there_and_back(s, "varchar", false, String::new()).await;
}

#[tokio::test]
async fn frozen_collections_and_tuples() {
    let server = Server::start(&[]);
    let session = server.session_with_keyspace().await;
    let s = &session;
    there_and_back(s, "frozen<list<int>>", true, vec![3, 1, 3]).await;
    there_and_back(
        s,
        "frozen<set<text>>",
        true,
        vec!["a".to_string(), "b".to_string()],
    )
    .await;
    let map = vec![("a".to_string(), vec![1, 2]), ("b".to_string(), vec![])];
    let map: std::collections::BTreeMap<String, Vec<i32>> = map.into_iter().collect();
    there_and_back(s, "frozen<map<text, list<int>>>", true, map).await;
    there_and_back(s, "tuple<int, text>", true, (Some(1), None::<String>)).await;
}

#[derive(Clone, Debug, PartialEq, DeserializeValue, SerializeValue)]
struct Address {
    street: Option<String>,
    number: Option<i32>,
}

#[tokio::test]
async fn user_types() {
    let server = Server::start(&[]);
    let session = server.session_with_keyspace().await;
    run(
        &session,
        "CREATE TYPE address (street text, number int)",
        (),
    )
    .await;
    let home = Address {
        street: Some("x".to_string()),
        number: Some(7),
    };
    let other = Address {
        street: None,
        number: Some(3),
    };
    there_and_back(&session, "frozen<address>", true, home.clone()).await;
    there_and_back(&session, "frozen<list<address>>", false, vec![home, other]).await;
}

#[tokio::test]
async fn counters() {
    let server = Server::start(&[]);
    let session = server.session_with_keyspace().await;
    run(
        &session,
        "CREATE TABLE n (p int PRIMARY KEY, a counter)",
        (),
    )
    .await;
    let add = session
        .prepare("UPDATE n SET a = a + ? WHERE p = 1")
        .await
        .unwrap();
    for i in 0..10 {
        session.execute_unpaged(&add, (Counter(i),)).await.unwrap();
    }
    assert_eq!(
        rows::<(Counter,)>(&session, "SELECT a FROM n", ()).await,
        [(Counter(45),)]
    );
}
