import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const source = path.join(import.meta.dirname, "../../src");

const doors: Readonly<Record<string, string>> = {
  latchkey: "door/index.ts",
  "latchkey/resources": "door/resources.ts",
  "latchkey/http": "door/http.ts",
  "latchkey/auth": "door/auth.ts",
  "latchkey/features": "door/features.ts",
  "latchkey/stores": "door/stores.ts",
  "latchkey/ops": "door/ops.ts",
  "latchkey/service": "service/service.ts",
  "latchkey/testing": "testing/testing.ts",
};

/** A file of a monorepo: it exports declarations that other files import, and their types are inferred. */
const product = `
import {
  accounts, administrator, anyOf, anyone, apiTokens, authenticated, caller, createService, dateTime, decimal, defineEndpoint,
  defineFeature, defineProblem, defineResource, email, enumeration, integer, json, mount, owner, problem, reference,
  scope, sessionLogin, text, tokenLogin,
} from "latchkey";

export const people = accounts({ registration: "open" });
export const logins = [sessionLogin(people), tokenLogin(people), apiTokens(people)] as const;
export const fields = { name: text(), at: dateTime({ optional: true }) };
export const branch = defineResource({ name: "branch", plural: "branches", fields });
export const branches = mount(branch, { permission: anyone });
export const loan = defineResource({
  name: "loan",
  within: branch,
  id: "uuid",
  fields: {
    owner_id: integer({ default: caller }),
    status: enumeration(["open", "paid"], { default: "open" }),
    price: decimal({ scale: 2, maximum: "99.99", optional: true }),
    mail: email({ writeOnly: true }),
    more: json({ optional: true }),
    other: reference(branch, { optional: true }),
  },
  computed: { label: { as: text(), from: ({ status }) => status } },
  filters: { status: ["eq"] },
});
export const loans = mount(loan, {
  permission: anyOf(owner("owner_id"), administrator),
  actions: { pay: { permission: authenticated, body: { reason: text() }, handle: () => ({ values: { status: "paid" } }) } },
});
export const overlaps = defineProblem({
  code: "overlaps", status: 409, title: "a", detail: "b", why: "c", cure: "d", extensions: { until: dateTime() },
});
export const refuse = () => problem(overlaps, { extensions: { until: "2026-01-01T00:00:00Z" } });
export const greet = defineEndpoint({
  method: "POST", path: "/greet/{name:text}", access: scope("greet"), body: { type: "object", properties: { a: { type: "integer" } } },
  handle: ({ body }) => ({ status: 200, body: { kind: "data", value: body.value.a ?? null, element: "a" } }),
});
export const clock = defineFeature({ name: "clock", setUp: ({ now }) => ({ offer: { now }, mounts: [loans, branches] }) });
export const start = (store: Parameters<typeof createService>[0]["store"]) => createService({ store, features: [people, clock] });
`;

/** A second file of the monorepo, which uses names of other doors (public entries of the package). */
const more = `
import { anyone, defineResource, mount, text } from "latchkey";
import { defineUsers, sameAs } from "latchkey/auth";
import { consolePages, documentation, health, metrics, outbox, rateLimits } from "latchkey/features";
import { array, date, jsonSchema, number, olderShape, references, standardSchema, updatedAt, uuid } from "latchkey/resources";
import { branch, branches, loans } from "./product.ts";

export const users = defineUsers({ fields: { nick: text({ optional: true }) }, identity: ["nick"], roles: ["user", "admin", "librarian"] });
export const shape = jsonSchema({ type: "object", properties: { lat: { type: "number" } }, required: ["lat"] });
export const place = defineResource({
  name: "place",
  fields: {
    at: standardSchema(shape),
    tags: array(text()),
    branches: references(branch),
    day: date({ optional: true }),
    size: number({ optional: true }),
    code: uuid({ optional: true }),
    changed: updatedAt(),
    nick: text({ optional: true }),
  },
});
export const places = mount(place, { permission: sameAs(users, "nick"), expand: { named: "branches" } });
export const older = olderShape(branches, { prefix: "/v1", fields: { title: "name" } });
export const events = outbox({ subscribers: [{ name: "a", to: [place, branch], deliver: () => undefined }] });
export const features = [consolePages({ title: "a" }), documentation({ title: "a", version: "1" }), health(), metrics(), events] as const;
export const limits = rateLimits({ limits: [{ name: "a", by: "address", limit: 1, windowSeconds: 1 }] });
export { anyone, loans };
`;

const config = `
import { defineConfig } from "latchkey/service";
import { clock, loans, people } from "./product.ts";

export default defineConfig({ mounts: [loans], features: [people, clock] });
`;

/** Returns a file that exports each value of one door, and the result of each of its functions. */
async function everything(name: string, file: string): Promise<string> {
  const door = (await import(path.join(source, file))) as Readonly<Record<string, unknown>>;
  const lines = Object.entries(door).map(([member, value]) =>
    typeof value === "function" && !String(value).startsWith("class")
      ? `export const made_${member} = resultOf(door.${member});`
      : `export const value_${member} = door.${member};`,
  );
  const resultOf = "declare function resultOf<R>(of: (...given: never[]) => R): R;";
  return [`import * as door from "${name}";`, resultOf, ...lines].join("\n");
}

/**
 * Emits the declarations of such files with a TypeScript compiler, in a folder whose `node_modules` has the package.
 * Returns the output of the compiler: empty if every type can be named.
 */
export async function emitDeclarations(compiler: string, folder: string): Promise<string> {
  const place = path.join(folder, "declarations");
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, "product.ts"), product);
  writeFileSync(path.join(place, "more.ts"), more);
  writeFileSync(path.join(place, "latchkey.config.ts"), config);
  for (const [name, file] of Object.entries(doors))
    writeFileSync(path.join(place, `door-${name.replace("/", "-")}.ts`), await everything(name, file));
  const options = {
    strict: true,
    module: "nodenext",
    target: "es2024",
    types: ["node"],
    exactOptionalPropertyTypes: true,
    rewriteRelativeImportExtensions: true,
    composite: true,
    outDir: "out",
    rootDir: ".",
  };
  // The product is compiled without the other files, because its types must have a name without an import of another
  // door.
  const said = [
    await compile(compiler, place, { options, include: ["latchkey.config.ts", "product.ts"] }),
    await compile(compiler, place, { options, include: ["product.ts", "more.ts", "door-*.ts"] }),
  ];
  return said.join("");
}

async function compile(
  compiler: string,
  place: string,
  settings: { options: object; include: string[] },
): Promise<string> {
  const { options: compilerOptions, include } = settings;
  const project = path.join(place, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, include }));
  return run(compiler, ["-p", project], { cwd: place }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}
