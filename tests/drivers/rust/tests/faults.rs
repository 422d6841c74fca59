//! Faults as a program meets them through the driver, and what it has sent, as the server tells.

use std::time::{Duration, Instant};

use liststore_driver_tests::{rows, run, DbError, Server};
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::errors::{DbError as Error, ExecutionError, RequestAttemptError, WriteType};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::response::query_result::QueryResult;
use scylla::statement::Consistency;
use std::sync::Arc;

const SELECT: &str = "SELECT item FROM feat.clicks WHERE user = ?";
const INSERT: &str = "INSERT INTO feat.clicks (user, item) VALUES (?, 7)";

/// A server with a table, a session to arm faults by, and one that retries nothing.
async fn with_table() -> (Server, Session, Session) {
    let server = Server::start(&["--clock", "manual"]);
    let control = server.session_with_keyspace().await;
    run(
        &control,
        "CREATE TABLE clicks (user text, item bigint, PRIMARY KEY (user, item))",
        (),
    )
    .await;
    let profile = ExecutionProfile::builder()
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .consistency(Consistency::LocalQuorum)
        .build();
    let session = server
        .builder()
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await
        .unwrap();
    (server, control, session)
}

async fn meet(
    control: &Session,
    session: &Session,
    action: &str,
    statement: &str,
) -> Result<QueryResult, ExecutionError> {
    let mut prepared = session.prepare(statement).await.unwrap();
    prepared.set_request_timeout(Some(Duration::from_millis(if action == "no_answer" {
        300
    } else {
        20_000
    })));
    let op = statement.split(' ').next().unwrap();
    run(
        control,
        "INSERT INTO liststore.faults (name, op, tbl, times, action) VALUES ('f', ?, 'feat.clicks', 1, ?)",
        (op, action),
    )
    .await;
    let result = session.execute_unpaged(&prepared, ("u1",)).await;
    let hits: Vec<(i64, i32)> =
        rows(control, "SELECT hits, remaining FROM liststore.faults", ()).await;
    assert_eq!(hits, [(1, 0)], "{action}");
    result
}

#[tokio::test]
async fn each_error_is_seen_as_itself() {
    let (_server, control, session) = with_table().await;
    let consistency = Consistency::LocalQuorum;
    for (action, statement, wanted) in [
        (
            "read_timeout",
            SELECT,
            Error::ReadTimeout {
                consistency,
                received: 0,
                required: 1,
                data_present: false,
            },
        ),
        (
            "write_timeout",
            INSERT,
            Error::WriteTimeout {
                consistency,
                received: 0,
                required: 1,
                write_type: WriteType::Simple,
            },
        ),
        (
            "unavailable",
            SELECT,
            Error::Unavailable {
                consistency,
                required: 1,
                alive: 0,
            },
        ),
        ("overloaded", SELECT, Error::Overloaded),
        ("server_error", SELECT, Error::ServerError),
    ] {
        match meet(&control, &session, action, statement).await {
            Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, _))) => {
                assert_eq!(error, wanted)
            }
            other => panic!("{action}: {other:?}"),
        }
        let stored: Vec<(i64,)> = rows(&control, SELECT, ("u1",)).await;
        assert_eq!(stored, [], "{action} applies nothing");
    }
    // The driver asked for ScyllaDB's own error of the rate limit, so it gets that.
    match meet(&control, &session, "rate_limit", SELECT).await {
        Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(
            DbError::RateLimitReached { .. },
            _,
        ))) => {}
        other => panic!("rate_limit: {other:?}"),
    }
}

#[tokio::test]
async fn what_happens_to_connections_and_answers() {
    let (_server, control, session) = with_table().await;
    match meet(&control, &session, "no_answer", SELECT).await {
        Err(ExecutionError::RequestTimeout(_)) => {}
        other => panic!("{other:?}"),
    }
    // The driver heals these by itself.
    assert!(meet(&control, &session, "unprepared", SELECT).await.is_ok());
    let start = Instant::now();
    assert!(meet(&control, &session, "delay 20ms", SELECT).await.is_ok());
    assert!(start.elapsed() >= Duration::from_millis(20));
    match meet(&control, &session, "close_connection", SELECT).await {
        Err(ExecutionError::LastAttemptError(RequestAttemptError::BrokenConnectionError(_))) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_server_tells_what_was_sent() {
    let (_server, control, session) = with_table().await;
    let insert = session.prepare(INSERT).await.unwrap();
    run(&control, "TRUNCATE liststore.requests", ()).await;
    session.execute_unpaged(&insert, ("it's",)).await.unwrap();
    let sent: Vec<(String, String, bool, Option<Vec<String>>, String)> = rows(
        &control,
        "SELECT op, consistency, prepared, values, outcome FROM liststore.requests \
         WHERE tbl = 'feat.clicks' ALLOW FILTERING",
        (),
    )
    .await;
    let values = Some(vec!["'it''s'".to_string()]);
    assert_eq!(
        sent,
        [(
            "INSERT".into(),
            "LOCAL_QUORUM".into(),
            true,
            values,
            "ok".into()
        )]
    );
}
