import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { makeSideBySide } from "./side-by-side.ts";

/** Creates tasks that all fail, with a limit of failures for each subject. */
function failing(limit: number) {
  const sideBySide = makeSideBySide();
  const failed = new Map<string, number>();
  const running = { now: 0, most: 0 };
  const rooms = (subjects: readonly string[]) => () => {
    const each = subjects.map((subject) => ({ subject, left: () => limit - (failed.get(subject) ?? 0) }));
    if (each.some(({ left }) => left() <= 0)) throw new Error("no room");
    return each;
  };
  return {
    running,
    run: (...subjects: string[]) =>
      sideBySide(rooms(subjects), async () => {
        running.most = Math.max(running.most, ++running.now);
        await turn();
        for (const subject of subjects) failed.set(subject, (failed.get(subject) ?? 0) + 1);
        running.now--;
      }),
  };
}

test("runs as many failing tasks at the same time as failures are allowed, and refuses all others", async () => {
  const { run, running } = failing(5);

  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => run("ada", "here")));

  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 5);
  assert.equal(running.most, 5);
});

test("runs tasks of different subjects at the same time", async () => {
  const { run, running } = failing(1);

  const outcomes = await Promise.allSettled(["ada", "bob", "cyd"].map((name) => run(name)));

  assert.ok(outcomes.every(({ status }) => status === "fulfilled"));
  assert.equal(running.most, 3);
});

test("lets the next task start if a task throws", async () => {
  const sideBySide = makeSideBySide();
  const fail = () =>
    sideBySide(
      () => [{ subject: "ada", left: () => 1 }],
      () => Promise.reject(new Error("broken")),
    );

  const outcomes = await Promise.allSettled([fail(), fail(), fail()]);

  assert.deepEqual(
    outcomes.map((each) => (each.status === "rejected" ? String(each.reason) : each.status)),
    Array(3).fill("Error: broken"),
  );
});

test("applies a separate limit to each subject of a task", async () => {
  const sideBySide = makeSideBySide();
  const most = { running: 0, now: 0 };
  const run = (name: string) =>
    sideBySide(
      () => [
        { subject: "everybody", left: () => 20 },
        { subject: name, left: () => 1 },
      ],
      async () => {
        most.running = Math.max(most.running, ++most.now);
        await turn();
        most.now--;
      },
    );

  await Promise.all(Array.from({ length: 30 }, (_, at) => run(`name ${at}`)));

  assert.equal(most.running, 20);
});

test("counts failures that happen while the allowed failures are read", async () => {
  const sideBySide = makeSideBySide();
  const failed = { first: 0 };
  let ran = 0;
  const run = () =>
    sideBySide(
      async () => {
        const first = {
          subject: "first",
          left() {
            if (failed.first >= 3) throw new Error("no room");
            return 3 - failed.first;
          },
        };
        // Another subject that is slow to read.
        for (let at = 0; at < 3; at++) await turn();
        return [first, { subject: "second", left: () => 9 }];
      },
      async () => {
        ran++;
        await turn();
        failed.first++;
      },
    );

  await Promise.allSettled(Array.from({ length: 30 }, run));

  assert.equal(ran, 3);
});
