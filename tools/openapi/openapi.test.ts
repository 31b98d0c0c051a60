import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

// Checks the document of the running service with common tools.
const run = promisify(execFile);
const here = import.meta.dirname;
const generated = path.join(here, "generated");
const document = path.join(generated, "openapi.json");
let service: ServiceProcess;

before(async () => {
  service = await startService();
  const response = await fetch(`${service.address}/openapi.json`);
  mkdirSync(generated, { recursive: true });
  writeFileSync(document, await response.text());
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(generated, { recursive: true, force: true });
});

test("has a document that is valid OpenAPI 3.1, without warnings of redocly", async () => {
  const said = await tool("redocly", ["lint", "--config", "redocly.yaml", "--format", "json", document]);

  const { totals, problems } = JSON.parse(said) as { totals: Record<string, number>; problems: unknown[] };
  assert.deepEqual({ ...totals, problems }, { errors: 0, warnings: 0, ignored: 0, problems: [] });
});

test("generates the right types with openapi-typescript, and a client with these types works", async () => {
  const output = path.join(generated, "api.d.ts");
  await tool("openapi-typescript", [document, "--default-non-nullable=false", "--output", output]);
  assert.equal(await tool("tsc", ["-p", "tsconfig.json"]), "");

  const { stdout } = await run(process.execPath, ["client.ts"], {
    cwd: here,
    env: { ...process.env, BASE: service.address, PASSWORD: service.password },
    timeout: 20_000,
  });

  assert.deepEqual(JSON.parse(stdout), { names: ["Ann Example"], price: "12.50", code: "invalid", field: "/name" });
});

test("compiles clients of orval and Hey API under --strict", async () => {
  const folder = path.join(generated, "clients");
  await tool("orval", ["--input", document, "--output", path.join(folder, "orval.ts"), "--client", "fetch"]);
  await tool("openapi-ts", ["--input", document, "--output", path.join(folder, "hey-api")]);
  const config = { extends: "../../clients/tsconfig.json", include: ["orval.ts", "hey-api/*.ts"] };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));

  assert.equal(await tool("tsc", ["-p", folder]), "");
});

/** Runs a tool of this folder, offline. Returns its output, even if the tool reports mistakes. */
async function tool(name: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const said = run(path.join(here, "node_modules/.bin", name), args, { cwd: here, env, timeout: 60_000 });
  return said.then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout || error.stderr,
  );
}
