/**
 * A bare `node:http` server, for comparison: sends the same response to every request. Standard input contains the
 * response.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CapturedReply } from "./servers.ts";

const reply = JSON.parse(await text(process.stdin)) as CapturedReply;
const headers = [...reply.headers];

const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.writeHead(reply.status, headers);
  response.end(reply.body);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
