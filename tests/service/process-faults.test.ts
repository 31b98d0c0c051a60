import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../harness/free-port.ts";
import { sendHalf, untilClosed } from "../harness/half-sent.ts";
import { startService } from "../harness/service-process.ts";

/** Returns settings that make the process run the code `fault` on SIGUSR2. No code catches an error of `fault`. */
function planted(fault: string): Readonly<Record<string, string>> {
  const text = `process.on("SIGUSR2", () => { ${fault} })`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(text)}`, LATCHKEY_LOG: "error" };
}

/** Returns the number of open sockets of a process. Returns 0 if the process has stopped. */
function countSockets(pid: number): number {
  try {
    const descriptors = `/proc/${pid}/fd`;
    return readdirSync(descriptors).filter((each) => readlinkSync(`${descriptors}/${each}`).startsWith("socket:"))
      .length;
  } catch {
    return 0;
  }
}

for (const [title, fault] of [
  ["an exception", `throw new Error("planted")`],
  ["a rejection", `Promise.reject(new Error("planted"))`],
] as const) {
  test(`logs ${title} that is not caught, finishes requests in progress, and exits with 1`, async () => {
    await using service = await startService(planted(fault));
    const late = await sendHalf(service.address, service.password);

    process.kill(service.pid, "SIGUSR2");
    await untilClosed(service.address);

    assert.match(await late.finish(), /^HTTP\/1\.1 201 [^]*\r\nConnection: close\r\n/);
    assert.equal(await service.ended, 1);
    const line = JSON.parse(/^\{.*"event":"notice".*$/m.exec(service.said())![0]) as Record<string, string>;
    assert.equal(line["level"], "error");
    assert.match(line["error"]!, /^Error: planted\n {4}at /);
  });
}

test("lets a worker with an uncaught exception finish its requests, and starts its replacement before that", async () => {
  await using service = await startService({
    ...planted(`if (process.send) throw new Error("planted")`),
    LATCHKEY_WORKERS: "2",
    LATCHKEY_PORT: String(await freePort()),
  });
  const { hostname, port } = new URL(service.address);
  const workers = (): number[] =>
    execFileSync("pgrep", ["-P", String(service.pid)], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
  while (workers().length < 2) await wait(10);
  const before = new Map(workers().map((pid) => [pid, countSockets(pid)]));
  const growth = (pid: number): number => countSockets(pid) - before.get(pid)!;
  const half = Array.from({ length: 4 }, () => connect(Number(port), hostname));
  for (const socket of half) socket.on("error", () => undefined).write("GET /livez HTTP/1.1\r\n");
  // The system chooses the worker of each connection, so one worker may have all connections.
  while ([...before.keys()].reduce((all, pid) => all + growth(pid), 0) < half.length) await wait(10);
  const victim = [...before.keys()].find((pid) => growth(pid) > 0)!;
  const isReplaced = (): boolean => workers().some((pid) => !before.has(pid));

  process.kill(victim, "SIGUSR2");
  while (workers().includes(victim) && !isReplaced()) await wait(10);

  assert.ok(workers().includes(victim));
  assert.ok(isReplaced());
  for (const socket of half) {
    socket.write("Host: a\r\n\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(String(answer), /^HTTP\/1\.1 200 /);
    socket.destroy();
  }
});

const isLinux = process.platform === "linux";
test(
  "logs once that no descriptor is free, and answers callers when descriptors are free again",
  { skip: !isLinux },
  async () => {
    await using service = await startService({ LATCHKEY_LOG: "error" });
    const { hostname, port } = new URL(service.address);
    const open = readdirSync(`/proc/${service.pid}/fd`).length;
    execFileSync("prlimit", ["--pid", String(service.pid), `--nofile=${open + 10}`]);

    const dial = () => connect(Number(port), hostname).on("error", () => undefined);
    const sockets = Array.from({ length: 40 }, dial);
    const lines = (): readonly string[] => service.said().match(/^\{.*No file descriptor is free.*$/gm) ?? [];
    // The service closes its own files from time to time, which frees a descriptor. Further connections use it up.
    for (let looks = 0; looks < 100 && lines().length === 0; looks++) {
      sockets.push(dial());
      await wait(50);
    }
    await wait(1500);
    for (const socket of sockets) socket.destroy();
    for (let looks = 0; looks < 100 && readdirSync(`/proc/${service.pid}/fd`).length > open; looks++) await wait(50);

    assert.equal((await fetch(`${service.address}/livez`)).status, 200);
    assert.equal(lines().length, 1);
    assert.match(lines()[0]!, /"level":"error".*LimitNOFILE.*EMFILE/);
  },
);
