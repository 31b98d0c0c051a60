import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { refusedXML } from "../../../tests/harness/long-bodies.ts";
import { Secret } from "../../core/crypto/secret.ts";
import { Problem } from "../../core/problem/problem.ts";
import { runAtOnce } from "../scheduling/slices.ts";
import { readXML } from "./xml-reader.ts";
import { xml } from "./xml.ts";

const XSI = "http://www.w3.org/2001/XMLSchema-instance";

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';
const read = (text: string): unknown => runAtOnce(readXML(Buffer.from(text))).value;
const write = (value: unknown, element = "user", items?: string): string =>
  String(xml.write(items === undefined ? { value, element } : { value, element, items })).slice(HEAD.length);

function expectRefusal(text: string | Uint8Array): string {
  try {
    runAtOnce(readXML(Buffer.from(text)));
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, "malformed");
    return error.detail;
  }
  throw new assert.AssertionError({ message: `${String(text).slice(0, 80)} was accepted` });
}

test("writes a record as an element with its members in order", () => {
  assert.equal(
    xml.write({ value: { id: 1, name: "Ann", email: "ann@example.com" }, element: "user" }),
    `${HEAD}<user><id>1</id><name>Ann</name><email>ann@example.com</email></user>`,
  );
});

for (const [value, written] of [
  [{ a: null }, '<user><a nil="true"/></user>'],
  [{ a: "" }, "<user><a></a></user>"],
  [{ a: true, b: 1.5 }, "<user><a>true</a><b>1.5</b></user>"],
  [{ a: undefined, b: 1 }, "<user><b>1</b></user>"],
  [{ a: [] }, "<user><a/></user>"],
  [{ a: [1, null, { b: 2 }] }, '<user><a><i>1</i><i nil="true"/><i><b>2</b></i></a></user>'],
  [{ a: { b: { c: "d" } } }, "<user><a><b><c>d</c></b></a></user>"],
  [{ a: `<&>"'` }, `<user><a>&lt;&amp;&gt;"'</a></user>`],
  [{ a: "]]>" }, "<user><a>]]&gt;</a></user>"],
  [{ a: "\r\n\t" }, "<user><a>&#13;\n\t</a></user>"],
  [{ a: "\0\x1b\ud800\uffff😀" }, "<user><a>\ufffd\ufffd\ufffd\ufffd😀</a></user>"],
  [
    { "a b": 1, "": 2, "1x": 3, "</a>": 4, 'q"': 5 },
    '<user><member name="a b">1</member><member name="">2</member><member name="1x">3</member><member name="&lt;/a&gt;">4</member><member name="q&#34;">5</member></user>',
  ],
  [{ naïve: 1 }, "<user><naïve>1</naïve></user>"],
  [{ at: new Date(0) }, "<user><at>1970-01-01T00:00:00.000Z</at></user>"],
  [{ key: new Secret("hush") }, "<user><key>[secret]</key></user>"],
  [{}, "<user/>"],
] as const) {
  test(`writes ${written.slice(0, 60)}`, () => {
    assert.equal(write(value), written);
  });
}

test("writes each item of a list as an element with the given name", () => {
  assert.equal(
    write([{ id: 1 }, { id: 2 }], "users", "user"),
    "<users><user><id>1</id></user><user><id>2</id></user></users>",
  );
  assert.equal(write([], "users", "user"), "<users/>");
});

test("writes a problem as in RFC 9457", () => {
  const text = xml.writeProblem({
    type: "/problems/invalid",
    title: "Invalid data",
    status: 400,
    detail: "The data is not valid.",
    code: "invalid",
    request_id: "r-1",
    errors: [{ pointer: "/email", code: "required", detail: "The field is required." }],
  });

  assert.equal(
    text,
    `${HEAD}<problem xmlns="urn:ietf:rfc:7807"><type>/problems/invalid</type><title>Invalid data</title><status>400</status><detail>The data is not valid.</detail>` +
      "<code>invalid</code><request_id>r-1</request_id><errors><i><pointer>/email</pointer><code>required</code><detail>The field is required.</detail></i></errors></problem>",
  );
});

