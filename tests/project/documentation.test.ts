import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { command } from "../harness/command.ts";
import { startService } from "../harness/service-process.ts";

/**
 * A block of a page. The tests check these blocks in README.md and docs:
 * - a block of `ts` must compile, also in a docstring. A block of `ts run` also runs. `ts part` is a fragment and is
 *   not checked;
 * - a block with `file=…` shows that file, which another test runs;
 * - the blocks of `sh run` of a page run in order, as one script, against a separate service. `http://127.0.0.1:8000`
 * means that service, `$PASSWORD` its administrator's password, and `latchkey` the command on its
 * database. `NAME=value` after `sh run` is a setting of its start.
 */
interface Block {
  readonly page: string;
  readonly line: number;
  readonly info: string;
  readonly text: string;
}

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const fromSource = pathToFileURL(path.join(root, "tests/harness/from-source.ts")).href;
// Inside the repository, so that libraries are found. Not in node_modules, where Node does not strip types.
const scratch = path.join(root, "tests/.documentation");
const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root })].filter((page) =>
  existsSync(path.join(root, page)),
);
const sources = globSync("src/**/*.ts", { cwd: root });
const blocks = [...pages.flatMap(collectBlocks), ...sources.flatMap(collectExamples)];
const typescript = blocks.filter(({ info }) => info === "ts" || info === "ts run");

before(() => {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  for (const block of typescript) writeFileSync(resolveFile(block), block.text);
});

after(() => rmSync(scratch, { recursive: true, force: true }));

test("compiles the TypeScript of every page", { skip: typescript.length === 0 && "no page shows any" }, async () => {
  const settings = {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: { rootDir: root, noUnusedLocals: false },
    include: ["*.ts"],
  };
  writeFileSync(path.join(scratch, "tsconfig.json"), JSON.stringify(settings));

  const said = await run(path.join(root, "node_modules/.bin/tsc"), ["-p", scratch]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );

  assert.equal(said, "");
});

for (const block of typescript.filter(({ info }) => info === "ts run")) {
  test(`runs the program at ${block.page}:${block.line}`, async () => {
    await run(process.execPath, ["--import", fromSource, resolveFile(block)], { cwd: scratch, timeout: 120_000 });
  });
}

test("finds the target of each relative link of the pages among the packed files", async () => {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
  const packed = collectFiles(JSON.parse(stdout));
  const broken = [...pages, ...globSync("*.md", { cwd: root })].flatMap((page) =>
    collectLinks(page)
      .filter(({ file, anchor }) => !packed.has(file) || !hasAnchor(file, anchor))
      .map(({ link }) => `${page}: ${link}`),
  );

  assert.deepEqual(broken, []);
});

test("lists every page in the index of the docs, and every decision in the list of decisions", () => {
  const indexes = ["docs/README.md", "docs/decisions/README.md"];
  const named = new Set([...indexes, ...indexes.flatMap(collectLinks).map(({ file }) => file)]);

  assert.deepEqual(
    pages.filter((page) => page.startsWith("docs/") && !named.has(page.replaceAll("\\", "/"))),
    [],
  );
});

test("names the tested operating systems in the same sentence on four pages", () => {
  const sentence = "It is tested on Linux; macOS and Windows should work, and have not been tried.";
  for (const page of ["README.md", "CONTRIBUTING.md", "docs/stability.md", "docs/tutorial/shop.md"])
    assert.ok(readFileSync(path.join(root, page), "utf8").includes(sentence), page);
});

test("shows a whole file in a block that names the file", () => {
  for (const { page, line, info, text } of blocks) {
    const file = / file=(\S+)/.exec(info)?.[1];
    if (file !== undefined) assert.equal(text, readFileSync(path.join(root, file), "utf8"), `${page}:${line}`);
  }
});

for (const page of pages) {
  const commands = blocks.filter((block) => block.page === page && /^sh run\b/.test(block.info));
  if (commands.length === 0) continue;

  test(`runs the commands of ${page}`, async () => {
    const settings = commands.flatMap(({ info }) => info.split(" ").slice(2)).map((pair) => pair.split(/=(.*)/s));
    await using service = await startService(Object.fromEntries(settings));
    const script = commands.map(({ text }) => text.replaceAll("http://127.0.0.1:8000", service.address)).join("\n");

    await run("bash", ["-euxo", "pipefail", "-c", `latchkey() { "$NODE" "$COMMAND" "$@"; }\n${script}`], {
      cwd: scratch,
      env: {
        ...process.env,
        BASE: service.address,
        PASSWORD: service.password,
        NODE: process.execPath,
        COMMAND: command,
        LATCHKEY_DATABASE: `sqlite:${service.file}`,
      },
      timeout: 60_000,
    });
  });
}

/** Returns the files in the output of `npm pack --json`, which is a list of packages, or an object with them. */
function collectFiles(packages: object): ReadonlySet<string> {
  const [one] = Object.values(packages) as { readonly files: readonly { readonly path: string }[] }[];
  return new Set(one!.files.map((each) => each.path));
}

/** Returns the relative links of a page, with their files. */
function collectLinks(page: string): { link: string; file: string; anchor: string }[] {
  return [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [target = "", anchor = ""] = link.split("#");
      const file = target === "" ? page : path.posix.join(path.posix.dirname(page), target);
      return { link, file, anchor };
    });
}

/** Returns true if a file has a heading for the anchor, in the form of GitHub and the site. */
function hasAnchor(file: string, anchor: string): boolean {
  if (anchor === "" || !file.endsWith(".md")) return true;
  return [...readProse(file).matchAll(/^#+ (.*)$/gm)].some(
    ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-") === anchor,
  );
}

function readProse(page: string): string {
  return readFileSync(path.join(root, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
}

function collectBlocks(page: string): Block[] {
  const text = readFileSync(path.join(root, page), "utf8");
  return [...text.matchAll(/^```(\w.*)\n([^]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    info: match[1]!.trim(),
    text: match[2]!,
  }));
}

/** Returns the examples of docstrings. */
function collectExamples(source: string): Block[] {
  const text = readFileSync(path.join(root, source), "utf8");
  return [...text.matchAll(/^ +\* ```(ts)\n([^]*?)^ +\* ```$/gm)].map((match) => ({
    page: source,
    line: text.slice(0, match.index).split("\n").length,
    info: match[1]!,
    text: match[2]!.replaceAll(/^ +\* ?/gm, ""),
  }));
}

function resolveFile(block: Block): string {
  return path.join(scratch, `${block.page.replaceAll(/[/.]/g, "-")}-${block.line}.ts`);
}
