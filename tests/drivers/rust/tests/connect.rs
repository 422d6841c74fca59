//! What the driver makes of the node: its place, its schema, its end.

use liststore_driver_tests::{rows, run, Server, KEYSPACE};
use scylla::cluster::metadata::{CollectionType, ColumnKind, ColumnType, NativeType};
use scylla::frame::Compression;

#[tokio::test]
async fn the_node_has_the_place_that_it_was_given() {
    let server = Server::start(&[
        "--data-center",
        "eu-west",
        "--rack",
        "r7",
        "--cluster-name",
        "mine",
    ]);
    let session = server.session().await;
    let state = session.get_cluster_state();
    let nodes = state.get_nodes_info();
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0].address.port(), server.port);
    assert_eq!(nodes[0].datacenter.as_deref(), Some("eu-west"));
    assert_eq!(nodes[0].rack.as_deref(), Some("r7"));
    assert_eq!(state.cluster_name(), "mine");
    assert!(nodes[0].is_connected());
}

#[tokio::test]
async fn every_look_is_taken() {
    for arguments in [
        vec!["--shards", "off", "--release-version", "3.11.17"],
        vec!["--scylla", "off", "--release-version", "5.0"],
        vec!["--release-version", "scylla-2025.1", "--shards", "4"],
    ] {
        let server = Server::start(&arguments);
        let session = server.session_with_keyspace().await;
        run(&session, "CREATE TABLE t (p int PRIMARY KEY, v int)", ()).await;
        run(&session, "INSERT INTO t (p, v) VALUES (?, ?)", (1, 2)).await;
        assert_eq!(
            rows::<(i32,)>(&session, "SELECT v FROM t WHERE p = ?", (1,)).await,
            [(2,)]
        );
    }
}

#[tokio::test]
async fn the_schema_is_what_was_created_and_follows_changes() {
    let server = Server::start(&[]);
    let session = server.session().await;
    run(&session, KEYSPACE, ()).await;
    run(
        &session,
        "CREATE TYPE feat.address (street text, number int)",
        (),
    )
    .await;
    run(
        &session,
        "CREATE TABLE feat.t (a text, b int, c timeuuid, s text STATIC, v frozen<list<address>>, \
         PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)",
        (),
    )
    .await;
    session.refresh_metadata().await.unwrap();
    let state = session.get_cluster_state();
    let keyspace = state.get_keyspace("feat").unwrap();
    let table = &keyspace.tables["t"];
    assert_eq!(table.partition_key, ["a", "b"]);
    assert_eq!(table.clustering_key, ["c"]);
    assert_eq!(table.columns["s"].kind, ColumnKind::Static);
    assert_eq!(
        table.columns["c"].typ,
        ColumnType::Native(NativeType::Timeuuid)
    );
    match &table.columns["v"].typ {
        ColumnType::Collection {
            frozen: true,
            typ: CollectionType::List(element),
        } => {
            assert!(
                matches!(&**element, ColumnType::UserDefinedType { definition, .. }
                             if definition.name == "address"),
                "{element:?}"
            )
        }
        other => panic!("{other:?}"),
    }
    assert!(keyspace.user_defined_types.contains_key("address"));

    run(&session, "ALTER TABLE feat.t ADD w double", ()).await;
    session.refresh_metadata().await.unwrap();
    let state = session.get_cluster_state();
    assert!(state.get_keyspace("feat").unwrap().tables["t"]
        .columns
        .contains_key("w"));
    run(&session, "DROP KEYSPACE feat", ()).await;
    session.refresh_metadata().await.unwrap();
    assert!(session.get_cluster_state().get_keyspace("feat").is_none());
}

#[tokio::test]
async fn frames_may_be_compressed() {
    let server = Server::start(&[]);
    for compression in [Compression::Lz4, Compression::Snappy] {
        let session = server
            .builder()
            .compression(Some(compression))
            .build()
            .await
            .unwrap();
        run(
            &session,
            &KEYSPACE.replace("KEYSPACE", "KEYSPACE IF NOT EXISTS"),
            (),
        )
        .await;
        run(
            &session,
            "CREATE TABLE IF NOT EXISTS feat.t (p int PRIMARY KEY, v blob)",
            (),
        )
        .await;
        let value = b"compress me ".repeat(5000);
        run(
            &session,
            "INSERT INTO feat.t (p, v) VALUES (1, ?)",
            (&value,),
        )
        .await;
        assert_eq!(
            rows::<(Vec<u8>,)>(&session, "SELECT v FROM feat.t", ()).await,
            [(value,)]
        );
    }
}
