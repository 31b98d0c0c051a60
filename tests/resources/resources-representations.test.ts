import assert from "node:assert/strict";
import test from "node:test";
import { serve } from "../harness/serve.ts";

const XML = "application/xml";
const HTML = "text/html; charset=utf-8";

test("chooses JSON, XML or HTML by Accept, and answers 406 if the caller accepts none of them", async (t) => {
  const api = await serve(t);
  const rows: readonly (readonly [accept: string, type: string | null])[] = [
    ["", "application/json"],
    ["*/*", "application/json"],
    ["application/*", "application/json"],
    ["application/json", "application/json"],
    ["APPLICATION/JSON", "application/json"],
    ["application/json; charset=utf-8", "application/json"],
    ["application/xml", XML],
    ["application/xml;q=0.5, application/json;q=0.4", XML],
    ["application/xml;q=0.5, */*;q=0.5", XML],
    ["application/json;q=0, */*", XML],
    ["text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", HTML],
    ["text/html", HTML],
    ["text/html, */*;q=0", HTML],
    ["image/png, text/*", HTML],
    ["application/json;q=0", null],
    ["image/png, text/plain", null],
  ];

  for (const [accept, type] of rows) {
    const answer = await api.get("/users/1", { ...api.admin, accept });
    assert.deepEqual(
      [answer.status, answer.headers.get("content-type")],
      type === null ? [406, "application/problem+json"] : [200, type],
      accept,
    );
  }
});

test("combines several Accept fields", async (t) => {
  const api = await serve(t);

  const answer = await api.service.respond({
    method: "GET",
    target: "/users/1",
    rawHeaders: ["Authorization", api.admin["authorization"]!, "Accept", "image/png", "accept", "application/xml"],
    peer: "127.0.0.1",
    encrypted: false,
    readBody: async () => new Uint8Array(),
  });

  assert.equal(answer.status, 200);
  assert.match(String(answer.content), /^<\?xml/);
});

test("writes and reads users in XML", async (t) => {
  const api = await serve(t);
  const inXML = { ...api.admin, accept: XML, "content-type": XML };

  const made = await api.post("/users", "<user><name>Ann &amp; Bob</name><email>ann@example.com</email></user>", inXML);
  const put = await api.put(
    "/users/2",
    "<user><id>2</id><name>&lt;Ann&gt;</name><email>ann@example.com</email></user>",
    inXML,
  );
  const patched = await api.patch("/users/2", "<user><name>Ann</name></user>", inXML);
  const list = await api.get("/users?id=2", inXML);
  const account = await api.patch("/users/2/account", "<account><active>false</active></account>", inXML);

  assert.deepEqual([made.status, made.headers.get("location")], [201, "/users/2"]);
  assert.match(made.text, /<user><id>2<\/id><name>Ann &amp; Bob<\/name><email>ann@example.com<\/email><\/user>$/);
  assert.match(put.text, /<name>&lt;Ann&gt;<\/name>/);
  assert.match(patched.text, /<name>Ann<\/name>/);
  assert.match(list.text, /<users><user><id>2<\/id><name>Ann<\/name><email>ann@example.com<\/email><\/user><\/users>$/);
  assert.match(
    account.text,
    /<account><username>ann@example.com<\/username><role>user<\/role><active>false<\/active><created_at>[^<]+<\/created_at><last_login_at nil="true"\/><\/account>$/,
  );
});

test("writes and reads orders and items in XML", async (t) => {
  const api = await serve(t);
  const inXML = { ...api.admin, accept: XML, "content-type": XML };

  const order = await api.post("/orders", "<order><status>paid</status></order>", inXML);
  const item = await api.post(
    "/orders/1/items",
    "<item><product>Key</product><quantity>2</quantity><unit_price>12.5</unit_price></item>",
    inXML,
  );

  assert.match(
    order.text,
    /<order><id>1<\/id><user_id>1<\/user_id><status>paid<\/status><created_at>[^<]+<\/created_at><\/order>$/,
  );
  assert.match(
    item.text,
    /<item><id>1<\/id><product>Key<\/product><quantity>2<\/quantity><unit_price>12.50<\/unit_price><\/item>$/,
  );
});

test("refuses XML with a DOCTYPE, an unknown entity, a repeated element, another root or wrong syntax", async (t) => {
  const api = await serve(t);
  const rows = [
    "<!DOCTYPE user><user><name>x</name><email>x@example.com</email></user>",
    '<!DOCTYPE user [<!ENTITY x SYSTEM "file:///etc/passwd">]><user><name>&x;</name><email>x@example.com</email></user>',
    "<user><name>&nbsp;</name><email>x@example.com</email></user>",
    "<order><name>x</name><email>x@example.com</email></order>",
    "<user><name>x</name><name>y</name><email>x@example.com</email></user>",
    "<user><name>x</name><email>x@example.com</email>",
    "",
    "{}",
  ];

  for (const body of rows) {
    const answer = await api.post("/users", body, { ...api.admin, "content-type": XML, accept: XML });
    assert.deepEqual([answer.status, answer.headers.get("content-type")], [400, "application/problem+xml"], body);
    assert.match(answer.text, /<code>malformed<\/code>/, body);
  }
});

