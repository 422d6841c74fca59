//! Makes the keyspace of charybdis' tests, and has charybdis' own tool make the schema of the models that it finds
//! in the current folder.

use migrate::MigrationBuilder;
use scylla::client::session_builder::SessionBuilder;

#[tokio::main]
async fn main() {
    let session = SessionBuilder::new().known_node("127.0.0.1:9042").build().await.expect("a session");
    session
        .query_unpaged(
            "CREATE KEYSPACE charybdis WITH replication = \
             {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
            (),
        )
        .await
        .expect("a keyspace");
    session.use_keyspace("charybdis", false).await.expect("the keyspace");
    MigrationBuilder::new().keyspace("charybdis".into()).build(&session).await.run().await;
}
