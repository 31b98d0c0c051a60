import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { parseUUID, uuidMaker } from "./uuid.ts";

test("makes a UUID of version 7 from the time and random bits, as in RFC 9562", () => {
  const chance = Buffer.from("18c4dc0c0c07398f0cc3", "hex");

  // The example of appendix A.6, except for the first bit of rand_a, which is left free for counting.
  assert.equal(uuidMaker(() => chance)(0x017f22e279b0), "017f22e2-79b0-74c3-98c4-dc0c0c07398f");
});

test("makes increasing ids: within a millisecond, after a full millisecond, and when the clock goes back", () => {
  const make = uuidMaker(randomBytes);
  const times = [...Array<number>(6000).fill(1000), 1001, 500, 1500, 1499.9, 2000];

  const made = times.map(make);

  assert.deepEqual(made, made.toSorted());
  assert.equal(new Set(made).size, times.length);
  assert.ok(made.every((each) => parseUUID(each) === each && each[14] === "7" && "89ab".includes(each[19]!)));
});

test("reads a UUID only in its standard spelling", () => {
  const good = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  for (const wrong of [
    "",
    good.toUpperCase(),
    ` ${good}`,
    `${good}\n`,
    good.replaceAll("-", ""),
    `${good}0`,
    good.slice(1),
  ])
    assert.equal(parseUUID(wrong), null, wrong);
  assert.equal(parseUUID(good), good);
});
