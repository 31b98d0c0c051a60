import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { anyone, defineResource, mount } from "../../src/door/index.ts";
import { defineField, Flaw, uuid } from "../../src/door/resources.ts";
import { onPostgres } from "../harness/existing.ts";

const { kind } = uuid();
/** A version of `uuid` that refuses the UUID of zeros. */
const used = defineField(
  {
    ...kind,
    name: "used-uuid",
    parse: (value) => (/^[0-]+$/.test(String(value)) ? new Flaw("invalid", "It is not used.") : kind.parse(value)),
  },
  {},
);

onPostgres(
  "serves a column of type uuid with a kind of the project that has that format",
  "CREATE TABLE device (id integer PRIMARY KEY, code uuid NOT NULL);",
  async ({ serve, sql }) => {
    const code = randomUUID();
    await sql(`INSERT INTO device VALUES (1, '${code}')`);
    const devices = defineResource({
      name: "device",
      table: "device",
      fields: { code: used },
      filters: { code: ["eq"] },
    });

    const api = await serve(mount(devices, { permission: anyone }));

    assert.deepEqual((await api.get(`/devices?code=${code.toUpperCase()}`)).json, [{ id: 1, code }]);
    assert.equal((await api.get("/devices?code=unknown")).status, 400);
  },
);