const readable: readonly (readonly [text: string, value: unknown])[] = [
  ["<user><name>Ann</name></user>", { name: "Ann" }],
  ["<user/>", {}],
  ["<user>\n</user>", {}],
  ["<user nil='true'/>", null],
  ["<l:user xmlns:l='urn:x'><l:a>1</l:a><b>2</b></l:user>", { a: "1", b: "2" }],
  [
    `<user xmlns:xsi="${XSI}" xsi:schemaLocation="a b"><a xsi:nil="true"/><b xsi:nil="1"/></user>`,
    { a: null, b: null },
  ],
  ["<user xml:lang='en'><a xml:space='preserve'> x </a></user>", { a: " x " }],
  ["<user>text</user>", "text"],
  [
    '<user xmlns="urn:x"><a nil="true"/><b nil="true"></b><c nil="false"/><d/></user>',
    { a: null, b: null, c: "", d: "" },
  ],
  ["<user>\n  <a> x\n y </a>\n</user>", { a: " x\n y " }],
  ["<user><a>1\r\n2\r3&#13;</a></user>", { a: "1\n2\n3\r" }],
  ["<user><a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&amp;lt;</a></user>", { a: "<>&\"'A😀&lt;" }],
  ["<user><a>x<![CDATA[<&amp;]]]]>y<!-- no --><?pi no?>z</a></user>", { a: "x<&amp;]]yz" }],
  ["<user><a><![CDATA[]]></a></user>", { a: "" }],
  ["<user><a><b>1</b><c>2</c></a></user>", { a: { b: "1", c: "2" } }],
  ["<user><a><i>1</i><i>2</i></a></user>", { a: ["1", "2"] }],
  ["<user><i>1</i></user>", { i: "1" }],
  [
    "\ufeff<?xml version='1.0' encoding='utf-8' standalone=\"yes\"?>\n<!-- hi --><?pi x?>\n<user ><name\n>Ann</name\n></user >\n<!-- bye -->\n",
    { name: "Ann" },
  ],
  [
    "<user><toString>1</toString><constructor>2</constructor><hasOwnProperty>3</hasOwnProperty></user>",
    { toString: "1", constructor: "2", hasOwnProperty: "3" },
  ],
];

for (const [text, value] of readable) {
  test(`reads ${JSON.stringify(text).slice(0, 70)}`, () => {
    assert.deepEqual(read(text), value);
  });
}

test("returns the name of the root, and reads leaves as text", () => {
  assert.deepEqual(runAtOnce(readXML(Buffer.from("<order><id>7</id></order>"))), {
    value: { id: "7" },
    typed: false,
    element: "order",
  });
});

test("reads __proto__ as a normal member", () => {
  const value = read("<user><__proto__><admin>true</admin></__proto__></user>") as Record<string, unknown>;

  assert.ok(Object.hasOwn(value, "__proto__"));
  assert.equal(value["admin"], undefined);
});

for (const [text, detail] of [
  ["", /^The body is empty\.$/],
  [" \n", /^The body has no element\.$/],
  ["hello", /Expected an element \(line 1, column 1\)/],
  ["<!DOCTYPE user><user/>", /DTD is not accepted \(line 1, column 1\)/],
  ['<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', /DTD/],
  ['<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', /DTD/],
  ["<user><!DOCTYPE x></user>", /DTD/],
  ["<user>&bogus;</user>", /"&bogus;" is no reference/],
  ["<user>&toString;</user>", /no reference/],
  ["<user>&</user>", /no reference/],
  ["<user>&lt</user>", /no reference/],
  ["<user>&#0;</user>", /no reference/],
  ["<user>&#xD800;</user>", /no reference/],
  ["<user>&#x110000;</user>", /no reference/],
  ["<user>&#99999999999999;</user>", /no reference/],
  ["<user>\n &#;</user>", /no reference.*\(line 2, column 2\)/],
  ["<user>\u0001</user>", /does not allow \(line 1, column 7\)/],
  ["<user>\uffff</user>", /does not allow/],
  ["<user>]]></user>", /CDATA/],
  ["<user><![CDATA[x</user>", /has no end/],
  ["<user><!-- x</user>", /has no end/],
  ["<user><!-- a -- b --></user>", /'--'/],
  ["<user><?pi x</user>", /has no end/],
  ["<user><?xml version='1.0'?></user>", /not at the beginning/],
  [" <?xml version='1.0'?><user/>", /not at the beginning/],
  ["<?xml?><user/>", /not at the beginning/],
  ["<?xml version='2.0'?><user/>", /declaration is not well-formed/],
  ["<?xml version='1.0' encoding='ISO-8859-1'?><user/>", /other than UTF-8/],
  ["<?xml version='1.0' encoding='UTF-16'?><user/>", /other than UTF-8/],
  ["<a/><b/>", /Expected the end of the body/],
  ["<a></a>text", /Expected the end of the body/],
  ["<a><b></a></b>", /Expected the end of "b"/],
  ["<a></ab>", /Expected the end of "a"/],
  ["<a>", /body ends/],
  ["</a>", /name/],
  ["<1a/>", /name/],
  ["<a:b/>", /prefix of "a:b" is not bound/],
  ["<a xmlns:b='urn:x'><b:c/></a><b:d/>", /Expected the end/],
  ["<a><b xmlns:p='urn:x'/><p:c/></a>", /prefix of "p:c" is not bound/],
  ["<p:a xmlns:p='urn:x' xmlns:q='urn:x'></q:a>", /Expected the end/],
  ["<a xmlns:p=''/>", /cannot be bound/],
  ["<a xmlns:xmlns='urn:x'/>", /cannot be bound/],
  ["<a p:b='x'/>", /prefix of "p:b" is not bound/],
  ["<a xsi:nil='true'/>", /prefix of "xsi:nil" is not bound/],
  [`<a xmlns:x='${XSI}' xmlns:y='${XSI}' x:nil='true' y:nil='true'/>`, /attribute "y:nil" is given twice/],
  ["<a xmlns:p='urn:x' p:b='x'/>", /Only the attributes/],
  ["<:a/>", /Expected a name/],
  ["<a:/>", /Expected a name/],
  ["<a", /Expected '>'/],
  ["<a b/>", /Expected '='/],
  ["<a b=c/>", /quotes/],
  ["<a nil='true' nil='true'/>", /attribute "nil" is given twice/],
  ["<a nil='true'xmlns=''/>", /Expected '>'/],
  ["<a nil='maybe'/>", /Only the attributes/],
  ["<a type='x'/>", /Only the attributes/],
  ["<a xmlns='<'/>", /'<'/],
  ["<a nil='true'>x</a>", /not empty/],
  ["<user><a>1</a><b/><a>2</a></user>", /member "a" is given twice \(line 1, column 19\)/],
  ["<user><i>1</i><i>2</i></user>", /member "i" is given twice/],
  ["<user>x<a/></user>", /both text and elements/],
  ["<user><a/>x</user>", /both text and elements/],
  ["<a>".repeat(33), /more than 32 levels/],
] as const) {
  test(`refuses ${JSON.stringify(text).slice(0, 60)} with the position`, () => {
    assert.match(expectRefusal(text), detail);
  });
}

