// A `liststore serve` of a test, and clients on it. LISTSTORE_BINARY names the program; it listens on
// loopback, on a free port, and ends with its standard input.
"use strict";

const { spawn } = require("node:child_process");
const readline = require("node:readline");
const cassandra = require("cassandra-driver");

// One that a ScyllaDB does not warn of, for the driver logs what the server warns of.
const KEYSPACE = "CREATE KEYSPACE feat WITH replication = " +
  "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}";

class Server {
  constructor(child, facts) {
    this.child = child;
    this.facts = facts;  // its start line
    this.port = facts.cql_port;
    this.clients = [];
  }

  static start(...args) {
    const child = spawn(process.env.LISTSTORE_BINARY,
      ["serve", "--cql-port", "0", "--until-eof", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (status) => reject(new Error(`the server ended with status ${status}`)));
      readline.createInterface({ input: child.stdout }).once("line", (line) => {
        resolve(new Server(child, JSON.parse(line)));
      });
    });
  }

  // A client with nothing set but host, port and data centre, and `options`. It ends with the server.
  client(options = {}) {
    const client = new cassandra.Client({
      contactPoints: [`127.0.0.1:${this.port}`], localDataCenter: "datacenter1", ...options });
    this.clients.push(client);
    return client;
  }

  // Ends clients and server; the server's status.
  async stop() {
    await Promise.all(this.clients.map((client) => client.shutdown()));
    if (this.child.exitCode !== null) return this.child.exitCode;
    const ended = new Promise((resolve) => { this.child.once("exit", resolve); });
    this.child.stdin.end();
    return ended;
  }
}

// The warnings and errors that a client logs from now on.
function warningsOf(client) {
  const warnings = [];
  client.on("log", (level, from, message) => {
    if (level === "warning" || level === "error") warnings.push(`${level}: ${from}: ${message}`);
  });
  return warnings;
}

module.exports = { KEYSPACE, Server, warningsOf };
