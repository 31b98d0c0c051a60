/**
 * A server written by hand, for comparison. It verifies each bearer token once and caches the result. SQLite builds the
 * JSON of the first hundred users, or of the first hundred with ids between the two in the query. Standard input names
 * the service's database file, and contains the keys that verify its tokens.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import type { CapturedReply } from "./servers.ts";

const { file, keys, reply } = JSON.parse(await text(process.stdin)) as {
  readonly file: string;
  readonly keys: JSONWebKeySet;
  readonly reply: CapturedReply;
};
const headers = [...reply.headers];
const database = new DatabaseSync(file, { readOnly: true });
const hundred = (where: string): string =>
  `SELECT json_group_array(json_object('id', id, 'name', name, 'email', email)) AS json FROM (SELECT id, name, email FROM users ${where} ORDER BY id LIMIT 100)`;
const first = database.prepare(hundred(""));
const between = database.prepare(hundred("WHERE id > ? AND id < ?"));
const keySet = createLocalJWKSet(keys);
const expiries = new Map<string, number>();

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const token = (request.headers.authorization ?? "").slice("Bearer ".length);
  const expiry = expiries.get(token);
  const answer = (): void => {
    const query = request.url!.includes("id[") ? new URLSearchParams(request.url!.split("?")[1]) : null;
    const row = query === null ? first.get() : between.get(Number(query.get("id[gt]")), Number(query.get("id[lt]")));
    response.writeHead(200, headers);
    response.end((row as { json: string }).json);
  };
  if (expiry !== undefined && expiry > Date.now() / 1000) return answer();
  jwtVerify(token, keySet).then(
    ({ payload }) => {
      expiries.set(token, payload.exp ?? 0);
      answer();
    },
    () => response.writeHead(401).end(),
  );
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
