import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { packageName, toPlural, resourceMistake, toTitle, type Plan } from "../../create/src/names.ts";
import { projectFiles, writeProject } from "../../create/src/project.ts";

// `npm run verify -- create` makes projects with the packed packages and runs them. This file tests the parts that need
// no installation.
const root = path.join(import.meta.dirname, "../..");
const versions = { latchkey: "1.2.3", node: "26.0.0", typescript: "7.0.0", nodeTypes: "26.0.0" };
const plan: Plan = {
  folder: "shop",
  name: "shop",
  title: "Shop",
  resource: "order_line",
  login: "bearer",
  signUp: false,
  teams: false,
};

/** A lock of the template, in short. */
const lock = `# Who may do what.

admin may create books
anyone may list books

the user in user_id may list members in projects, if they may read the project

any logged-in user may list projects

admin may list users

anyone may call GET /docs
`;

function emptyPlace(t: TestContext): string {
  const place = mkdtempSync(path.join(tmpdir(), "latchkey-new-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

test("creates every file of the template, with the resource of the plan", (t) => {
  const folder = path.join(emptyPlace(t), "shop");
  const files = projectFiles(plan, versions, lock);

  writeProject(folder, files);

  assert.deepEqual(filesIn(folder), [
    ".dockerignore",
    ".github/workflows/check.yml",
    ".gitignore",
    "Dockerfile",
    "README.md",
    "latchkey.config.ts",
    "package.json",
    "permissions.lock",
    "resources/order-lines.ts",
    "tests/order-lines.test.ts",
    "tsconfig.json",
  ]);
  for (const [name, text] of files)
    assert.doesNotMatch(
      text,
      /\bbooks?\b|mountedBooks|My API|my-api|[A-Z]+_VERSION|HOW_TO|HOW_TEAMS|FIRST_REQUEST|["]session["]/,
      name,
    );
  assert.deepEqual(readdirSync(path.dirname(folder)), ["shop"]);
});

test("creates a project with teams: projects, members, and the resource of the plan within them", () => {
  const files = projectFiles({ ...plan, teams: true, signUp: true }, versions, lock);

  const added = [...files.keys()].filter((name) => !projectFiles(plan, versions, lock).has(name));
  assert.deepEqual(added, ["resources/projects.ts"]);
  for (const [name, text] of files)
    assert.doesNotMatch(
      text,
      /\bbooks?\b|mountedBooks|owner_id|My API|my-api|[A-Z]+_VERSION|HOW_TO|HOW_TEAMS|FIRST_REQUEST|["]session["]/,
      name,
    );
  assert.match(files.get("resources/order-lines.ts")!, /permission: memberOf\(members\)/);
  assert.match(files.get("latchkey.config.ts")!, /registration: "verified"/);
  assert.match(files.get("README.md")!, /-d '\{"project_id":1,[^]*resources\/projects\.ts/);
});

test("writes the section of a resource into permissions.lock at its place", () => {
  const lockOf = (resource: string): readonly string[] =>
    projectFiles({ ...plan, resource }, versions, lock)
      .get("permissions.lock")!
      .split("\n\n");

  const [head, books, members, projects, users, endpoints] = lock.split("\n\n");
  const own = (plural: string): string => books!.replaceAll("books", plural);
  assert.deepEqual(lockOf("book"), lock.split("\n\n"));
  assert.deepEqual(lockOf("order_line"), [head, members, own("order_lines"), projects, users, endpoints]);
  assert.deepEqual(lockOf("story"), [head, members, projects, own("stories"), users, endpoints]);
  assert.deepEqual(lockOf("zebra"), [head, members, projects, users, own("zebras"), endpoints]);
});

test("writes into a folder that contains only .git, and leaves a folder with other files unchanged", (t) => {
  const place = emptyPlace(t);
  mkdirSync(path.join(place, ".git"));

  writeProject(place, projectFiles(plan, versions, lock));
  assert.ok(existsSync(path.join(place, "package.json")));

  writeFileSync(path.join(place, "package.json"), "mine");
  assert.throws(() => writeProject(place, projectFiles(plan, versions, lock)), /is not empty .*Nothing was written/);
  assert.equal(readFileSync(path.join(place, "package.json"), "utf8"), "mine");
  assert.throws(
    () => writeProject(path.join(place, "package.json"), new Map()),
    /is no folder that can be read \(ENOTDIR\)/,
  );
});

test("writes nothing if it cannot write everything", (t) => {
  const place = emptyPlace(t);
  const empty = path.join(place, "empty");
  mkdirSync(empty);
  const broken = new Map([
    ["resources/a.ts", "1"],
    ["b.ts", "2"],
    // This file needs a folder `b.ts`, but the file above has that name.
    ["b.ts/c.ts", "3"],
  ]);

  for (const folder of [empty, path.join(place, "fresh")])
    assert.throws(() => writeProject(folder, broken), /cannot be written \(E\w+\)\..*Nothing was made\./);

  assert.deepEqual(readdirSync(place), ["empty"]);
  assert.deepEqual(readdirSync(empty), []);
});

test(
  "reports a place without write permission",
  { skip: process.getuid?.() === 0 && "root may write everywhere" },
  (t) => {
    const place = emptyPlace(t);
    chmodSync(place, 0o500);

    assert.throws(
      () => writeProject(path.join(place, "shop"), projectFiles(plan, versions, lock)),
      /You may not write there/,
    );
  },
);

test("turns any folder name into a name that npm accepts", () => {
  assert.equal(packageName("Größe & Co"), "grosse-co");
  assert.equal(packageName("..."), "");
  assert.deepEqual([toTitle("my-api"), toTitle("Größe & Co")], ["My API", "Größe & Co"]);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (folder) =>
      /^(?:[a-z0-9]+(?:-[a-z0-9]+)*-?)?$/.test(packageName(folder)),
    ),
  );
});

test("accepts only words as names of resources, and forms English plurals", () => {
  assert.deepEqual(["book", "story", "day", "box", "branch", "bus"].map(toPlural), [
    "books",
    "stories",
    "days",
    "boxes",
    "branches",
    "buses",
  ]);
  for (const name of ["book", "order_line", "a1"]) assert.equal(resourceMistake(name), null);
  for (const name of [
    "",
    "Book",
    "order-line",
    "_x",
    "x_",
    "user",
    "class",
    "thi",
    "owner",
    "1a",
    "b".repeat(41),
    "a b",
    "../x",
  ])
    assert.notEqual(resourceMistake(name), null, name);
});

test("writes a title of any text into the config file unchanged", () => {
  const title = `$&"); process.exit(1); ("\\`;

  const config = projectFiles({ ...plan, title }, versions, lock).get("latchkey.config.ts")!;

  assert.ok(config.includes(`title: ${JSON.stringify(title)}, version`), config);
});

test("turns sign-up on in a project whose plan has `signUp`, with mails as files", () => {
  const files = projectFiles({ ...plan, signUp: true }, versions, lock);
  const config = files.get("latchkey.config.ts")!;

  assert.match(
    config,
    /settings: \{\n    schemes: \["bearer"\],[^]*registration: "verified",[^]*mailURL: "file:mails",/,
  );
  assert.match(files.get("README.md")!, /## How people sign up\n[^]*## Files/);
  assert.match(files.get(".gitignore")!, /^mails\/$/m);
  assert.match(files.get(".dockerignore")!, /^mails$/m);
  assert.doesNotMatch(projectFiles(plan, versions, lock).get("latchkey.config.ts")!, /registration|mail/);
});

test("uses the version of this release for create-latchkey", () => {
  const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8"));

  assert.equal(read("create/package.json").version, read("package.json").version);
});
