import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { makeSockets } from "./sockets.ts";

async function startServer(t: TestContext, serve: (socket: Socket) => void): Promise<number> {
  const accepted: Socket[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => undefined);
    serve(socket);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const countTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test("leaves no timer that keeps the process alive after the server has closed the connections", async (t) => {
  const port = await startServer(t, (socket) => void socket.resume().on("end", () => socket.end()));
  const sockets = makeSockets();
  const socket = sockets.make().connect(port, "127.0.0.1").resume();
  await once(socket, "connect");
  const timers = countTimers();

  socket.end();
  await sockets.closed();

  assert.ok(socket.destroyed);
  assert.ok(countTimers() <= timers);
});

test("destroys a connection that the server does not close", async (t) => {
  const port = await startServer(t, () => undefined);
  const sockets = makeSockets();
  const socket = sockets.make().connect(port, "127.0.0.1").resume();
  await once(socket, "connect");

  socket.end();
  await sockets.closed();

  assert.ok(socket.destroyed);
});
