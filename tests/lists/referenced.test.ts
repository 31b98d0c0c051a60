import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  authenticated,
  defineResource,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { serve, type API } from "../harness/serve.ts";

const places = defineResource({ name: "place", fields: { title: text() } });
const audits = defineResource({ name: "audit", fields: { place: reference(places), owner_id: reference("users") } });
const tours = defineResource({ name: "tour", fields: { stops: references(places, { minItems: 1 }) } });
const trips = defineResource({
  name: "trip",
  fields: { stops: references(places, { minItems: 1, onDelete: "remove" }) },
});

const others = "The record is still referenced by others.";

/** Creates a service in which every user may delete places, but only some may see the records that refer to them. */
async function start(t: TestContext, permission: Permission<"owner_id", "owner_id">): Promise<API> {
  const mounts = [
    mount(places, { permission: authenticated }),
    mount(audits, { permission }),
    ...[tours, trips].map((each) => mount(each, { permission: administrator })),
  ];
  return serve(t, { config: { mounts } });
}

const referring = [
  { path: "/audits", body: { place: 1, owner_id: 1 }, told: "The record is still referenced by audits." },
  { path: "/tours", body: { stops: [1] }, told: "The record is still referenced by tours." },
  {
    path: "/trips",
    body: { stops: [1] },
    told: "The record is still referenced by trips, whose stops need 1 at least.",
  },
];

for (const { path, body, told: detail } of referring)
  test(`names the records that refer to a record only to callers who may list them: ${path}`, async (t) => {
    const api = await start(t, administrator);
    const ann = await api.user("Ann");
    await api.post("/places", { title: "Rome" }, api.admin);
    assert.equal((await api.post(path, body, api.admin)).status, 201);

    const [seen, unseen] = [await api.delete("/places/1", api.admin), await api.delete("/places/1", ann.headers)];

    assert.deepEqual([seen.status, seen.json.code, seen.json.detail], [409, "referenced", detail]);
    assert.deepEqual([unseen.status, unseen.json.code, unseen.json.detail], [409, "referenced", others]);
  });

test("names the records that refer to a record to a caller who may list some of them", async (t) => {
  const api = await start(t, anyOf(owner("owner_id"), administrator));
  const ann = await api.user("Ann");
  await api.post("/places", { title: "Rome" }, api.admin);
  await api.post("/audits", { place: 1, owner_id: 1 }, api.admin);

  const response = await api.delete("/places/1", ann.headers);

  assert.equal(response.json.detail, "The record is still referenced by audits.");
});

test("names no referring records to a caller with a key that may not read", async (t) => {
  const api = await start(t, authenticated);
  await api.post("/places", { title: "Rome" }, api.admin);
  await api.post("/audits", { place: 1, owner_id: 1 }, api.admin);
  const { json } = await api.post("/users/1/keys", { name: "program", scopes: ["write"] }, api.admin);

  const response = await api.delete("/places/1", { authorization: `Token ${json.key}` });

  assert.deepEqual([response.status, response.json.detail], [409, others]);
});
