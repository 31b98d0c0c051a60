import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Observation } from "../../../core/observation.ts";
import { requestListener } from "./request-listener.ts";
import { makeUnread, type WatchedSocket } from "./unread.ts";

const KIBIBYTE = 1024;

/** Creates connections with waiting octets, and lists those that were closed. */
function bench(mostBytes: number) {
  const unread = makeUnread(mostBytes);
  const closed: string[] = [];
  const notices: string[] = [];

  function write(name: string, remoteAddress: string, writableLength: number, isStream?: true): EventEmitter {
    const events = new EventEmitter();
    const socket = Object.assign(events, {
      writableLength,
      isStream,
      remoteAddress,
      destroy() {
        closed.push(name);
        events.emit("close");
      },
    });
    unread.watch(socket as unknown as WatchedSocket, (address) => void notices.push(address));
    return events;
  }

  return { write, closed, notices };
}

test("closes the connection that has waited longest, of the address with the most waiting octets", () => {
  const { write, closed, notices } = bench(400 * KIBIBYTE);

  write("reader", "192.0.2.1", 100 * KIBIBYTE);
  write("first", "192.0.2.2", 100 * KIBIBYTE);
  write("second", "192.0.2.2", 100 * KIBIBYTE);
  write("third", "192.0.2.2", 100 * KIBIBYTE);
  assert.deepEqual(closed, []);
  write("fourth", "192.0.2.2", 100 * KIBIBYTE);
  write("late reader", "192.0.2.3", 100 * KIBIBYTE);

  assert.deepEqual(closed, ["first", "second"]);
  assert.deepEqual(notices, ["192.0.2.2", "192.0.2.2"]);
});

test("does not count a connection that was read or closed, or that has few waiting octets", () => {
  const { write, closed } = bench(200 * KIBIBYTE);

  for (let turn = 0; turn < 20; turn++) {
    write("read", "192.0.2.2", 150 * KIBIBYTE).emit("drain");
    write("gone", "192.0.2.2", 150 * KIBIBYTE).emit("close");
    write("small", "192.0.2.2", 1 * KIBIBYTE);
  }

  assert.deepEqual(closed, []);
});

test("counts a stream of HTTP/2 from its first octet, plus Node's memory for the stream, until the stream is read or closed", () => {
  const { write, closed } = bench(100 * KIBIBYTE);

  for (let turn = 0; turn < 20; turn++) {
    write("read", "192.0.2.2", 10 * KIBIBYTE, true).emit("finish");
    write("gone", "192.0.2.2", 10 * KIBIBYTE, true).emit("close");
    write("at once", "192.0.2.2", 0, true);
  }
  assert.deepEqual(closed, []);
  for (let turn = 0; turn < 12; turn++) write(`small ${turn}`, "192.0.2.2", 1, true);

  assert.deepEqual(closed, ["small 0", "small 1", "small 2"]);
});

test("counts a reused connection once, with one listener", () => {
  const unread = makeUnread(200 * KIBIBYTE);
  const events = new EventEmitter();
  const socket = Object.assign(events, { writableLength: 150 * KIBIBYTE, remoteAddress: "::1", destroy: assert.fail });

  for (let turn = 0; turn < 20; turn++) unread.watch(socket as unknown as WatchedSocket);

  assert.equal(events.listenerCount("close"), 1);
});

test("closes the first of several connections that read nothing, and reports it", async (t) => {
  // More than the system buffers for a connection.
  const content = Buffer.alloc(30 * KIBIBYTE * KIBIBYTE);
  const observed: Observation[] = [];
  const headers = () => ["Content-Length", String(content.length)];
  const server = createServer(
    requestListener({
      respond: () => ({ status: 200, headers: headers(), content }),
      observe: (observation) => void observed.push(observation),
    }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => (server.closeAllConnections(), server.close()));

  const callers = [];
  for (let at = 0; at < 3; at++) {
    const arrival = once(server, "request");
    const caller = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
    caller.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    callers.push(caller.on("error", () => undefined));
    t.after(() => caller.destroy());
    await arrival;
    // The server answers in this turn, after all requests that arrived together.
    await nextTurn();
  }

  assert.deepEqual(
    observed.map((each) => (each.kind === "refused" ? [each.reason, each.address] : each.kind)),
    [["unread", "127.0.0.1"]],
  );
  await once(callers[0]!.resume(), "close");
});
