// Proves each hole and its twin. SQLite alone, because the command starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import "../harness/doors-of-source.ts";
import type { Finding } from "../../src/proof/findings.ts";
import { loadConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { proveConfig } from "../harness/prove-config.ts";

const run = promisify(execFile);
const folder = path.join(import.meta.dirname, "holes");
const fromSource = path.join(import.meta.dirname, "../harness/from-source.ts");

/** The finding that each hole is made for: its caller, its request, and the field. A field of null is the whole row. */
const intended: Readonly<Record<string, readonly [caller: string, request: string, field: string]>> = {
  "action-list": ["user", "POST /notes/compare", "notes.body"],
  "action-rule": ["user", "POST /claims/3/amend", "claims.amount"],
  action: ["user", "GET /notes/digest", "notes.body"],
  archive: ["user", "POST /articles/2/archive", "articles.archived"],
  assigned: ["user", "GET /notes/4", "users.tenant"],
  "below-user": ["user", "PUT /users/2/titles", "notes.title"],
  "body-ids": ["user", "POST /batch", "notes.body"],
  "bulk-changes": ["user", "PATCH /renamed-articles", "articles.title"],
  "computed-function": ["user", "GET /people/1", "people.salary"],
  "computed-sql": ["user", "GET /people/1", "people.salary"],
  "conflict-detail": ["user", "POST /bookings", "bookings.purpose"],
  cookie: ["user-2", "GET /welcome", "notes.body"],
  encoded: ["user", "GET /backup", "notes.body"],
  endpoint: ["user", "GET /printed/1", "notes.body"],
  existence: ["user", "GET /cards/2", "patients.null"],
  expanded: ["nobody", "GET /books/1/whole", "authors.bank_account"],
  feed: ["user", "GET /events/9", "notes.body"],
  "forgotten-read": ["user", "GET /notes/1", "notes.null"],
  "forgotten-replace": ["user", "PUT /articles/2", "articles.null"],
  "forgotten-update": ["user", "PATCH /notes/1", "notes.null"],
  format: ["user", "GET /people/1", "people.salary"],
  header: ["nobody", "GET /notes", "notes.null"],
  "header-user": ["nobody", "GET /widget", "notes.body"],
  hook: ["user", "GET /people/5", "people.salary"],
  "kept-answer": ["user-2", "GET /my-notes", "notes.body"],
  "key-for-others": ["admin", "GET /notes", "notes.null"],
  membership: ["viewer-of-memberships", "PATCH /memberships/2", "memberships.role"],
  "older-shape": ["user", "GET /v1/people/1", "people.salary"],
  "open-join": ["user", "POST /memberships", "memberships.null"],
  "own-tenant": ["user", "GET /notes/2", "users.tenant"],
  prepared: ["user", "GET /exports/export-2", "notes.body"],
  purge: ["user", "POST /notes/purge", "notes.null"],
  query: ["user", "GET /printed-notes?owner_id=3", "notes.body"],
  "role-header": ["nobody", "GET /users", "users.null"],
};

/** The fields of further findings, which follow from the same hole. */
const furtherFields: Readonly<Record<string, readonly string[]>> = {
  header: ["users.null", "users.name"],
  "key-for-others": ["users.null", "passes.null"],
};

for (const [name, expected] of Object.entries(intended))
  test(`finds the hole ${name}, and nothing in its twin`, async () => {
    const place = path.join(folder, name);

    const hole = await proveConfig((await loadConfigFile(place))!);
    const twin = await proveConfig((await loadConfigFile(path.join(place, "twin")))!);

    const found = hole.findings.map(({ actor, method, path: target, resource, field }) => [
      actor,
      `${method} ${target}`,
      `${resource}.${String(field)}`,
    ]);
    assert.ok(
      found.some((each) => each.join() === expected.join()),
      found.join("\n"),
    );
    const fields = new Set(found.map(([, , field]) => field));
    const further = furtherFields[name] ?? [];
    assert.deepEqual(fields, new Set([...further, expected[2]]));
    assert.deepEqual(twin, { findings: [], not_tried: [] });
  });

/** Runs `latchkey prove --serve` in a folder, and sends the command of a finding. Returns what curl prints. */
async function sendCommand(place: string, isWanted: (finding: Finding) => boolean): Promise<string> {
  const port = String(await freePort());
  const child = spawn(process.execPath, ["--import", fromSource, command, "prove", "--json", "--serve", port], {
    cwd: place,
  });
  const ended = once(child, "exit");
  try {
    let [printed, errors] = ["", ""];
    child.stdout.on("data", (chunk) => (printed += String(chunk)));
    for await (const chunk of child.stderr) if ((errors += String(chunk)).includes(port)) break;
    const finding = (JSON.parse(printed) as { readonly findings: readonly Finding[] }).findings.find(isWanted)!;
    return (await run("sh", ["-c", finding.curl])).stdout;
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

test("prints a command that shows the value while prove --serve runs", async () => {
  const shown = await sendCommand(
    path.join(folder, "endpoint"),
    ({ actor, path: target }) => actor === "user" && target === "/printed/1",
  );

  assert.match(shown, /^\{"text":"zq[a-z]{5}"\}$/);
});

test("prints a command that stores a value as one caller and shows it to another", async () => {
  const shown = await sendCommand(
    path.join(folder, "format"),
    ({ actor, path: target }) => actor === "user" && target === "/people/1",
  );

  const { salary, left } = /^\{"id":5,.*"salary":"(?<salary>zq[a-z]{5})"\}(?<left>.*)$/s.exec(shown)!.groups!;
  assert.match(left!, new RegExp(String.raw`^\{"id":1,"name":"zq[a-z]{5}"\}\n.*\b${salary!}\b`, "s"));
});
