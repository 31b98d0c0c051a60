import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { readDescription } from "./description.ts";
import { startLibrary, type Library } from "./library.ts";

// Checks the OpenAPI document of a service with custom problems (`library.ts`), and the clients that generators make
// from it.
const run = promisify(execFile);
const here = import.meta.dirname;
const generated = path.join(here, "clients/generated");
const document = path.join(generated, "openapi.json");

/** The command of each generator, by the name of the file that uses its client. */
const generators: Readonly<Record<string, readonly [tool: string, ...args: string[]]>> = {
  "openapi-fetch": ["openapi-typescript", document, "--output", path.join(generated, "openapi-typescript.d.ts")],
  "hey-api": ["openapi-ts", "--input", document, "--output", path.join(generated, "hey-api")],
  orval: ["orval", "--input", document, "--output", path.join(generated, "orval.ts"), "--client", "fetch"],
};

before(async () => {
  const library = await startLibrary();
  const text = await (await fetch(`${library.address}/openapi.json`)).text();
  await library.close();
  mkdirSync(generated, { recursive: true });
  writeFileSync(document, text);
  for (const [tool, ...args] of Object.values(generators)) await runTool(tool, args);
});

after(() => rmSync(generated, { recursive: true, force: true }));

test("serves a document that is valid OpenAPI 3.1, without warnings of redocly", async () => {
  const said = await runTool("redocly", ["lint", "--config", "redocly.yaml", "--format", "json", document]);

  const { totals, problems } = JSON.parse(said) as { totals: Record<string, number>; problems: unknown[] };
  assert.deepEqual({ ...totals, problems }, { errors: 0, warnings: 0, ignored: 0, problems: [] });
});

test("compiles the generated clients, and code that uses them, under --strict", async () => {
  assert.equal(await runTool("tsc", ["-p", "clients"]), "");
});

for (const name of Object.keys(generators))
  test(`lets a client of ${name} read records and problems`, async () => {
    const outfile = path.join(generated, `${name}.mjs`);
    // Some generated clients need a bundler.
    await build({ entryPoints: [`clients/${name}.ts`], absWorkingDir: here, bundle: true, format: "esm", outfile });
    const library = await startLibrary();
    try {
      const { stdout } = await run(process.execPath, ["--import", "./clients/base.ts", outfile], {
        cwd: here,
        env: { ...process.env, BASE: library.address },
        timeout: 20_000,
      });

      const expected = { name: "Ann", free: "2026-02-02", isOther: false, names: ["Ann"], sent: 1 };
      assert.deepEqual(JSON.parse(stdout), expected);
    } finally {
      await library.close();
    }
  });

test("has a schema for each status that accepts only the problems with this status", async () => {
  const library = await startLibrary();
  try {
    const description = await readDescription(library.address);
    const create = description.find("POST", "/loans");
    const lend = (name: string, copy: number) => sendTo(library, { name, copy, day: "2026-02-01" });
    for (const copy of [1, 2]) assert.equal((await lend("Ann", copy)).status, 201);

    const overlapping = await description.check(create, await lend("Ben", 1));
    const third = await description.check(create, await lend("Ann", 3));

    assert.partialDeepStrictEqual(overlapping, { code: "loan_overlaps", free_from: "2026-02-02" });
    assert.partialDeepStrictEqual(third, { code: "too_many_loans", errors: [{ pointer: "/name" }] });
    for (const change of [{ code: "last_admin" }, { status: 400 }, { free_from: undefined }, { free_from: "soon" }]) {
      const other = { ...(overlapping as object), ...change };
      const reply = Response.json(other, { status: 409, headers: { "content-type": "application/problem+json" } });
      await assert.rejects(description.check(create, reply), assert.AssertionError, JSON.stringify(change));
    }
  } finally {
    await library.close();
  }
});

function sendTo({ address }: Library, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${address}/loans`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Runs a tool of this folder, offline. Returns its output, even if the tool reports mistakes. */
async function runTool(name: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const said = run(path.join(here, "node_modules/.bin", name), args, { cwd: here, env, timeout: 60_000 });
  return said.then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout || error.stderr,
  );
}