test("refuses ambiguous JSON, and stores nothing", async (t) => {
  const api = await serve(t);
  const rows: readonly (string | Uint8Array)[] = [
    "",
    " ",
    "{",
    '{"name":"x","name":"y","email":"x@example.com"}',
    '{"name":"x","email":"x@example.com",}',
    '{"name":"x","email":"x@example.com"} {}',
    "{'name':'x'}",
    '{"name":"x","email":"x@example.com","n":9007199254740993}',
    '{"name":"x","email":"x@example.com","n":1e400}',
    '{"name":"\\ud800","email":"x@example.com"}',
    '{"name":"x\ty","email":"x@example.com"}',
    `{"name":"x","email":"x@example.com","n":${"[".repeat(32)}${"]".repeat(32)}}`,
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from('\ufeff{"name":"x","email":"x@example.com"}'),
    Buffer.from('{"name":"x","email":"x@example.com"}', "utf16le"),
  ];

  for (const body of rows) {
    const answer = await api.post("/users", body, { ...api.admin, "content-type": "application/json" });
    assert.deepEqual([answer.status, answer.json.code], [400, "malformed"], String(body));
  }
  for (const body of ["null", "[]", '"x"', "5", "true"]) {
    const answer = await api.post("/users", body, { ...api.admin, "content-type": "application/json" });
    assert.deepEqual([answer.json.code, answer.json.errors[0].pointer], ["invalid", ""], body);
  }
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
});

test("answers 415 to an unsupported media type, and names the sent type and the supported types", async (t) => {
  const api = await serve(t);
  const rows: readonly (readonly [method: "POST" | "PUT" | "PATCH", headers: Record<string, string>, said: RegExp])[] =
    [
      [
        "POST",
        { "content-type": "text/plain" },
        /text\/plain\. This address accepts application\/json or application\/xml, in UTF-8/,
      ],
      ["POST", { "content-type": "application/json; charset=iso-8859-1" }, /iso-8859-1/],
      ["POST", { "content-type": "application/merge-patch+json" }, /merge-patch/],
      ["POST", { "content-type": "nonsense" }, /nonsense/],
      ["POST", { "content-type": "application/json", "content-encoding": "gzip" }, /gzip/],
      ["PUT", { "content-type": "application/json-patch+json" }, /json-patch/],
      ["PATCH", { "content-type": "application/x-www-form-urlencoded" }, /x-www-form-urlencoded.*merge-patch\+json/],
    ];

  for (const [method, headers, said] of rows) {
    const answer = await api.ask(method, method === "POST" ? "/users" : "/users/1", {
      headers: { ...api.admin, ...headers },
      body: "{}",
    });
    assert.equal(answer.status, 415, said.source);
    assert.match(answer.json.detail, said);
    assert.match(
      answer.headers.get(method === "PATCH" ? "accept-patch" : method === "POST" ? "accept-post" : "accept") ?? "",
      /application\/json/,
    );
    // Only the answer to a wrong coding has Accept-Encoding, so that a caller can distinguish this mistake from a wrong
    // type (RFC 9110 §12.5.3).
    assert.equal(answer.headers.get("accept-encoding"), "content-encoding" in headers ? "identity" : null);
  }
  for (const type of ["application/json;charset=UTF-8", "Application/JSON", 'application/json; charset="utf-8"', ""]) {
    const answer = await api.patch("/users/1", "{}", { ...api.admin, "content-type": type });
    assert.equal(answer.status, 200, type);
  }
});

test("formats a problem as RFC 9457 requires, in JSON and in XML", async (t) => {
  const api = await serve(t);

  const json = await api.post("/users", { name: "", bogus: 1, "a/b~c": 1 }, { ...api.admin, "x-request-id": "r-1" });
  const inXML = await api.post(
    "/users",
    { name: "x" },
    { ...api.admin, accept: "application/problem+xml, application/xml" },
  );

  assert.equal(json.headers.get("content-type"), "application/problem+json");
  assert.deepEqual(Object.keys(json.json), ["type", "title", "status", "detail", "code", "request_id", "errors"]);
  assert.deepEqual([json.json.type, json.json.status, json.json.request_id], ["/problems/invalid", 400, "r-1"]);
  assert.deepEqual(
    json.json.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]),
    [
      ["/name", "too_short"],
      ["/email", "required"],
      ["/bogus", "unknown_field"],
      ["/a~1b~0c", "unknown_field"],
    ],
  );
  assert.equal(inXML.headers.get("content-type"), "application/problem+xml");
  assert.match(
    inXML.text,
    /<problem xmlns="urn:ietf:rfc:7807"><type>\/problems\/invalid<\/type>.*<errors><i><pointer>\/email<\/pointer>/,
  );
});

test("replaces an invalid request id", async (t) => {
  const api = await serve(t);

  for (const id of ["a b", "<script>", "x".repeat(129), "é"]) {
    const answer = await api.get("/users", { "x-request-id": id });
    assert.notEqual(answer.headers.get("x-request-id"), id);
    assert.equal(answer.json.request_id, answer.headers.get("x-request-id"));
  }
});
