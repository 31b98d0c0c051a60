import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { fileSink, logSink, type LogSink } from "./log-sink.ts";

function valuesOf(sink: LogSink): Record<string, number> {
  return Object.fromEntries(sink.read().flatMap(({ samples }) => samples));
}

test("what waits for a reader that has stopped is bounded, and what is lost is told when it reads again", async () => {
  const pipe = new PassThrough({ highWaterMark: 1024 });
  const sink = logSink(pipe);
  const line = `${"x".repeat(1023)}\n`;

  for (let lines = 0; lines < 5000; lines++) sink.write(line);
  const { latchkey_log_lines_dropped_total: lost } = valuesOf(sink);

  assert.ok(lost! > 3900 && lost! < 4000, String(lost));
  assert.ok(pipe.writableLength < 1.1 * 1024 * 1024);
  pipe.resume();
  await new Promise((resolve) => pipe.once("drain", resolve));
  const read: string[] = [];
  pipe.on("data", (chunk) => read.push(String(chunk)));
  sink.write("after\n");
  await new Promise(setImmediate);
  const [told, after] = read.join("").split("\n");
  assert.equal(JSON.parse(told!).message, `${lost} lines of the log could not be written and are lost.`);
  assert.equal(after, "after");
});

test("a reader that has gone ends nothing", async () => {
  const gone = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
  });
  const sink = logSink(gone);

  sink.write("one\n");
  await new Promise(setImmediate);
  sink.write("two\nthree\n");

  assert.deepEqual(valuesOf(sink), { latchkey_log_lines_dropped_total: 3, latchkey_log_write_errors_total: 1 });
});

test("a disk that was full is tried again, and a line that was cut off stays by itself", () => {
  let room = 6;
  let file = "";
  const sink = fileSink((bytes) => {
    if (room === 0) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    const taken = Math.min(room, bytes.length);
    file += Buffer.from(bytes.subarray(0, taken)).toString();
    room -= taken;
    return taken;
  });

  sink.write("one\ntwo\n");
  sink.write("three\n");
  room = Infinity;
  sink.write("four\n");

  const [one, cut, told, four] = file.split("\n");
  assert.deepEqual([one, cut, four], ["one", "tw", "four"]);
  assert.match(told!, /3 lines of the log/);
  assert.deepEqual(valuesOf(sink), { latchkey_log_lines_dropped_total: 3, latchkey_log_write_errors_total: 2 });
});
