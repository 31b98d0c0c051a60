import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";

/**
 * Tests the first minute of a new user. Packs both packages in their published form, and installs them from these
 * files. Then checks the created project: its types, its tests, its start and its first request. The PATH contains no
 * programs of this repository.
 */
const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const place = mkdtempSync(path.join(tmpdir(), "latchkey-create-"));
const shop = path.join(place, "shop");
const environment = {
  ...process.env,
  PATH: process.env["PATH"]!.split(path.delimiter)
    .filter((directory) => !directory.startsWith(root))
    .join(path.delimiter),
  LATCHKEY_ADMIN_PASSWORD: "first-administrator",
  // If this variable were set, the tests of the project would print no report.
  NODE_TEST_CONTEXT: undefined,
};
const packed = { latchkey: "", create: "" };

async function inFolder(folder: string, command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { cwd: folder, env: environment, timeout: 300_000 });
  return stdout;
}

before(async () => {
  const pack = async (folder: string): Promise<string> => {
    const said = await inFolder(folder, "npm", "pack", "--ignore-scripts", "--json", "--pack-destination", place);
    return path.join(place, (JSON.parse(said) as readonly { filename: string }[])[0]!.filename);
  };
  packed.latchkey = await pack(root);
  packed.create = await pack(path.join(root, "create"));
});

after(() => rmSync(place, { recursive: true, force: true }));

/** Starts a script of a project and returns the URL that it prints. */
async function start(t: TestContext, folder: string, script: string): Promise<string> {
  return (await launch(t, folder, script)).url;
}

interface Running {
  readonly url: string;
  /** Reads the output until a text matches, and returns the first group of the match. */
  read(pattern: RegExp): Promise<string>;
}

