//! A liststore server for each test that asks for one, and sessions of the driver on it. LISTSTORE_BINARY
//! names the program; each server listens on loopback, on a free port, and ends with its standard input.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{ExecutionError, PrepareError, RequestAttemptError};
use scylla::response::query_result::QueryResult;
use scylla::serialize::row::SerializeRow;

pub use scylla::errors::DbError;

pub const KEYSPACE: &str =
    "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

pub struct Server {
    process: Child,
    pub port: u16,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        let program =
            std::env::var("LISTSTORE_BINARY").expect("LISTSTORE_BINARY names the program");
        let mut process = Command::new(program)
            .args(["serve", "--cql-port", "0", "--until-eof"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // One line, once it listens: nothing is waited for by the clock.
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (_, rest) = line
            .split_once("\"cql_port\":")
            .expect("the server says where it listens");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Server {
            process,
            port: digits.parse().unwrap(),
        }
    }

    /// Nothing is set but host and port.
    pub fn builder(&self) -> SessionBuilder {
        SessionBuilder::new().known_node(format!("127.0.0.1:{}", self.port))
    }

    pub async fn session(&self) -> Session {
        self.builder().build().await.expect("the driver connects")
    }

    /// A session in the keyspace `feat`, which it makes.
    pub async fn session_with_keyspace(&self) -> Session {
        let session = self.session().await;
        run(&session, KEYSPACE, ()).await;
        session.use_keyspace("feat", false).await.unwrap();
        session
    }

    /// Ends it; its status.
    pub fn stop(mut self) -> Option<i32> {
        drop(self.process.stdin.take());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

pub async fn run(session: &Session, statement: &str, values: impl SerializeRow) -> QueryResult {
    match session.query_unpaged(statement, values).await {
        Ok(result) => result,
        Err(error) => panic!("{statement}: {error}"),
    }
}

pub async fn rows<R>(session: &Session, statement: &str, values: impl SerializeRow) -> Vec<R>
where
    R: for<'r> DeserializeRow<'r, 'r>,
{
    rows_of(run(session, statement, values).await)
}

pub fn rows_of<R>(result: QueryResult) -> Vec<R>
where
    R: for<'r> DeserializeRow<'r, 'r>,
{
    let result = result.into_rows_result().expect("it answers with rows");
    result
        .rows::<R>()
        .expect("of this type")
        .map(Result::unwrap)
        .collect()
}

/// What the server said to a statement that it refuses, when it is run or prepared.
pub fn refusal(result: Result<QueryResult, ExecutionError>) -> (DbError, String) {
    match result.expect_err("it is refused") {
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, message))
        | ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
            first_attempt: RequestAttemptError::DbError(error, message),
        }) => (error, message),
        other => panic!("no answer of the server: {other:?}"),
    }
}
