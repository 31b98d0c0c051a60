/**
 * The minimum that `node:http` and `pg` can do for a user by id: the same prepared query through a pool of the same size, and the same
 * bytes. It checks no credentials. Standard input gives it the response.
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