async function launch(t: TestContext, folder: string, script: string): Promise<Running> {
  // A separate process group, because npm does not forward every signal.
  const child = spawn("npm", ["run", script], {
    cwd: folder,
    env: { ...environment, LATCHKEY_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  t.after(async () => {
    process.kill(-child.pid!, "SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const chunks: AsyncIterator<unknown> = child.stdout[Symbol.asyncIterator]();
  let said = "";
  async function read(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(said)?.[1];
      if (found !== undefined) return found;
      const { value, done } = await chunks.next();
      if (done === true) throw new Error(`It ended without ${String(pattern)}: ${said}`);
      said += String(value);
    }
  }
  return { url: await read(/Latchkey listens on (http:\/\/[^\s,]+)/), read };
}

test("answers the first request of a custom resource within a minute, not counting the installation", async (t) => {
  const begun = performance.now();
  const made = await inFolder(
    place,
    "npm",
    "exec",
    "--yes",
    `--package=${packed.create}`,
    "--",
    "create-latchkey",
    "shop",
    "--resource",
    "note",
  );
  const installing = performance.now();
  await inFolder(shop, "npm", "install", "--no-audit", packed.latchkey);
  const installed = performance.now();
  const url = await start(t, shop, "dev");
  const read = await fetch(`${url}/notes`);
  const answered = performance.now();

  assert.match(made, /npm run dev/);
  assert.deepEqual([read.status, await read.json()], [200, []]);
  const ms = { create: installing - begun, install: installed - installing, start: answered - installed };
  t.diagnostic(
    `seconds: ${Object.entries(ms)
      .map(([name, took]) => `${name} ${(took / 1000).toFixed(1)}`)
      .join(", ")}`,
  );
  assert.ok(ms.create + ms.start < 60_000);
});

test("starts the project as in production, and runs the examples in its README", async (t) => {
  const url = await start(t, shop, "start");
  const readme = readFileSync(path.join(shop, "README.md"), "utf8");
  const lines = readme.split("\n").filter((line) => line.startsWith("curl -"));
  const script = lines.join("\n").replaceAll("http://127.0.0.1:8000", url);

  const { stdout } = await run("bash", ["-euc", script], {
    cwd: shop,
    env: { ...environment, PASSWORD: "first-administrator" },
  });

  assert.equal(lines.length, 2);
  assert.match(stdout, /\{"id":1,"title":"The first","notes":null,"owner_id":1\}$/);
});

/** Runs the tests of a project. Its permissions.lock must be the file that the installed command writes. */
async function testProject(folder: string): Promise<void> {
  await inFolder(folder, "npm", "run", "types");
  const said = await inFolder(folder, "npm", "test");
  const lock = readFileSync(path.join(folder, "permissions.lock"), "utf8");
  await inFolder(folder, "npx", "latchkey", "prove", "--lock");

  assert.match(said, /^The permissions are those of permissions\.lock\.$/m);
  assert.match(said, /ℹ pass 4\n/);
  assert.equal(readFileSync(path.join(folder, "permissions.lock"), "utf8"), lock);
}

test("creates a project with the right types, passing tests and the lock of its permissions", async () => {
  await testProject(shop);
});

test("creates a project whose workflow passes, and compares the permissions in less than five seconds", async (t) => {
  const workflow = readFileSync(path.join(shop, ".github/workflows/check.yml"), "utf8");
  const steps = [...workflow.matchAll(/^ +- run: (.+)$/gm)].map(([, step]) => step!);

  const seconds = new Map<string, number>();
  for (const step of steps.slice(1)) {
    const timed = `{ time ${step} >/dev/null 2>&1; } 2>&1`;
    const said = await inFolder(shop, "bash", "-ec", `TIMEFORMAT='%U %S'; ${timed}`);
    const [user, system] = said.trim().split(" ").map(Number);
    seconds.set(step, user! + system!);
  }

  assert.equal(steps[0], "npm ci");
  assert.deepEqual(
    [...seconds.keys()],
    ["npm run types", "npx latchkey prove --check", "npx latchkey prove --strict", "npm test"],
  );
  t.diagnostic(`seconds of CPU: ${[...seconds].map(([step, took]) => `${step} ${took.toFixed(1)}`).join(", ")}`);
  assert.ok(seconds.get("npx latchkey prove --check")! < 5);
});

for (const [answer, file, declared, changed, change] of [
  ["--sign-up", "books.ts", "anyOf(readOnly, ", "anyOf(", "anyone may no longer read books"],
  ["--teams", "projects.ts", "update: leader", "update: member", "members of the project may now update projects"],
] as const)
  test(`creates a project with ${answer} whose tests name a changed permission, and fail`, async () => {
    const folder = path.join(place, `changed${answer}`);
    const create = ["exec", "--yes", `--package=${packed.create}`, "--", "create-latchkey"];
    await inFolder(place, "npm", ...create, `changed${answer}`, answer, "--resource", "book");
    symlinkSync(path.join(shop, "node_modules"), path.join(folder, "node_modules"));
    const source = path.join(folder, "resources", file);
    await inFolder(folder, "npm", "test");
    writeFileSync(source, readFileSync(source, "utf8").replace(declared, changed));

    const tested = inFolder(folder, "npm", "test");

    await assert.rejects(tested, ({ code, stdout }: { readonly code: number; readonly stdout: string }) => {
      assert.equal(code, 1);
      assert.ok(
        stdout.split("\n").some((line) => line.startsWith(change)),
        stdout,
      );
      assert.doesNotMatch(stdout, /ℹ pass/);
      return true;
    });
  });

for (const [login, resource] of [
  ["bearer", "order_line"],
  ["token", "box"],
  ["basic", "story"],
] as const)
  test(`creates a project with ${login} and a ${resource} with the right types, passing tests and the lock of its permissions`, async () => {
    const folder = path.join(place, login);
    const create = ["exec", "--yes", `--package=${packed.create}`, "--", "create-latchkey"];
    await inFolder(place, "npm", ...create, login, "--resource", resource, "--login", login);
    symlinkSync(path.join(shop, "node_modules"), path.join(folder, "node_modules"));

    await testProject(folder);
  });

test("creates a project in which people sign up by the link of a mail, which the terminal and a file show", async (t) => {
  const folder = path.join(place, "members");
  const create = ["exec", "--yes", `--package=${packed.create}`, "--", "create-latchkey"];
  await inFolder(place, "npm", ...create, "members", "--sign-up");
  symlinkSync(path.join(shop, "node_modules"), path.join(folder, "node_modules"));
  await testProject(folder);

  const { url, read } = await launch(t, folder, "dev");
  const post = (address: string, body: unknown): Promise<Response> =>
    fetch(`${url}${address}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  assert.equal((await post("/users", { name: "Ann", email: "ann@example.com" })).status, 202);
  const token = await read(/\/verify\?token=(\S+)\s/);
  const confirmed = await post("/api/email/confirm/", { token, password: "difference-engine" });
  const login = await post("/api/session/", { username: "ann@example.com", password: "difference-engine" });

  assert.deepEqual([confirmed.status, login.status], [201, 201]);
  assert.equal(readdirSync(path.join(folder, "mails")).filter((name) => name.endsWith(".eml")).length, 1);
});

test("creates a project with teams, whose records only members see", async (t) => {
  const folder = path.join(place, "teams");
  const create = ["exec", "--yes", `--package=${packed.create}`, "--", "create-latchkey"];
  await inFolder(place, "npm", ...create, "teams", "--teams", "--login", "basic");
  symlinkSync(path.join(shop, "node_modules"), path.join(folder, "node_modules"));
  await testProject(folder);

  const url = await start(t, folder, "dev");
  const lines = readFileSync(path.join(folder, "README.md"), "utf8").split("\n");
  const script = lines.filter((line) => line.startsWith("curl -u")).join("\n");
  const { stdout } = await run("bash", ["-euc", script.replaceAll("http://127.0.0.1:8000", url)], {
    cwd: folder,
    env: { ...environment, PASSWORD: "first-administrator" },
  });

  assert.match(stdout, /\{"id":1,"name":"Mine"\}\{"id":1,"project_id":1,"title":"The first","notes":null\}$/);
  await assert.rejects(
    inFolder(place, "npm", ...create, "groups", "--teams", "--resource", "member"),
    /member is what the teams have\. Choose another name\./,
  );
});

test("pins the versions of this release in the project exactly", () => {
  const made = JSON.parse(readFileSync(path.join(place, "bearer/package.json"), "utf8"));
  const { version, devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const { node, typescript, "@types/node": types } = devDependencies;

  assert.deepEqual(made.dependencies, { latchkey: version });
  assert.deepEqual(made.devDependencies, { "@types/node": types, node, typescript });
});

test("reports a folder that is not empty, and leaves it unchanged", async () => {
  mkdirSync(path.join(place, "full"));
  symlinkSync("nowhere", path.join(place, "full/link"));

  const create = inFolder(place, "npm", "exec", "--yes", `--package=${packed.create}`, "--", "create-latchkey", "full");

  await assert.rejects(
    create,
    /full is not empty \(link\)\. Choose another name, or an empty folder\. Nothing was written\./,
  );
});
