import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { emitDeclarations } from "../harness/declarations.ts";
import { asOlderNode, importing, tooOld } from "../harness/older-node.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const project = mkdtempSync(path.join(tmpdir(), "latchkey-package-"));
const modules = path.join(project, "node_modules");

/** The code of a user of the package: a resource and a login method. */
const consumer = `
import assert from "node:assert/strict";
import { checkNewPassword } from "latchkey/auth";
import { accepted, authenticated, createService, defineResource, integer, mount, rejected, type Scheme, text } from "latchkey";
import { sqliteStore } from "latchkey/stores";

const book = defineResource({ name: "book", fields: { title: text({ maxLength: 200 }), pages: integer({ minimum: 1 }) } });

const doorbell: Scheme = {
  name: "doorbell",
  carriers: [{ in: "header", name: "x-doorbell" }],
  authenticate: (credential) =>
    credential === "ding-dong"
      ? accepted({ id: 7, username: "ada", role: "user", scheme: "doorbell", scopes: null, expiresAt: null })
      : rejected("unknown"),
};

const service = await createService({
  store: sqliteStore({ path: ":memory:" }),
  schemes: [doorbell],
  mounts: [mount(book, { permission: authenticated })],
});

const shelf = "http://127.0.0.1/books";
const asked = await service.fetch(new Request(shelf), { peer: "127.0.0.1" });
assert.equal(asked.status, 403);
const made = await service.fetch(
  new Request(shelf, {
    method: "POST",
    headers: { "x-doorbell": "ding-dong", "content-type": "application/json" },
    body: JSON.stringify({ title: "Flatland", pages: 96 }),
  }), { peer: "127.0.0.1" });
assert.equal(made.status, 201);
assert.deepEqual(await made.json(), { id: 1, title: "Flatland", pages: 96 });
await service.close();
assert.equal(checkNewPassword("qwertyuiop", { username: "ada", email: null })?.code, "too_common");
`;

// Installs the packed files like npm, but without a registry. Links the dependencies of package.json, and Node's types
// for the compiler.
before(async () => {
  mkdirSync(path.join(modules, "latchkey"), { recursive: true });
  await run("npm", ["pack", "--silent", "--pack-destination", project], { cwd: root });
  const [tarball = ""] = globSync("*.tgz", { cwd: project });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", path.join("node_modules", "latchkey")], {
    cwd: project,
  });
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  }
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(path.join(project, "consumer.ts"), consumer);
});

after(() => rmSync(project, { recursive: true, force: true }));

test("compiles a user's program against the types of the packed package", async () => {
  const flags =
    "--strict --module nodenext --target es2024 --types node --exactOptionalPropertyTypes --noEmit consumer.ts";

  const said = await run(path.join(root, "node_modules/.bin/tsc"), flags.split(" "), { cwd: project }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );

  assert.equal(said, "");
});

test("allows TypeScript to emit declaration files for exported resources, mounts and features", async () => {
  assert.equal(await emitDeclarations(path.join(root, "node_modules/.bin/tsc"), project), "");
});

test("serves a resource behind a custom scheme from the packed package", async () => {
  await run(process.execPath, ["consumer.ts"], { cwd: project, timeout: 120_000 });
});

test("packs the files that the package needs to run, and no tests", () => {
  const files = globSync("**/*", { cwd: path.join(modules, "latchkey") });

  assert.deepEqual(
    // The package also contains the tests of the tutorial's shop and of the alerts.
    files.filter((file) => /\.test\./.test(file) && !/^(?:examples|deploy)\//.test(file)),
    [],
  );
  for (const needed of ["package.json", "README.md", "LICENSE", "dist/cli/latchkey.js"]) {
    assert.ok(files.includes(needed), `${needed} is missing`);
  }
});

test("reports the required version if an old Node imports the packed package", async () => {
  for (const door of ["latchkey", "latchkey/service", "latchkey/testing"]) {
    const { stderr } = await run(process.execPath, asOlderNode(importing(door)), { cwd: project });

    assert.equal(stderr, tooOld, door);
  }
});
