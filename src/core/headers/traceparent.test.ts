import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseTraceContext } from "./traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const good = `00-${traceId}-${parentId}-01`;

test("reads a valid traceparent, and forwards it unchanged", () => {
  assert.deepEqual(parseTraceContext(good, undefined), {
    traceId,
    parentId,
    sampled: true,
    traceparent: good,
    tracestate: null,
  });
  assert.equal(parseTraceContext(`00-${traceId}-${parentId}-00`, undefined)?.sampled, false);
});

for (const [title, text] of [
  ["an empty one", ""],
  ["another length", `${good}0`],
  ["text after a traceparent of version 00", `${good}-what`],
  ["upper case", good.toUpperCase()],
  ["upper case in the version", `0A${good.slice(2)}`],
  ["the invalid version ff", `ff${good.slice(2)}`],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${parentId}-01`],
  ["a parent id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["no hexadecimal digits", good.replace("0af", "0ag")],
  ["white space", ` ${good}`],
  ["a line feed at the end", `${good}\n`],
  ["two fields, joined with a comma", `${good}, ${good}`],
  ["two fields of a future version", `cc${good.slice(2)}-x, cc${good.slice(2)}`],
  ["text after a future version without a hyphen", `cc${good.slice(2)}x`],
] as const) {
  test(`ignores a traceparent: ${title}`, () => {
    assert.equal(parseTraceContext(text, "a=1"), null);
  });
}

test("reads the known part of a future version, and forwards it as version 00", () => {
  for (const text of [`cc${good.slice(2)}`, `cc${good.slice(2)}-`, `01${good.slice(2)}-and.more`]) {
    assert.equal(parseTraceContext(text, undefined)?.traceparent, good);
  }
});

test("forwards only the known flags", () => {
  assert.match(parseTraceContext(`00-${traceId}-${parentId}-ff`, undefined)!.traceparent, /-03$/);
});

const states: readonly (readonly [title: string, sent: string, on: string | null])[] = [
  ["one member", "congo=t61rcWkgMzE", "congo=t61rcWkgMzE"],
  ["several members, with white space and empty members", "a=1 ,\tb=2,, ,c=3", "a=1,b=2,c=3"],
  ["a tenant", "0t@sys=v", "0t@sys=v"],
  ["a value with spaces inside", "a=x y z", "a=x y z"],
  ["the first of two members with one key", "a=1,b=2,a=3", "a=1,b=2"],
  ["an empty list", "", null],
  ["no value", "a=", null],
  ["no equals sign", "a", null],
  ["two equals signs", "a=b=c", null],
  ["an upper-case key", "A=1", null],
  ["a character outside of ASCII", "a=ä", null],
  ["32 members", list(32), list(32)],
  ["33 members", list(33), null],
  ["a long list without its longest member", `${"k".repeat(20)}=${"v".repeat(120)},${filler(480)}`, filler(480)],
  [
    "a long list without its last members",
    `a=${"v".repeat(100)},${filler(480)}`,
    `a=${"v".repeat(100)},${filler(400)}`,
  ],
];

function list(count: number): string {
  return Array.from({ length: count }, (_, at) => `k${at}=v`).join(",");
}

/** Returns as many members of 79 characters as fit. */
function filler(length: number): string {
  return Array.from({ length: Math.floor(length / 80) }, (_, at) => `f${at}=${"v".repeat(76)}`).join(",");
}

for (const [title, sent, on] of states) {
  test(`forwards a tracestate within the limits of the standard: ${title}`, () => {
    assert.equal(parseTraceContext(good, sent)?.tracestate, on);
  });
}

const hex = (length: number) =>
  fc.array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length });

test("never throws, and reads its own output as the same value", () => {
  const almost = fc
    .tuple(hex(2), hex(32), hex(16), hex(2), fc.oneof(fc.constant(""), fc.string()))
    .map(
      ([version, trace, parent, flags, more]) =>
        `${[version, trace, parent, flags].map((each) => each.join("")).join("-")}${more}`,
    );
  const anyState = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.tuple(fc.string(), fc.string()).map(([name, value]) => `${name}=${value}`)).map((all) => all.join(",")),
    fc
      .array(fc.tuple(fc.stringMatching(/^[a-z]{1,40}$/), fc.stringMatching(/^[a-z]{1,200}$/)), { maxLength: 40 })
      .map((all) => all.map((pair) => pair.join("=")).join(",")),
  );

  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), almost),
      fc.option(anyState, { nil: undefined }),
      (parent, state) => {
        const read = parseTraceContext(parent, state);
        if (read === null) return;
        assert.match(read.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
        assert.ok(
          read.tracestate === null || (read.tracestate.length <= 512 && read.tracestate.split(",").length <= 32),
        );
        assert.deepEqual(parseTraceContext(read.traceparent, read.tracestate ?? undefined), read);
      },
    ),
  );
});

test("reads every traceparent that follows the standard", () => {
  const made = fc
    .tuple(hex(32), hex(16), hex(2))
    .filter(([trace, parent]) => [trace, parent].every((each) => each.some((digit) => digit !== "0")));

  fc.assert(
    fc.property(made, ([trace, parent, flags]) => {
      const read = parseTraceContext(`00-${trace.join("")}-${parent.join("")}-${flags.join("")}`, undefined);
      assert.deepEqual([read?.traceId, read?.parentId], [trace.join(""), parent.join("")]);
    }),
  );
});
