//! The tests of the Rust driver, one program.
mod connect;
mod faults;
mod lists;
mod shards;
mod statements;
mod tls;
mod types;
