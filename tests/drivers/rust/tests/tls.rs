//! Over TLS, with verification on and a login. LISTSTORE_CERTIFICATES: the folder that make_certificates has
//! filled.

use futures::TryStreamExt;
use liststore_driver_tests::{rows, run, Server, KEYSPACE};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode};
use scylla::client::session::{OpenSsl010Config, Session};
use scylla::statement::Statement;

fn start(more: &[&str]) -> Option<(Server, String)> {
    let Ok(folder) = std::env::var("LISTSTORE_CERTIFICATES") else {
        eprintln!("skipped: there is no openssl here");
        return None;
    };
    let certificate = format!("{folder}/node.crt");
    let key = format!("{folder}/node.key");
    let mut arguments = vec![
        "--tls-certificate",
        &certificate,
        "--tls-key",
        &key,
        "--tls-only",
        "--auth",
        "cassandra:secret",
    ];
    arguments.extend(more);
    Some((Server::start(&arguments), folder))
}

/// Believes who has a certificate for 127.0.0.1 that the CA of the file has signed.
async fn connect(
    server: &Server,
    ca_file: &str,
) -> Result<Session, scylla::errors::NewSessionError> {
    let mut context = SslConnector::builder(SslMethod::tls_client()).unwrap();
    context.set_ca_file(ca_file).unwrap();
    context.set_verify(SslVerifyMode::PEER);
    context
        .verify_param_mut()
        .set_ip("127.0.0.1".parse().unwrap())
        .unwrap();
    server
        .builder()
        .user("cassandra", "secret")
        .tls_context(Some(OpenSsl010Config::new(context)))
        .build()
        .await
}

#[tokio::test]
async fn verified_and_logged_in() {
    for more in [vec![], vec!["--shards", "2"], vec!["--tls-min-version", "1.3"]] {
        let Some((server, folder)) = start(&more) else { return };
        let session = connect(&server, &format!("{folder}/ca.crt"))
            .await
            .expect("the driver connects");
        run(&session, KEYSPACE, ()).await;
        run(
            &session,
            "CREATE TABLE feat.t (p int, c int, v text, PRIMARY KEY (p, c))",
            (),
        )
        .await;
        let value = "v".repeat(100_000);
        for c in 0..20 {
            run(
                &session,
                "INSERT INTO feat.t (p, c, v) VALUES (?, ?, ?)",
                (1, c, &value),
            )
            .await;
        }
        let statement = Statement::new("SELECT c, v FROM feat.t WHERE p = 1").with_page_size(7);
        let found: Vec<(i32, String)> = session
            .query_iter(statement, ())
            .await
            .unwrap()
            .rows_stream()
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        assert_eq!(found, (0..20).map(|c| (c, value.clone())).collect::<Vec<_>>());
        let clients: Vec<(bool, String)> = rows(
            &session,
            "SELECT ssl_enabled, ssl_protocol FROM system.clients",
            (),
        )
        .await;
        assert!(!clients.is_empty());
        assert!(clients
            .iter()
            .all(|client| *client == (true, "TLSv1.3".to_string())));
    }
}

#[tokio::test]
async fn a_server_that_is_not_believed() {
    let Some((server, folder)) = start(&[]) else { return };
    // What is in this file is the certificate of no CA.
    let error = connect(&server, &format!("{folder}/node.crt"))
        .await
        .expect_err("nobody is trusted");
    assert!(format!("{error:?}").contains("certificate verify failed"), "{error:?}");
}
