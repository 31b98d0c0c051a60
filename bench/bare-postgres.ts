/**
 * A bare server on `node:http` and `pg`, for comparison: reads a user by id and sends the same bytes as the service. It
 * uses the service's prepared query and a pool of the same size. It checks no credentials. Standard input contains the
 * header fields to send.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { CapturedReply } from "./servers.ts";

const { url, reply } = JSON.parse(await text(process.stdin)) as { readonly url: string; readonly reply: CapturedReply };
const headers = [...reply.headers];
const pool = new pg.Pool({ connectionString: url, max: 10 });
const query = 'SELECT "_revision", "id", "name", "email" FROM "users" WHERE "id" = $1';

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const id = Number(request.url!.slice("/users/".length));
  pool.query<unknown[]>({ name: "user", text: query, values: [id], rowMode: "array" }).then(
    ({ rows: [row] }) => {
      response.writeHead(200, headers);
      response.end(JSON.stringify({ id: Number(row![1]), name: row![2], email: row![3] }));
    },
    () => response.writeHead(503).end(),
  );
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
