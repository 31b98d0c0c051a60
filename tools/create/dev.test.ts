import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";

// Uses the build: developers wait for its start, and a start from the source takes ten times as long.
const root = path.join(import.meta.dirname, "../..");
const command = path.join(root, "dist/cli/latchkey.js");
const password = "first-administrator";

const config = `
import { defineConfig } from "latchkey/service";
import { mountedNotes } from "./resources/notes.ts";
export default defineConfig({ mounts: [mountedNotes], without: ["orders"] });
`;
const notes = (fields = "", more = ""): string => `
import { authenticated, defineResource, integer, mount, text } from "latchkey";
const notes = defineResource({ name: "note", fields: { body: text(), ${fields} } });
${more}
export const mountedNotes = mount(notes, {
  permission: authenticated,
  beforeWrite({ draft }) {
    if (draft?.values.body === "break") throw new RangeError("broken on purpose");
    return {};
  },
});
`;

/** Creates a project on the disk, and runs `latchkey dev` in it. */
async function develop(t: TestContext, files: Readonly<Record<string, string>>, options = ["--port", "0"]) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-dev-"));
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    // Replaces the file by another one, as editors do.
    writeFileSync(path.join(folder, `${name}.new`), text);
    renameSync(path.join(folder, `${name}.new`), path.join(folder, name));
  };
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) write(name, text);
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/latchkey"));
  const child = spawn(process.execPath, [command, "dev", ...options], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_ADMIN_PASSWORD: password },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => void (said.text += chunk.toString()));
  t.after(async () => {
    if (child.exitCode === null) child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the next output that matches, and discards all output before it. */
  async function hear(pattern: RegExp): Promise<RegExpExecArray> {
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      const found = pattern.exec(said.text);
      if (found !== null) {
        said.text = said.text.slice(found.index + found[0].length);
        return found;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`Nothing like ${String(pattern)} was said, but: ${said.text}`);
  }
  return { folder, write, hear, child };
}

const json = { "content-type": "application/json" };

test("restarts with the same database and logins, explains a broken file, and asks before data is lost", async (t) => {
  const { write, hear, child } = await develop(t, { "latchkey.config.ts": config, "resources/notes.ts": notes() });
  const [, url = ""] = await hear(/Latchkey listens on (\S+),/);
  await hear(/GET +\/notes\/\{id\} +authenticated/);
  const login = await fetch(`${url}/api/session/`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ username: "admin", password }),
  });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const ask = (path: string, body?: unknown) =>
    fetch(url + path, {
      headers: { ...json, cookie },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });

  assert.equal((await ask("/notes", { body: "first" })).status, 201);
  await hear(/POST +\/notes +201 .*user 1 by session/);
  assert.equal((await ask("/notes", { body: "" })).status, 400);
  await hear(/POST +\/notes +400 .*invalid \/body The text must not be empty\./);
  assert.equal((await ask("/notes", { body: "break" })).status, 500);
  await hear(/resources\/notes\.ts:\d+\n[^]*> +\d+ \| .*RangeError\("broken on purpose"\)/);

  // A change without data loss is applied, and the login stays valid at the same URL.
  write("resources/notes.ts", notes("rank: integer({ default: 3 }),"));
  await hear(/Started again on \S+ in \d+ ms: resources\/notes\.ts changed\./);
  assert.deepEqual(await (await ask("/notes")).json(), [{ id: 1, body: "first", rank: 3 }]);

  // The previous service still runs after a change that cannot be parsed.
  write("resources/notes.ts", notes("rank: integer({ default: 3 }),", "const = 1;"));
  await hear(/SyntaxError[^]*resources\/notes\.ts:\d+[^]*The previous service still runs/);
  assert.equal((await ask("/notes")).status, 200);

  // It also still runs after a mistake in one declaration, and after a mistake that only all declarations together
  // show. Each mistake is reported once.
  write("resources/notes.ts", notes("rank: integer({ defualt: 3 }),"));
  const [slip] = await hear(/One declaration is wrong:[^]*The previous service still runs/);
  assert.equal(slip.match(/defualt; did you mean default/g)?.length, 1);
  assert.match(slip, /resources\/notes\.ts:\d+\n/);
  const strange = notes('rank: integer({ default: 3 }), by: reference("user"),').replace("text }", "reference, text }");
  write("resources/notes.ts", strange);
  await hear(/One declaration is wrong:\n- .*refers to user, which is not mounted[^]*The previous service still runs/);
  assert.equal((await ask("/notes")).status, 200);

  // The service starts again when an imported file that was missing is created.
  write("resources/notes.ts", `${notes("rank: integer({ default: 3 }),")} import "../later/words.ts";`);
  await hear(/Cannot find module[^]*The previous service still runs/);
  write("later/words.ts", "export const word = 1;");
  await hear(/Started again on/);
  assert.equal((await ask("/notes")).status, 200);

  // A change that would lose data is not applied.
  write("resources/notes.ts", notes("rank: text(),"));
  await hear(/does not fit[^]*notes\.rank[^]*integer to text[^]*Mend it/);
  write("resources/notes.ts", notes("rank: integer({ default: 3 }),"));
  await hear(/Started again on/);
  assert.deepEqual(await (await ask("/notes")).json(), [{ id: 1, body: "first", rank: 3 }]);

  child.kill("SIGTERM");
  const [status] = (await once(child, "exit")) as [number | null];

  assert.equal(status, 0);
  await assert.rejects(ask("/notes"));
});

