/**
 * A server written by hand that creates users, for comparison. It verifies each bearer token once and caches the
 * result, checks the body, and writes two rows in one transaction of `node:sqlite`. It responds when the rows are on
 * the disk. Standard input names its database file, and contains the keys that verify the service's tokens.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { json, text } from "node:stream/consumers";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";

const { file, keys } = JSON.parse(await text(process.stdin)) as { readonly file: string; readonly keys: JSONWebKeySet };
const database = new DatabaseSync(file);
database.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
  CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL COLLATE NOCASE UNIQUE);
  CREATE INDEX IF NOT EXISTS users_name ON users (name);
  CREATE TABLE IF NOT EXISTS accounts (
    user_id INTEGER PRIMARY KEY REFERENCES users ON DELETE CASCADE, username TEXT NOT NULL COLLATE NOCASE UNIQUE,
    role TEXT NOT NULL, active INTEGER NOT NULL, password_hash TEXT, created_at TEXT NOT NULL
  );
`);
const begin = database.prepare("BEGIN IMMEDIATE");
const insertUser = database.prepare("INSERT INTO users (name, email) VALUES (?, ?)");
const insertAccount = database.prepare("INSERT INTO accounts VALUES (?, ?, 'user', 1, NULL, ?)");
const commit = database.prepare("COMMIT");
const keySet = createLocalJWKSet(keys);
const expiries = new Map<string, number>();

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  create(request).then(
    ({ status, body }) => {
      const content = JSON.stringify(body);
      response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(content) });
      response.end(content);
    },
    () => response.writeHead(500).end(),
  );
});

async function create(request: IncomingMessage): Promise<{ readonly status: number; readonly body: object }> {
  if (!(await isKnown((request.headers.authorization ?? "").slice("Bearer ".length)))) return { status: 401, body: {} };
  const { name, email } = (await json(request)) as { readonly name?: unknown; readonly email?: unknown };
  if (typeof name !== "string" || name === "" || name.length > 200) return { status: 400, body: { error: "name" } };
  if (typeof email !== "string" || !/^[^@\s]+@[^@\s]+$/.test(email)) return { status: 400, body: { error: "email" } };
  begin.run();
  try {
    const id = insertUser.run(name, email).lastInsertRowid;
    insertAccount.run(id, email, new Date().toISOString());
    commit.run();
    return { status: 201, body: { id: Number(id), name, email } };
  } catch {
    database.exec("ROLLBACK");
    return { status: 409, body: { error: "taken" } };
  }
}

async function isKnown(token: string): Promise<boolean> {
  const expiry = expiries.get(token);
  if (expiry !== undefined) return expiry > Date.now() / 1000;
  const { payload } = await jwtVerify(token, keySet);
  expiries.set(token, payload.exp ?? 0);
  return true;
}

server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
