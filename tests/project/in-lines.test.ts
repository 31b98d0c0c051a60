import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

// Verified sign-ups, resets, passkeys, TOTP and a company login fit into few lines, which run as the page shows them.

const root = path.join(import.meta.dirname, "../..");
const page = readFileSync(path.join(root, "docs/sign-up-and-passwords.md"), "utf8");

/** Returns the first block of a language after a heading. */
function readBlock(heading: string, language: string): string {
  const section = page.slice(page.indexOf(`## ${heading}\n`));
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(section)![1]!;
}

function countLines(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

/** Prints the status of one request for each part of the accounts. */
const asking = `
const ask = async (method, path, body) =>
  (await service.fetch(new Request("https://shop.example" + path, {
    method, headers: { "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }))).status;
console.log(JSON.stringify([
  await ask("POST", "/users", { name: "Ada", email: "ada@example.com" }),
  await ask("POST", "/api/email/confirm/", { token: "wrong", password: "difference-engine" }),
  await ask("POST", "/api/password/reset/", { email: "ada@example.com" }),
  await ask("POST", "/api/login/code/", { email: "ada@example.com" }),
  await ask("POST", "/api/login/passkey/"),
  await ask("GET", "/users/1/factors"),
  await ask("GET", "/api/login/providers/"),
]));
await service.close();
`;
/** `factors` is the status of an unknown caller: 401, or 403 if no login of the service has a challenge. */
const answered = (factors: number) => [202, 400, 202, 202, 200, factors, 200];

/** Runs a program in a folder with these files, and returns the statuses that it prints. */
async function collectStatuses(name: string, files: Readonly<Record<string, string>>): Promise<readonly number[]> {
  // Inside the repository, so that libraries are found.
  const folder = path.join(root, "tests/.in-lines", name);
  mkdirSync(folder, { recursive: true });
  try {
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text, { mode: 0o600 });
    const fromSource = pathToFileURL(path.join(root, "tests/harness/from-source.ts")).href;
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", fromSource, "run.ts"], {
      cwd: folder,
      timeout: 60_000,
    });
    return JSON.parse(stdout.trim().split("\n").at(-1)!);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("sets up all accounts for people in 15 lines of the ready-made service", async () => {
  const config = readBlock("In the ready-made service", "ts");
  const providers = readBlock("In the ready-made service", "json");
  assert.ok(
    countLines(config) + countLines(providers) <= 15,
    `${countLines(config)} and ${countLines(providers)} lines`,
  );

  const run = `
    import { createLatchkey, loadConfigFile, readSettings } from "latchkey/service";
    const config = await loadConfigFile(".");
    const service = await createLatchkey({ config, settings: readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" }, config) });
    ${asking}`;
  const files = {
    "latchkey.config.ts": config,
    "providers.json": providers,
    "company.secret": "a secret",
    "run.ts": run,
  };
  assert.deepEqual(await collectStatuses("service", files), answered(401));
});

test("sets up all accounts for people in 35 lines of the toolkit", async () => {
  const program = readBlock("In your own service", "ts run");
  assert.ok(countLines(program) <= 35, `${countLines(program)} lines`);

  const run = program.replace("await service.close();\n", asking);
  assert.notEqual(run, program);
  assert.deepEqual(await collectStatuses("toolkit", { "run.ts": run }), answered(403));
});