test("reports a wrong setting at the start, and serves after its fix", async (t) => {
  const { write, hear } = await develop(t, { "latchkey.config.ts": "export default { setings: {} };" });

  await hear(/setings in the config file is unknown\. The nearest is settings; there are settings,[^]*Mend it/);
  write("latchkey.config.ts", "export default {};");

  await hear(/Latchkey listens on/);
});

test("sends mail without a setting: writes it into the project and prints its link and its code", async (t) => {
  const { folder, hear } = await develop(t, {});
  const [, url = ""] = await hear(/Latchkey listens on (\S+),/);
  const post = (path: string, body: object, headers: object = {}) =>
    fetch(url + path, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const admin = { authorization: `Basic ${btoa(`admin:${password}`)}` };
  assert.equal((await post("/users", { name: "Ann", email: "ann@example.com" }, admin)).status, 201);

  assert.equal((await post("/api/password/reset/", { email: "ann@example.com" })).status, 202);

  await hear(/Mail to ann@example\.com: Choose a new password/);
  const [, origin, token] = await hear(/^ {2}(http:\/\/\S+?)\/\S*\?token=(\S+)$/m);
  await hear(/^ {2}\d{8}$/m);
  assert.equal(origin, url);
  assert.equal(readdirSync(path.join(folder, "mails")).filter((name) => name.endsWith(".eml")).length, 1);
  const chosen = await post("/api/password/reset/confirm/", { token, password: "a new password of Ann" });
  assert.equal(chosen.status, 204);
});

test("uses a changed port of the config file at the next start, and keeps a random port", async (t) => {
  const [first, second] = [await freePort(), await freePort()];
  const at = (port: number): string => `export default { settings: { port: ${port} } };`;
  const { write, hear } = await develop(t, { "latchkey.config.ts": at(first) }, []);
  await hear(new RegExp(`Latchkey listens on http://127\\.0\\.0\\.1:${first},`));

  write("latchkey.config.ts", at(second));
  await hear(new RegExp(`Started again on http://127\\.0\\.0\\.1:${second} `));
  write("latchkey.config.ts", at(0));
  const [, drawn = ""] = await hear(/Started again on (\S+) /);
  write("latchkey.config.ts", `${at(0)}\n`);

  assert.equal((await hear(/Started again on (\S+) /))[1], drawn);
});

test("reports a used port with the fix, and listens on it when the other program ends", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  // Otherwise, this open server would keep a failed test running.
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { hear, child } = await develop(t, {}, ["--port", String(port)]);

  await hear(new RegExp(`Another program listens on 127\\.0\\.0\\.1:${port}\\. Stop it, .*--port ${port + 1}`));
  await hear(/Trying again every second, for a minute/);
  other.close();

  await hear(new RegExp(`Latchkey listens on http://127\\.0\\.0\\.1:${port},`));
  assert.equal(child.exitCode, null);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("reports an invalid port as wrong usage", async () => {
  const wrong = spawn(process.execPath, [command, "dev", "--port", "http"], { stdio: ["ignore", "ignore", "pipe"] });

  const [[status], errors] = await Promise.all([once(wrong, "exit"), wrong.stderr.toArray()]);

  assert.equal(status, 2);
  assert.match(Buffer.concat(errors).toString(), /--port http is not a port\. Write a number from 0 to 65535\./);
});
