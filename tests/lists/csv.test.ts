import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { csv } from "../../src/door/http.ts";
import { anyone, boolean, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import { ownService, readLinks } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

const things = mount(
  defineResource({
    name: "thing",
    fields: {
      title: text({ minLength: 0, maxLength: 100, trim: false }),
      count: integer({ optional: true }),
      open: boolean({ optional: true }),
      more: json({ optional: true }),
    },
    sorts: ["title"],
  }),
  { permission: anyone },
);

const accept = { headers: { accept: "text/csv" } };

test("writes a list as CSV on request, with a header line and the same pages", async (t) => {
  const api = await serve(t);
  for (const name of ["Ann", 'Ben "B", Esq.', "Änne 😀"])
    await api.post("/users", { name, email: `${name.length}@example.org` }, api.admin);

  const first = await api.get("/users?sort=-id&limit=2&fields=id,name", {
    ...api.admin,
    accept: "text/csv",
    prefer: "count=exact",
  });
  assert.equal(first.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(first.headers.get("x-total-count"), "4");
  assert.match(first.headers.get("etag")!, /-csv"$/);
  assert.equal(first.text, 'id,name\r\n4,Änne 😀\r\n3,"Ben ""B"", Esq."\r\n');
  const next = await api.get(readLinks(first)["next"]!, { ...api.admin, accept: "text/csv" });
  assert.equal(next.text, "id,name\r\n2,Ann\r\n1,Administrator\r\n");
  assert.equal((await api.get("/users?sort=-id&limit=2&fields=id,name&format=csv", api.admin)).text, first.text);
  const conditionalHeaders = { ...api.admin, accept: "text/csv", "if-none-match": first.headers.get("etag")! };
  assert.equal((await api.get("/users?sort=-id&limit=2&fields=id,name", conditionalHeaders)).status, 304);
});

test("offers CSV only for lists, and reports errors in JSON", async (t) => {
  const api = await serve(t);
  const ask = (path: string) => api.get(path, { ...api.admin, accept: "text/csv" });

  assert.equal((await ask("/users/1")).status, 406);
  assert.equal((await api.get("/users/1?format=csv", api.admin)).status, 406);
  const made = await api.ask("POST", "/users", {
    headers: { ...api.admin, accept: "text/csv" },
    body: { name: "Ann", email: "ann@example.org" },
  });
  assert.equal(made.status, 406);
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
  const wrong = await ask("/users?limit=0");
  assert.deepEqual([wrong.status, wrong.headers.get("content-type")], [400, "application/problem+json"]);
});

test("writes CSV for QUERY too, but refuses CSV with expanded records", async (t) => {
  const api = await serve(t);
  await api.post("/orders", {}, api.admin);
  const headers = { ...api.admin, accept: "text/csv" };
  const query = async (body: object) => api.ask("QUERY", "/orders", { headers, body });

  assert.equal((await query({ fields: "id,status" })).text, "id,status\r\n1,open\r\n");
  assert.equal((await query({ fields: "status", where: { status: { eq: "paid" } } })).text, "status\r\n");
  assert.equal((await query({ expand: "items" })).status, 406);
  assert.equal((await api.get("/orders?expand=user", headers)).status, 406);
});

test("writes the header line for an empty list", async (t) => {
  const own = await ownService(t, { mounts: [things], formats: [csv()] });

  assert.equal((await own.get("/things", accept)).text, "id,title,count,open,more\r\n");
  assert.equal((await own.get("/things?fields=count,title", accept)).text, "title,count\r\n");
});

test("writes values that a CSV parser reads back, and turns formulas into plain texts", async (t) => {
  const own = await ownService(t, { mounts: [things], formats: [csv()] });
  const titles = ["", "a,b", 'say "x"', " lead", "'quoted'", "-12.50", "+44 (0)20 7946", "plain=1"];
  const formulas = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|x", " =1", "＝1"];
  for (const title of [...titles, ...formulas])
    await own.ask("POST", "/things", { body: { title, count: -3, open: false, more: { a: [1, "=2"] } } });

  const { text: written } = await own.get("/things", accept);

  const rows = parse(written, { columns: true, record_delimiter: "\r\n" }) as Record<string, string>[];
  assert.deepEqual(
    rows.map(({ title }) => title),
    [...titles, ...formulas.map((each) => `'${each}`)],
  );
  assert.deepEqual(rows[0], { id: "1", title: "", count: "-3", open: "false", more: '{"a":[1,"=2"]}' });
  assert.match(written, /^1,"",-3,false,/m);
});

test("writes no formula in the middle of a text, where some spreadsheets start a cell", async (t) => {
  const own = await ownService(t, { mounts: [things], formats: [csv()] });
  const texts = [
    ["a;=1+1;b", "a;'=1+1;b"],
    ["=1;=2", "'=1;'=2"],
    ["; +1 2", "; +1 2"],
    ["a; b = c", "a; b = c"],
  ] as const;
  for (const [title] of texts) await own.ask("POST", "/things", { body: { title } });

  const { text: written } = await own.get("/things?fields=title", accept);

  const rows = parse(written, { columns: true, record_delimiter: "\r\n" }) as Record<string, string>[];
  assert.deepEqual(
    rows.map(({ title }) => title),
    texts.map(([, safe]) => safe),
  );
});

test("writes formulas unchanged if the option `formulas` is exact", async (t) => {
  const own = await ownService(t, { mounts: [things], formats: [csv({ formulas: "exact" })] });
  await own.ask("POST", "/things", { body: { title: "=1+1" } });

  assert.equal((await own.get("/things?fields=title,count", accept)).text, "title,count\r\n=1+1,\r\n");
});
