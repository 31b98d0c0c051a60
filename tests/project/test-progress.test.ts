import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import path from "node:path";
import { test } from "node:test";
import { followRun } from "../../tools/test-progress.ts";

test("names the tests that run, and the other files of their process, if a run is stopped", () => {
  const stream = new EventEmitter();
  const [group, one, other, alone] = ["/tmp/0.mjs", "src/one.test.ts", "src/other.test.ts", "src/alone.test.ts"].map(
    (file) => path.resolve(file),
  ) as [string, string, string, string];
  let ended = 0;
  const progress = followRun(stream, new Map([[group, [one, other]]]), () => void ended++);
  const emit = (kind: string, name: string, file: string, nesting = 0): void =>
    void stream.emit(`test:${kind}`, { name, file, nesting });
  for (const file of [group, alone]) emit("dequeue", file, file);

  emit("dequeue", "works", one);
  emit("complete", "works", one);
  emit("dequeue", "hangs", one);
  emit("dequeue", "a part", one, 1);
  emit("dequeue", "works", alone);
  emit("complete", "works", alone);
  emit("complete", alone, alone);

  assert.equal(
    progress.describeUnfinished("Stopped."),
    "Stopped. Still running: src/one.test.ts (hangs).\nTheir processes also load: src/other.test.ts.\nRun one of them alone: npm test -- FILE.",
  );
  assert.equal(ended, 3);
});
