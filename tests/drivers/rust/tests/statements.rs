//! Paging, prepared statements, conditions, and what is refused.

use futures::TryStreamExt;
use liststore_driver_tests::{refusal, rows, rows_of, run, DbError, Server};
use scylla::client::session::Session;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::unprepared::Statement;
use scylla::statement::Consistency;

async fn with_table() -> (Server, Session) {
    let server = Server::start(&[]);
    let session = server.session_with_keyspace().await;
    run(
        &session,
        "CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))",
        (),
    )
    .await;
    (server, session)
}

#[tokio::test]
async fn every_page_size_gives_the_same_rows() {
    let (_server, session) = with_table().await;
    let insert = session
        .prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)")
        .await
        .unwrap();
    let inserts = (0..5000).map(|i| session.execute_unpaged(&insert, (i % 7, i, i * 2)));
    futures::future::try_join_all(inserts).await.unwrap();
    let unpaged: Vec<(i32, i32, i32)> = rows(&session, "SELECT p, c, v FROM t", ()).await;
    assert_eq!(unpaged.len(), 5000);
    for page_size in [100, 999, 5000] {
        let mut select = session.prepare("SELECT p, c, v FROM t").await.unwrap();
        select.set_page_size(page_size);
        let pager = session.execute_iter(select, ()).await.unwrap();
        let stream = pager.rows_stream::<(i32, i32, i32)>().unwrap();
        let paged: Vec<_> = stream.try_collect().await.unwrap();
        assert!(paged == unpaged, "{page_size}");
    }
    // By hand, as a service does that hands the state to its own client.
    let select = Statement::new("SELECT c FROM t WHERE p = 3 ORDER BY c DESC").with_page_size(100);
    let (mut state, mut found) = (PagingState::start(), Vec::new());
    loop {
        let (page, next) = session
            .query_single_page(select.clone(), (), state)
            .await
            .unwrap();
        found.extend(rows_of::<(i32,)>(page).into_iter().map(|(c,)| c));
        match next {
            PagingStateResponse::HasMorePages { state: next } => state = next,
            PagingStateResponse::NoMorePages => break,
        }
    }
    assert!(found.into_iter().eq((0..5000).rev().filter(|i| i % 7 == 3)));
}

#[tokio::test]
async fn prepared_statements_are_prepared_again_after_their_table_changed() {
    let (_server, session) = with_table().await;
    let insert = session
        .prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)")
        .await
        .unwrap();
    assert!(insert.is_token_aware());
    assert_eq!(insert.get_variable_pk_indexes().len(), 1);
    run(&session, "DROP TABLE t", ()).await;
    let (error, message) = refusal(session.execute_unpaged(&insert, (1, 2, 3)).await);
    assert_eq!(
        (error, message.as_str()),
        (DbError::Invalid, "unconfigured table t")
    );
    run(
        &session,
        "CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))",
        (),
    )
    .await;
    session
        .execute_unpaged(&insert, (1, 2, None::<i32>))
        .await
        .unwrap();
    let found: Vec<(i32, i32, Option<i32>)> = rows(&session, "SELECT p, c, v FROM t", ()).await;
    assert_eq!(found, [(1, 2, None)]);
}

#[tokio::test]
async fn conditions_tell_whether_they_were_met() {
    let (_server, session) = with_table().await;
    let insert = session
        .prepare("INSERT INTO t (p, c, v) VALUES (1, 1, ?) IF NOT EXISTS")
        .await
        .unwrap();
    assert!(insert.is_confirmed_lwt(), "the server marks it");
    assert!(!session
        .prepare("SELECT v FROM t")
        .await
        .unwrap()
        .is_confirmed_lwt());
    type Answer = (bool, Option<i32>, Option<i32>, Option<i32>);
    for (value, wanted) in [
        (10, (true, None, None, None)),
        (11, (false, Some(1), Some(1), Some(10))),
    ] {
        let answer = session.execute_unpaged(&insert, (value,)).await.unwrap();
        assert_eq!(rows_of::<Answer>(answer), [wanted]);
    }
    let update = session
        .prepare("UPDATE t SET v = ? WHERE p = 1 AND c = 1 IF v = ?")
        .await
        .unwrap();
    for (old, wanted) in [(9, (false, Some(10))), (10, (true, Some(10)))] {
        let answer = session.execute_unpaged(&update, (12, old)).await.unwrap();
        assert_eq!(rows_of::<(bool, Option<i32>)>(answer), [wanted]);
    }
    assert_eq!(
        rows::<(i32,)>(&session, "SELECT v FROM t", ()).await,
        [(12,)]
    );
}

#[tokio::test]
async fn what_is_refused_says_why() {
    let (server, session) = with_table().await;
    for (statement, error, words) in [
        ("SELEC * FROM t", DbError::SyntaxError, "line 1:"),
        (
            "SELECT * FROM nothing",
            DbError::Invalid,
            "unconfigured table nothing",
        ),
        (
            "SELECT * FROM t WHERE v = 1",
            DbError::Invalid,
            "ALLOW FILTERING",
        ),
        ("DROP KEYSPACE other", DbError::ConfigError, "other"),
        (
            "CREATE TABLE t (p int PRIMARY KEY)",
            DbError::AlreadyExists {
                keyspace: "feat".into(),
                table: "t".into(),
            },
            "t",
        ),
        (
            "CREATE TRIGGER w ON t USING 'org.example.Trigger'",
            DbError::Invalid,
            "instead: a batch that makes the further writes as well [LS-0004]",
        ),
        ("SELECT * FROM t WHERE intAsBlob(p) = 0x01", DbError::Invalid, "[LS-0017]"),
    ] {
        let (found, message) = refusal(session.query_unpaged(statement, ()).await);
        assert_eq!(found, error, "{statement}");
        assert!(message.contains(words), "{statement}: {message}");
    }
    let mut any = Statement::new("SELECT * FROM t");
    any.set_consistency(Consistency::Any);
    let (error, message) = refusal(session.query_unpaged(any, ()).await);
    assert_eq!(error, DbError::Invalid);
    assert!(message.contains("only supported for writes"), "{message}");
    let counts: Vec<(String, i64)> = rows(
        &session,
        "SELECT code, count FROM liststore.unsupported WHERE kind = 'refused'",
        (),
    )
    .await;
    assert_eq!(
        counts,
        [("LS-0004".to_string(), 1), ("LS-0017".to_string(), 1)]
    );
    drop(session);
    assert_eq!(server.stop(), Some(0));
}

#[tokio::test]
async fn a_strict_server_fails_at_its_end() {
    let server = Server::start(&["--strict"]);
    let session = server.session().await;
    refusal(session.query_unpaged("CREATE TRIGGER x ON ks.t USING 'y'", ()).await);
    drop(session);
    assert_eq!(server.stop(), Some(3));
}
