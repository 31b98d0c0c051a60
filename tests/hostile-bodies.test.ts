import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { anyone, defineResource, email, json, mount, text } from "../src/index.ts";
import { serve } from "./serve.ts";

const notes = mount(
  defineResource({
    name: "note",
    fields: {
      title: text({ optional: true, maxLength: 2_000_000 }),
      short: text({ optional: true, pattern: { matches: /^[^:]*$/, detail: "No colon." } }),
      mail: email({ optional: true }),
      meta: json({ optional: true }),
    },
  }),
  { permission: anyone },
);

const mebibyte = 2 ** 20;
const mostMilliseconds = 50;
const fill = (before: string, unit: string, after: string): string =>
  before + unit.repeat(Math.floor((mebibyte - before.length - after.length) / unit.length)) + after;

/** Different units until the body is full. */
function many(before: string, unit: (at: number) => string, after: string): string {
  const units: string[] = [];
  for (let at = 0, length = before.length + after.length; ; at++) {
    const next = unit(at);
    length += next.length;
    if (length > mebibyte) return before + units.join("") + after;
    units.push(next);
  }
}

const inXML = (member: string, unit: string): string => fill(`<note><${member}>`, unit, `</${member}></note>`);
const inJSON = (member: string, unit: string): string => fill(`{"${member}":"`, unit, '"}');

const xmlBodies: Readonly<Record<string, string>> = {
  ampersands: inXML("title", "&"),
  references: inXML("title", "&amp;"),
  "numeric references": inXML("title", "&#65;"),
  "carriage returns": inXML("title", "\r"),
  "CDATA sections": inXML("title", "<![CDATA[]]>"),
  comments: inXML("title", "a<!---->"),
  "processing instructions": inXML("title", "<?a?>"),
  elements: fill("<note>", "<a/>", "</note>"),
  "elements of a list": inXML("title", "<i/>"),
  "different elements": many("<note>", (at) => `<a${at}/>`, "</note>"),
  declarations: many("<note ", (at) => `xmlns:a${at}="b" `, "/>"),
  "declarations within each other": fill("<note>", '<a xmlns:a="b"/>', "</note>"),
  "prefixed elements": fill('<l:note xmlns:l="b">', "<l:i/>", "</l:note>"),
  depth: fill("", "<a>", ""),
  "depth over and over": fill("<note>", "<a>".repeat(30) + "</a>".repeat(30), "</note>"),
  "JSON text": fill("<note><meta>[", "1,", "1]</meta></note>"),
  "JSON text in references": fill("<note><meta>&#91;", "&#49;,", "1]</meta></note>"),
  "one long name": fill("<", "a", "/>"),
  "no body": " ".repeat(mebibyte),
};

const jsonBodies: Readonly<Record<string, string>> = {
  "different members": many("{", (at) => `"m${at}":1,`, '"z":1}'),
  "9,999 members": `{${Array.from({ length: 9999 }, (_, at) => `"m${at}${"x".repeat(90)}":1`).join(",")}}`,
  "members given twice": fill("{", '"a":1,', '"a":1}'),
  escapes: inJSON("title", "\\u0041"),
  "control characters in escapes": inJSON("title", "\\u0001"),
  spaces: inJSON("title", " "),
  "spaces before a letter": fill('{"title":"', " ", 'a"}'),
  "astral characters": fill('{"title":"', "\u{1f600}", '"}').slice(0, mebibyte / 4) + '"}',
  "a long text": inJSON("short", "a"),
  "a long text of colons": inJSON("short", ":"),
  "a mailbox": inJSON("mail", "a@"),
  "a mailbox of dots": inJSON("mail", "a."),
  numbers: fill('{"meta":[', "1,", "1]}"),
  fractions: fill('{"meta":[', "1.5,", "1]}"),
  exponents: fill('{"meta":[', "1e1,", "1]}"),
  "a long number": fill('{"meta":', "1", ".5}"),
  "a long fraction": fill('{"meta":0.', "0", "1}"),
  "a long exponent": fill('{"meta":0e', "9", "}"),
  "empty objects": fill('{"meta":[', "{},", "1]}"),
  "small objects": fill('{"meta":[', '{"a":1},', "1]}"),
  "empty texts": fill('{"meta":[', '"",', "1]}"),
  "escaped texts": fill('{"meta":[', '"\\n",', "1]}"),
  "a json() field of 9,990 members": `{"meta":{${Array.from({ length: 9990 }, (_, at) => `"m${at}":"${"x".repeat(90)}"`).join(",")}}}`,
  depth: fill("", "[", ""),
  lines: fill('{"meta":', "\n", "}"),
};

