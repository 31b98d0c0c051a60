/**
 * A bare `node:http` server, for comparison: sends the response that standard input contains for the path of the
 * request.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CapturedReply } from "./servers.ts";

const replies = new Map(Object.entries(JSON.parse(await text(process.stdin)) as Record<string, CapturedReply>));

const server = createServer({ keepAliveTimeout: 65_000 }, ({ url }, response) => {
  const { status, headers, body } = replies.get(url!)!;
  response.writeHead(status, [...headers]);
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
