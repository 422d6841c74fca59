// A `liststore serve` of a test, asked over HTTP. LISTSTORE_BINARY names the program; it listens on loopback,
// and ends with its standard input.
"use strict";

const { spawn } = require("node:child_process");
const readline = require("node:readline");

class Server {
  constructor(child, facts) {
    this.child = child;
    this.port = facts.http_port;
    this.address = `http://127.0.0.1:${facts.http_port}`;
    this.login = null;  // "user:password"
  }

  // `port`: where a server has been before; 0: any.
  static start({ port = 0, args = [] } = {}) {
    const child = spawn(process.env.LISTSTORE_BINARY, ["serve", "--cql-port", "0", "--http-port", String(port),
      "--until-eof", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (status) => reject(new Error(`the server ended with status ${status}`)));
      readline.createInterface({ input: child.stdout }).once("line", (line) => {
        resolve(new Server(child, JSON.parse(line)));
      });
    });
  }

  // The rows of an answer; throws what the server says against it.
  async ask(method, path, body) {
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.login) headers.Authorization = `Basic ${Buffer.from(this.login).toString("base64")}`;
    const answer = await fetch(this.address + path,
      { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error.message);
    return said.rows;
  }

  cql(query) { return this.ask("POST", "/api/query", { query }); }

  async makeClicks() {
    await this.cql("CREATE KEYSPACE feat WITH replication = " +
      "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}");
    await this.cql("CREATE TABLE feat.clicks (user text, ts bigint, item text, PRIMARY KEY (user, ts)) " +
      "WITH CLUSTERING ORDER BY (ts DESC)");
  }

  async stop() {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => { this.child.once("exit", resolve); });
    this.child.stdin.end();
    await ended;
  }
}

module.exports = { Server };