const longArray = JSON.stringify({ meta: Array.from({ length: 500_000 }, () => 1) });
const operations = (make: (at: number) => object): string =>
  JSON.stringify(Array.from({ length: 1000 }, (_, at) => make(at)));

/** On a record whose json() field is an array of half a million numbers. */
const patches: Readonly<Record<string, string>> = {
  "moves to the front": operations(() => ({ op: "move", from: "/meta/499999", path: "/meta/0" })),
  "moves from the front": operations(() => ({ op: "move", from: "/meta/0", path: "/meta/499999" })),
  "additions at the front": operations(() => ({ op: "add", path: "/meta/0", value: 2 })),
  "copies at the front": operations(() => ({ op: "copy", from: "/meta/1", path: "/meta/0" })),
  "copies of the whole": operations((at) => ({ op: "copy", from: "/meta", path: `/a${at}` })),
  removals: operations(() => ({ op: "remove", path: "/meta/0" })),
  tests: operations(() => ({ op: "test", path: "/meta/499999", value: 1 })),
  "an unlike test": JSON.stringify([{ op: "test", path: "/meta", value: [1] }]),
  "a whole new array": fill('[{"op":"replace","path":"/meta","value":[', "1,", "1]}]"),
  "1,001 operations": JSON.stringify(Array.from({ length: 1001 }, () => ({ op: "test", path: "", value: 1 }))),
  "empty operations": fill("[", "{},", "{}]"),
  "a long path": fill('[{"op":"remove","path":"', "/0", '"}]'),
  "a long path of tildes": fill('[{"op":"remove","path":"/', "~0", '"}]'),
};

test("no body within the limits keeps others waiting for more than 50 ms", async (t) => {
  const { service, admin, put, post } = await serve(t, { config: { mounts: [notes] } });
  const { id } = (await post("/notes", {}, admin)).json;
  const slow: string[] = [];

  async function send(method: string, type: string, body: string): Promise<number> {
    const path = method === "POST" ? "/notes" : `/notes/${id}`;
    const headers = { ...admin, "content-type": type, accept: type.endsWith("xml") ? type : "application/json" };
    const request = new Request(`http://127.0.0.1:8000${path}`, { method, headers, body });
    return (await service.fetch(request, { peer: "127.0.0.1" })).status;
  }

  async function measure(name: string, method: string, type: string, body: string): Promise<number> {
    let longest = Infinity;
    let status = 0;
    for (let attempt = 0; attempt < 3 && longest > mostMilliseconds; attempt++) {
      const watch = watchTurns();
      status = await send(method, type, body);
      longest = Math.min(longest, await watch.end());
    }
    if (status >= 500) slow.push(`${method} ${type} ${name}: ${status}`);
    if (longest > mostMilliseconds) slow.push(`${method} ${type} ${name}: ${longest.toFixed(0)} ms (${status})`);
    return status;
  }

  for (const [type, bodies] of [
    ["application/xml", xmlBodies],
    ["application/json", jsonBodies],
  ] as const)
    for (const [name, body] of Object.entries(bodies)) {
      // What is refused is refused before anybody asks what was to be done with it.
      const isTaken = (await measure(name, "POST", type, body)) === 201;
      for (const method of isTaken ? ["PUT", "PATCH"] : []) await measure(name, method, type, body);
    }
  for (const [name, body] of Object.entries(patches)) {
    assert.equal((await put(`/notes/${id}`, longArray, admin)).status, 200);
    await measure(name, "PATCH", "application/json-patch+json", body);
  }

  assert.deepEqual(slow, []);
});

/** Sees how long this thread works from one turn of the event loop to the next, by its own time. */
function watchTurns(): { end(): Promise<number> } {
  let longest = 0;
  let running = true;
  const done = (async () => {
    while (running) {
      const before = process.threadCpuUsage();
      await turn();
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  })();
  return {
    async end() {
      running = false;
      await done;
      return longest;
    },
  };
}