test("refuses bytes that are not UTF-8", () => {
  assert.equal(expectRefusal(Uint8Array.from([0x3c, 0x61, 0x3e, 0xff])), "The body is not valid UTF-8.");
  assert.equal(expectRefusal(Buffer.from("\ufeff<a/>", "utf16le")), "The body is not valid UTF-8.");
});

test("returns a value or throws a problem for any text", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    "/",
    "a",
    "b",
    "<a>",
    "</a>",
    "<a/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<?xml ",
    "&",
    "&amp;",
    "&#",
    ";",
    "nil",
    "=",
    "'true'",
    '"',
    " ",
    "\n",
    "<!DOCTYPE",
    "é",
    "\0",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 14 }).map((pieces) => Buffer.from(pieces.join(""))),
        fc.uint8Array({ maxLength: 40 }),
      ),
      (body) => {
        try {
          runAtOnce(readXML(body));
        } catch (error) {
          assert.ok(error instanceof Problem && error.status === 400, String(error));
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test("reads back what it wrote, for all characters of XML", () => {
  const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,12}$/);
  const text = fc
    .string({ unit: "binary" })
    .filter((each) => !/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(each));
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(text, fc.constant(null)), { noNullPrototype: true }), (record) => {
      assert.deepEqual(read(write(record)), record);
    }),
    { numRuns: 500 },
  );
});

test("refuses a body with more than 25,000 elements, comments and instructions, before it reads the end of the body", () => {
  const list = (count: number): string => `<a><l>${"<i/><!----><?p?>".repeat(count)}`;

  assert.deepEqual(read(`${list(8332)}<i/></l></a>`), { l: Array.from({ length: 8333 }, () => "") });
  assert.match(String(expectRefusal(`${list(8332)}<i/><i/><i/>`)), /more than 25000 elements, comments and processing/);
});

test("refuses long bodies that end early or have too many names, and reads other long bodies", () => {
  for (const body of refusedXML) expectRefusal(body);
  assert.deepEqual(read(`<a><b>${"&amp;".repeat(200_000)}</b></a>`), { b: "&".repeat(200_000) });
  assert.deepEqual(read(`<a><b>${"<![CDATA[]]>".repeat(80_000)}</b></a>`), { b: "" });
  assert.deepEqual(read(`<a><b>${"x".repeat(1_000_000)}</b></a>`), { b: "x".repeat(1_000_000) });
  read(`<a><l>${"<i>x</i>".repeat(20_000)}</l></a>`);
});

test("writes a long list in pieces, and each record in the same way as a single record", async () => {
  const records = Array.from({ length: 3000 }, (_, id) => ({ id, meta: { a: ["<ü>".repeat(10)] }, none: null }));
  const body = { element: "users", items: "user", jsonMembers: ["meta"] };
  const one = (value: unknown): string => String(xml.write({ ...body, element: "user", value })).slice(HEAD.length);

  const written = xml.write({ ...body, value: records });

  assert.ok(written instanceof Promise);
  assert.equal(Buffer.from(await written).toString(), `${HEAD}<users>${records.map(one).join("")}</users>`);
  assert.equal(xml.write({ ...body, value: [] }), `${HEAD}<users/>`);
});
