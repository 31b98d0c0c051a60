import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { placeOfOptions, signatures } from "../harness/signatures.ts";
import { slips, type Slip } from "../harness/slips.ts";

const root = path.join(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-slips-"));
const file = path.join(folder, "slips.ts");
after(() => rmSync(folder, { recursive: true }));

/** The entry points of the package, as source modules. */
const doors = Object.entries(readExports(path.join(root, "package.json"))).map(([door, { default: built }]) => ({
  door,
  source: path.join(root, built.replace("./dist/", "src/").replace(/\.js$/, ".ts")),
}));
const modules = await Promise.all(
  doors.map(async ({ door, source }) => ({ door, source, module: (await import(source)) as Record<string, unknown> })),
);
const values = modules.flatMap(({ source, module }) =>
  Object.keys(module).map((name) => ({ source, name, value: module[name] })),
);
/** The exports by their names. An export of several entry points is included once. */
const named = new Map(values.map((each) => [each.name, each]));

function readExports(file: string): Readonly<Record<string, { readonly default: string }>> {
  const { exports } = JSON.parse(readFileSync(file, "utf8")) as { exports: Record<string, { default: string }> };
  return Object.fromEntries(Object.entries(exports).filter(([, { default: built }]) => built !== undefined));
}

const head = `${modules
  .map(
    ({ source }) =>
      `import { ${[...named.values()]
        .filter((each) => each.source === source)
        .map(({ name }) => name)
        .join(", ")} } from ${JSON.stringify(source)};`,
  )
  .join("\n")}
import type { Mailer, Outbox } from ${JSON.stringify(path.join(root, "src/door/features.ts"))};
import type { Feature, ServiceOptions } from ${JSON.stringify(path.join(root, "src/door/index.ts"))};
import type { Kind, Mount, StandardSchema } from ${JSON.stringify(path.join(root, "src/door/resources.ts"))};
import type { ConfigFile } from ${JSON.stringify(path.join(root, "src/service/service.ts"))};

// On SQLite alone: these services are refused before they open their store.
void [${[...named.keys()].join(", ")}];
const people = accounts();
const secret = new Secret("a secret of 32 characters or more.");
const store = sqliteStore({ path: ":memory:" });
const observe = (): void => undefined;
const never = (): never => ({}) as never;
const schema: StandardSchema<string> = { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } };
const mailOptions = { send: async (): Promise<void> => undefined, from: "a@b.example", publicURL: "https://a.example" };
const mailFeatures = (make: (box: Feature<Outbox>) => Feature<Mailer>, use?: (mails: Feature<Mailer>) => Feature): readonly Feature[] => {
  const box = outbox();
  const mails = make(box);
  return [people, box, mails, ...(use === undefined ? [] : [use(mails)])];
};
void [people, secret, store, observe, never, schema, mailOptions, mailFeatures];
const authors = defineResource({ name: "author", fields: { name: text() } });
const books = defineResource({ name: "book", fields: { title: text(), owner_id: integer() } });
const phone: Kind<string> = { name: "phone", parse: String, parseText: String, schema: {}, column: { type: "text" } };
const start = async (mounts: readonly Mount[], options: Omit<ServiceOptions, "store" | "mounts"> = {}): Promise<void> => (await createService({ store: sqliteStore({ path: ":memory:" }), mounts, ...options })).close();
const write = async (mounted: Mount, action = ""): Promise<void> => {
  const faults: unknown[] = [];
  const service = await createService({ store: sqliteStore({ path: ":memory:" }), mounts: [mounted], observe: (seen) => void ("error" in seen && faults.push(seen.error)) });
  const request = new Request("http://127.0.0.1" + mounted.resource.path + action, { method: "POST", body: action === "" ? '{"title":"a","owner_id":1}' : "{}", headers: { "content-type": "application/json" } });
  const { status } = await service.fetch(request, { peer: "127.0.0.1" });
  await service.close();
  if (status === 500) throw faults[0];
};
const readConfig = (config: ConfigFile): void => void readSettings({}, config);
void [authors, books, phone, start, write, readConfig];
`;
const firstLine = head.split("\n").length;
writeFileSync(
  file,
  `${head}${slips.map(({ code }, at) => `export const slip${at} = (): unknown => ${code};`).join("\n")}\n`,
);
const configuration = {
  extends: path.join(root, "tsconfig.json"),
  compilerOptions: {
    typeRoots: [path.join(root, "node_modules/@types")],
    paths: {},
    rewriteRelativeImportExtensions: false,
  },
  include: [],
  files: [file],
};
writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(configuration));

/** Returns the compiler's message for each mistake, by line. */
async function compile(): Promise<ReadonlyMap<number, string>> {
  const report = await new Promise<string>((resolve) => {
    const tsc = path.join(root, "node_modules/.bin/tsc");
    execFile(tsc, ["-p", folder, "--pretty", "false"], { cwd: folder, maxBuffer: 1 << 24 }, (_, output) =>
      resolve(output),
    );
  });
  const messages = new Map<number, string>();
  let line = -1;
  for (const each of report.split("\n")) {
    const start = /^slips\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(each);
    if (start !== null) line = Number(start[1]) - firstLine;
    const text = start === null ? each : start[2]!;
    if (text !== "") messages.set(line, messages.has(line) ? `${messages.get(line)}\n${text}` : text);
  }
  return messages;
}

// The highest length of a compiler message in characters, so that a terminal shows the whole message. A wrong result of
// a function (`write(…)`) may have a longer message, because the compiler also explains the path to the value.
const LONGEST = 800;
const LONGEST_WAY = 1600;

test("refuses to compile misspelled names, with a short message that contains the name", async () => {
  const messages = await compile();

  assert.deepEqual(
    slips.flatMap((slip, at) => wrongMessage(slip, messages.get(at)) ?? []),
    [],
  );
  assert.deepEqual(
    [...messages].filter(([at]) => slips[at] === undefined),
    [],
    "the compiler must report only the misspelled lines",
  );
});

function wrongMessage({ code, compiled }: Slip, message: string | undefined): string | null {
  if (compiled === null) return message === undefined ? null : `${code} does not compile: ${message}`;
  if (message === undefined) return `${code} compiles`;
  if (!compiled.test(message)) return `${code} has another message than expected: ${message}`;
  if (message.length > (code.startsWith("write(") ? LONGEST_WAY : LONGEST))
    return `${code} has too long a message: ${message}`;
  return /Symbol|import\("/.test(message) ? `${code} has a message with internal names: ${message}` : null;
}

test("refuses to start with misspelled names, and suggests the nearest one", async () => {
  const module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, () => unknown>>;
  const wrong: string[] = [];

  for (const [at, { code, started }] of slips.entries()) {
    if (started === null) continue;
    const message: unknown = await attempt(module[`slip${at}`]!).then(
      () => "it starts",
      (thrown: unknown) => (thrown instanceof Error ? thrown.message : "it throws a value that is not an Error"),
    );
    if (!started.test(String(message))) wrong.push(`${code}: ${String(message)}`);
  }

  assert.deepEqual(wrong, []);
});

test("has a misspelling for each exported function with options", () => {
  const configurable = signatures().filter((each) => placeOfOptions(each) !== -1);
  const forgotten = configurable.filter(
    ({ name }) => !slips.some(({ code }) => new RegExp(`\\b${name}\\(`).test(code)),
  );

  assert.ok(configurable.length > 60, `${configurable.length} are found`);
  assert.deepEqual(
    forgotten.map(({ name }) => name),
    [],
  );
});

async function attempt(run: () => unknown): Promise<unknown> {
  return run();
}
