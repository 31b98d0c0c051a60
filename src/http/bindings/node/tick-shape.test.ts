import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Returns what V8 knows of the objects of `process.nextTick` after a collection that found none of them. */
async function learnShapes(listens: boolean): Promise<string> {
  const listener = JSON.stringify(import.meta.resolve("./request-listener.ts"));
  const script = `
    const tick = async (times) => {
      for (let time = 0; time < times; time++) {
        process.nextTick(() => {});
        await new Promise(setImmediate);
      }
    };
    const { makeListener } = await import(${listener});
    if (${listens}) makeListener({ respond() {} }, {});
    await tick(30);
    gc();
    await tick(30);
    console.log(%GetFeedback(process.nextTick).join());`;
  const flags = ["--expose-gc", "--allow-natives-syntax", "--input-type=module", "--eval", script];
  return (await run(process.execPath, flags)).stdout;
}

test("a listener keeps the shape of ticks through a garbage collection", async () => {
  const [without, beside] = await Promise.all([learnShapes(false), learnShapes(true)]);
  assert.match(
    without,
    /DefineKeyedOwnPropertyInLiteral,MEGAMORPHIC/,
    "V8 keeps the shape by itself now: delete tick-shape.ts",
  );
  assert.match(beside, /DefineKeyedOwnPropertyInLiteral,MONOMORPHIC/);
  assert.doesNotMatch(beside, /DefineKeyedOwnPropertyInLiteral,MEGAMORPHIC/);
});
