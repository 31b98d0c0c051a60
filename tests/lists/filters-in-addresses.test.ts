import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, dateTime, defineResource, integer, mount, text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";

const visit = defineResource({
  name: "visit",
  fields: { at: dateTime(), rank: integer(), title: text({ minLength: 0 }) },
  filters: { at: ["eq", "gte", "in"], rank: ["in"], title: ["in"] },
});

test("advises %2B if the plus of a time offset in an address was read as a blank", async (t) => {
  const api = await serve(t, { config: { mounts: [mount(visit, { permission: anyone })] } });
  await api.post("/visits", { at: "2026-01-01T00:00:00Z", rank: 1, title: "" });
  const hint = / In an address, \+ is a blank: write it as %2B\.$/;

  for (const query of ["at[gte]=2026-01-01T00:00:00+02:00", "at[in]=2026-01-01T00:00:00Z,2026-01-01T00:00:00+02:00"])
    assert.match((await api.get(`/visits?${query}`)).json.errors[0].detail, hint, query);
  for (const query of ["at[gte]=2026-01-01T00:00:00", "at=yesterday", "rank[in]=1+02:00"])
    assert.doesNotMatch((await api.get(`/visits?${query}`)).json.errors[0].detail, hint, query);
  assert.equal((await api.get("/visits?at[gte]=2026-01-01T00:00:00%2B02:00")).json.length, 1);
});

test("reads an empty list of values in an address as one empty value, and in QUERY as none", async (t) => {
  const api = await serve(t, { config: { mounts: [mount(visit, { permission: anyone })] } });
  for (const title of ["", "a"]) await api.post("/visits", { at: "2026-01-01T00:00:00Z", rank: 1, title });

  const response = await api.ask("QUERY", "/visits", { body: { where: { title: { in: [] } } } });

  assert.equal((await api.get("/visits?rank[in]=")).status, 400);
  assert.deepEqual(
    (await api.get("/visits?title[in]=")).json.map(({ id }: { id: number }) => id),
    [1],
  );
  assert.deepEqual(response.json, []);
});
