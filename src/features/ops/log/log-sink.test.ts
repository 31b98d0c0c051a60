import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { fileSink, logSink, type LogSink } from "./log-sink.ts";

function readValues(sink: LogSink): Record<string, number> {
  return Object.fromEntries(sink.read().flatMap(({ samples }) => samples));
}

test("limits the text that waits for a stopped reader, and reports the lost lines when it reads again", async () => {
  const pipe = new PassThrough({ highWaterMark: 1024 });
  const sink = logSink(pipe);
  const line = `${"x".repeat(1023)}\n`;

  for (let lines = 0; lines < 5000; lines++) sink.write(line);
  const { latchkey_log_lines_dropped_total: lost } = readValues(sink);

  assert.ok(lost! > 3900 && lost! < 4000, String(lost));
  assert.ok(pipe.writableLength < 1.1 * 1024 * 1024);
  pipe.resume();
  await new Promise((resolve) => pipe.once("drain", resolve));
  const read: string[] = [];
  pipe.on("data", (chunk) => read.push(String(chunk)));
  sink.write("after\n");
  await new Promise(setImmediate);
  const [notice, after] = read.join("").split("\n");
  assert.equal(JSON.parse(notice!).message, `${lost} lines of the log could not be written and are lost.`);
  assert.equal(after, "after");
});

test("counts the lost lines of a reader that has closed, and does not throw", async () => {
  const gone = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
  });
  const sink = logSink(gone);

  sink.write("one\n");
  await new Promise(setImmediate);
  sink.write("two\nthree\n");

  assert.deepEqual(readValues(sink), { latchkey_log_lines_dropped_total: 3, latchkey_log_write_errors_total: 1 });
});

test("writes again when a full disk has room, and starts a new line after a line that was cut off", () => {
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

  const [one, cut, notice, four] = file.split("\n");
  assert.deepEqual([one, cut, four], ["one", "tw", "four"]);
  assert.match(notice!, /3 lines of the log/);
  assert.deepEqual(readValues(sink), { latchkey_log_lines_dropped_total: 3, latchkey_log_write_errors_total: 2 });
});
