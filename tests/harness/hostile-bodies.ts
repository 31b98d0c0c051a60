const mebibyte = 2 ** 20;
const fill = (before: string, unit: string, after: string): string =>
  before + unit.repeat(Math.floor((mebibyte - before.length - after.length) / unit.length)) + after;

/** Returns a structure nested to this depth. */
const nested = (open: string, close: string, levels: number, inside = ""): string =>
  open.repeat(levels) + inside + close.repeat(levels);

/** Repeats a unit, which differs each time, until the body has 1 MiB. */
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

/**
 * XML bodies of 1 MiB for a resource with the fields `title`, `short`, `mail` and `meta` (any JSON), by the part that
 * fills them.
 */
export const xmlBodies: Readonly<Record<string, string>> = {
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
  "lists within each other": fill("<note><title>", "<i>".repeat(29) + "</i>".repeat(29), "</title></note>"),
  "members within each other": fill("<note>", "<a>".repeat(15) + "</a>".repeat(15), "</note>"),
  "lists of members": fill("<note><title>", "<i><a/><b/><c/></i>", "</title></note>"),
  "names in turn": many("<note><title>", (at) => `<i><n${at % 9000}/></i>`, "</title></note>"),
  "one long name": fill("<", "a", "/>"),
  "no body": " ".repeat(mebibyte),
};

/** JSON bodies for the same resource. */
export const jsonBodies: Readonly<Record<string, string>> = {
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
  "arrays within each other": fill('{"meta":[', `${nested("[", "]", 29)},`, "1]}"),
  "deep arrays, one of many": fill('{"meta":[', `${nested("[", "]", 29)},`.repeat(300), "1]}"),
  "nested arrays in an unknown member": fill('{"other":[', `${nested("[", "]", 29)},`, "1]}"),
  "objects within each other": fill('{"meta":[', `${nested('{"a":', "}", 29, "1")},`, "1]}"),
  "arrays and objects": fill('{"meta":[', `${nested('[{"a":', "}]", 14, "1")},`, "1]}"),
  "empty arrays": fill('{"meta":[', "[],", "1]}"),
  "arrays of numbers": fill('{"meta":[', "[1],", "1]}"),
  "arrays of pairs": fill('{"meta":[', "[1,2],", "1]}"),
  "objects of two members": fill('{"meta":[', '{"a":1,"b":2},', "1]}"),
  "objects with different members": many('{"meta":[', (at) => `{"m${at % 9000}":1},`, "1]}"),
  "objects with different pairs of members": many('{"meta":[', (at) => `{"m${at % 97}":1,"n${at % 101}":1},`, "1]}"),
  "objects of numbered members": many('{"meta":[', (at) => `{"${(at % 9000) * 400_000}":1},`, "1]}"),
  "objects of prototypes": fill('{"meta":[', '{"__proto__":1},', "1]}"),
  "prototypes within each other": fill('{"meta":[', `${nested('{"__proto__":', "}", 29, "1")},`, "1]}"),
  "arrays of 100,000 in 29 levels": `{"meta":${nested("[", "]", 29, fill("[", "1,", "1]").slice(0, 900_000).replace(/,$/, "") + "]")}}`,
  "long digits": fill('{"meta":[', `${"1234567890".repeat(30)}.5,`, "1]}"),
  "small fractions": fill('{"meta":[', "1e-300,", "1]}"),
  "zeros of many exponents": fill('{"meta":[', "0e-9999,", "1]}"),
  words: fill('{"meta":[', "null,", "1]}"),
  "one long text of escapes": fill('{"meta":"', "\\n", '"}'),
  "texts of escaped letters": fill('{"meta":[', '"\\u0041\\u0042",', "1]}"),
  "texts of marks": inJSON("title", "\u0315\u0300").slice(0, 700_000) + '"}',
  "a hundred wrong members": `{${Array.from({ length: 9_000 }, (_, at) => `"${"x".repeat(80)}${at}":[1]`).join(",")}}`,
  depth: fill("", "[", ""),
  lines: fill('{"meta":', "\n", "}"),
};

/** The index of the last item of `meta`. */
const last = 32_000;

/** A body whose `meta` has 32,001 items. It replaces the record before each of the patches. */
export const longArray = JSON.stringify({ meta: Array.from({ length: last + 1 }, () => 1) });
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const operations = (make: (at: number) => object): string =>
  JSON.stringify(Array.from({ length: 1000 }, (_, at) => make(at)));

/** JSON Patches of the record that `longArray` makes. */
export const patches: Readonly<Record<string, string>> = {
  "moves to the front": operations(() => ({ op: "move", from: `/meta/${last}`, path: "/meta/0" })),
  "moves from the front": operations(() => ({ op: "move", from: "/meta/0", path: `/meta/${last}` })),
  "additions at the front": operations(() => ({ op: "add", path: "/meta/0", value: 2 })),
  "copies at the front": operations(() => ({ op: "copy", from: "/meta/1", path: "/meta/0" })),
  "copies of the whole array": operations((at) => ({ op: "copy", from: "/meta", path: `/a${at}` })),
  removals: operations(() => ({ op: "remove", path: "/meta/0" })),
  tests: operations(() => ({ op: "test", path: `/meta/${last}`, value: 1 })),
  "a test that fails": JSON.stringify([{ op: "test", path: "/meta", value: [1] }]),
  "a whole new array": fill('[{"op":"replace","path":"/meta","value":[', "1,", "1]}]"),
  "1,001 operations": JSON.stringify(Array.from({ length: 1001 }, () => ({ op: "test", path: "", value: 1 }))),
  "empty operations": fill("[", "{},", "{}]"),
  "deep values": operations(() => ({ op: "add", path: "/meta/-", value: deep(25) })),
  "copies of deep values": operations((at) => ({
    op: at === 0 ? "add" : "copy",
    from: "/meta/0",
    path: "/meta/0",
    ...(at === 0 ? { value: deep(25) } : {}),
  })),
  "a whole new array of arrays": fill('[{"op":"replace","path":"/meta","value":[', `${nested("[", "]", 26)},`, "1]}]"),
  "values of many arrays": fill(
    "[",
    `{"op":"add","path":"/meta/-","value":[${"[],".repeat(300)}1]},`,
    '{"op":"test","path":"/meta/0","value":1}]',
  ),
  "a long path": fill('[{"op":"remove","path":"', "/0", '"}]'),
  "a long path of tildes": fill('[{"op":"remove","path":"/', "~0", '"}]'),
};
