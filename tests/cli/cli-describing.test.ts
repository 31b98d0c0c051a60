import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { permissionSentence } from "../../src/cli/commands/explain-command.ts";
import {
  administrator,
  anyOf,
  caller,
  defineResource,
  integer,
  mount,
  owner,
  readOnly,
  text,
} from "../../src/door/index.ts";
import { placeFor } from "../harness/cli.ts";
import { resolveModule } from "../harness/command.ts";
import { serve } from "../harness/serve.ts";

const doors = pathToFileURL(resolveModule("door/index")).href;
const config = `
import { administrator, anyOf, caller, defineResource, integer, mount, owner, readOnly, text } from "${doors}";
const note = defineResource({ name: "note", fields: { body: text(), owner_id: integer({ default: caller }) } });
export default {
  settings: { basePath: "/api/v1" },
  mounts: [mount(note, { permission: anyOf(readOnly, owner("owner_id"), administrator) })],
};
`;

test("lists every route of the settings and the config file with `routes`, and leaves no files", async () => {
  using place = placeFor({ LATCHKEY_SCHEMES: "basic,token", LATCHKEY_SECRET_FILE: "not.there" });
  writeFileSync(path.join(place.folder, "latchkey.config.mts"), config);

  const { out, code } = await place.run(["routes"]);
  const routes = (await place.json(["routes"])) as readonly { method: string; path: string }[];

  assert.equal(code, 0);
  assert.match(out, /^METHOD +PATH +PERMISSION +SCHEMES\n/);
  assert.match(out, /^PATCH +\/api\/v1\/notes\/\{id\} +any of \(read only, owner, administrator\) +basic token$/m);
  assert.match(out, /^GET +\/api\/v1\/livez +open +-$/m);
  assert.deepEqual(
    routes.find((each) => each.method === "DELETE" && each.path === "/api/v1/notes/{id}"),
    {
      method: "DELETE",
      path: "/api/v1/notes/{id}",
      permission: "any of (read only, owner, administrator)",
      schemes: ["basic", "token"],
    },
  );
  assert.deepEqual(readdirSync(place.folder), ["latchkey.config.mts"]);
});

test("writes the OpenAPI description to standard output or a file with `openapi`", async () => {
  using place = placeFor();
  writeFileSync(path.join(place.folder, "latchkey.config.mts"), config);

  const { out } = await place.run(["openapi"]);
  const written = await place.run(["openapi", "openapi.json"]);
  const refused = await place.run(["openapi", "nowhere/openapi.json"]);

  assert.ok("/api/v1/notes" in JSON.parse(out).paths || "/notes" in JSON.parse(out).paths, out.slice(0, 300));
  assert.deepEqual([written.code, written.out], [0, ""]);
  assert.equal(readFileSync(path.join(place.folder, "openapi.json"), "utf8"), out);
  assert.deepEqual(
    [refused.code, refused.errors],
    [1, "nowhere/openapi.json cannot be written (ENOENT). Name another file.\n"],
  );
});

test("reports that the documentation is off, and exits with 78 for a broken config file", async () => {
  using place = placeFor();
  const file = path.join(place.folder, "latchkey.config.mts");

  writeFileSync(file, "export default { without: ['documentation'] };");
  const without = await place.run(["openapi"]);
  writeFileSync(file, "export default {");
  const broken = await place.run(["routes"]);

  assert.deepEqual([without.code, broken.code], [1, 78]);
  assert.match(without.errors, /documentation is turned off/);
  assert.match(broken.errors, /latchkey\.config\.mts cannot be run\./);
});

test("explains whether the permission of a route allows the caller's request", async (t) => {
  const note = defineResource({ name: "note", fields: { body: text(), owner_id: integer({ default: caller }) } });
  const permission = anyOf(readOnly, owner("owner_id"), administrator);
  const api = await serve(t, { config: { mounts: [mount(note, { permission })] } });
  const ann = (await api.user("Ann")).headers.authorization;
  const explain = async (method: string, target: string, authorization?: string) => {
    const rawHeaders = ["Host", "localhost", ...(authorization === undefined ? [] : ["Authorization", authorization])];
    const arrival = { method, target, rawHeaders, peer: "127.0.0.1", encrypted: false };
    return permissionSentence(
      method,
      await api.service.explain({ ...arrival, readBody: async () => new Uint8Array() }),
    );
  };

  assert.equal(
    await explain("PATCH", "/notes/1", ann),
    'PATCH /notes/{id}: the permission "any of (read only, owner, administrator)" allows it (update) for rows by owner_id. Other rows are hidden: 404 not_found, and lists leave them out.',
  );
  assert.match(await explain("POST", "/notes"), /does not allow it \(create\) to an unknown caller: 401 or 403/);
  assert.match(await explain("GET", "/notes"), /allows it \(list\)\.$/);
  assert.match(await explain("GET", "/metrics", ann), /does not allow it .*: 403 permission_denied\.$/);
  assert.equal(await explain("GET", "/nowhere"), "There is no route at this path: 404 not_found.");
  assert.equal(await explain("DELETE", "/notes"), "/notes has no DELETE: 405 method_not_allowed.");
  assert.equal(await explain("GET", "/livez"), "GET /livez is open to everyone.");
  assert.match(await explain("GET", "/notes", "Basic YTpi"), /its permission is not checked/);
});

test("reports a wrong command line in whole sentences, with the probable command", async () => {
  using place = placeFor();

  const { code, errors } = await place.run(["rotes"]);

  assert.deepEqual(
    [code, errors],
    [2, "Unknown command 'rotes'. Did you mean routes? latchkey --help shows every command.\n"],
  );
});
