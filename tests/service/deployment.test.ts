import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { exits } from "../../src/cli/output.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { settingsTable } from "../../src/service/settings/table.ts";

// No container engine runs the files of the deployment in these tests. The tests compare the files with the code.

const root = path.join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const own = JSON.parse(read("package.json")) as {
  readonly bin: { readonly latchkey: string };
  readonly devDependencies: { readonly node: string };
};
const dockerfile = read("Dockerfile");
const unit = read("deploy/latchkey.service");
const compose = readYAML(read("compose.yaml")) as unknown as Compose;

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface ComposeService {
  readonly build?: { readonly args: Readonly<Record<string, string>> };
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly secrets: readonly string[];
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only: string;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

type YAML = string | readonly string[] | { readonly [key: string]: YAML };

/**
 * Parses the part of YAML that `compose.yaml` uses: maps and lists of scalars by indentation, and plain, quoted or
 * bracketed scalars.
 */
function readYAML(text: string): YAML {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .map((line) => ({ depth: line.search(/\S/), text: line.trim() }));

  function readBlock(depth: number): YAML {
    if (lines[0]?.text.startsWith("- ")) {
      const items: string[] = [];
      while (lines[0]?.depth === depth) items.push(scalar(lines.shift()!.text.slice(2)));
      return items;
    }
    const map: Record<string, YAML> = {};
    while (lines[0]?.depth === depth) {
      const line = lines.shift()!.text;
      const found = /^([\w-]+):(?: (.+))?$/.exec(line);
      assert.ok(found !== null, `a line that this parser cannot read: ${line}`);
      const [, key = "", value] = found;
      assert.equal(key in map, false, `the key ${key} is there twice`);
      const inner = lines[0]?.depth ?? 0;
      map[key] = value !== undefined ? scalar(value) : inner > depth ? readBlock(inner) : "";
    }
    return map;
  }

  const whole = readBlock(0);
  assert.deepEqual(lines, [], "lines whose indentation this parser cannot read");
  return whole;
}

function scalar(text: string): string {
  return /^".*"$/.test(text) ? (JSON.parse(text) as string) : text;
}

/** Replaces each `${NAME:-value}` by its default value. */
function withDefaults(text: string): string {
  return text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
}

function readEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/\b(LATCHKEY_[A-Z_]+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

function requireSettings(settings: Readonly<Record<string, string>>): void {
  const names = Object.keys(settings).filter((name) => name.startsWith("LATCHKEY_"));
  assert.ok(names.length > 0);
  for (const name of names) {
    const setting = Object.values(settingsTable).find((each) => each.name === name);
    assert.ok(setting !== undefined, `${name} is no setting`);
    const value = withDefaults(settings[name]!);
    if (value !== "") assert.equal("wrong" in setting.parse(value), false, `${name}=${value}`);
  }
}

test("runs the Node version of package.json in the image, as an unprivileged user that gets signals directly", () => {
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const node = `node:${own.devDependencies.node}-slim`;

  assert.match(dockerfile, new RegExp(`^ARG NODE_IMAGE=${node}$`, "m"));
  assert.deepEqual(images, Array(2).fill("${NODE_IMAGE}"));
  for (const { build } of [compose.services["latchkey"]!, compose.services["migrate"]!])
    assert.equal(withDefaults(build!.args["NODE_IMAGE"]!), node);
  assert.match(dockerfile, /^USER [1-9]\d*:[1-9]\d*$/m);
  const entrypoint = /^ENTRYPOINT (.+)$/m.exec(dockerfile)![1]!;
  assert.deepEqual(JSON.parse(entrypoint), ["node", path.posix.join("/app", own.bin.latchkey)]);
});

test("uses only existing settings in the image", () => {
  requireSettings(readEnvironment(dockerfile));
});

test("sends to the build of the image only the files that the Dockerfile copies, so that no secret is sent", () => {
  const [first, ...lines] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const sent = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) => files!.split(" "));

  assert.equal(first, "*");
  assert.deepEqual(new Set(copied), new Set(sent));
  for (const file of sent) assert.ok(existsSync(path.join(root, file)), file);
});

test("uses only existing settings in compose.yaml, and writes no secret there", () => {
  const { latchkey, migrate } = compose.services;

  requireSettings(latchkey!.environment!);
  requireSettings(migrate!.environment!);
  for (const { environment = {} } of Object.values(compose.services)) {
    for (const [name, value] of Object.entries(environment)) {
      if (/PASSWORD|SECRET|TOKEN/.test(name)) assert.match(`${name}=${value}`, /_FILE=\/run\/secrets\/\w+$/);
    }
  }
  assert.doesNotMatch(read("compose.yaml"), /:\/\/[^/\s]*:[^/\s]*@/);
  for (const name of Object.values(compose.services).flatMap(({ secrets }) => secrets))
    assert.equal(compose.secrets[name]?.file, `./secrets/${name}`);
  const made = read("docs/operation/running.md");
  for (const name of Object.keys(compose.secrets))
    assert.match(made, new RegExp(`(?:secrets/| )${name}\\b`), `docs/operation/running.md makes ${name}`);
  assert.match(read(".gitignore"), /^secrets\/$/m);
});

test("lets the services of compose.yaml write only their data and gain no rights, and opens their ports only to this machine", () => {
  for (const [name, service] of Object.entries(compose.services)) {
    assert.equal(service.read_only, "true", name);
    assert.deepEqual(service.cap_drop, ["ALL"], name);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"], name);
    // A service that ends by itself needs no health check, because other services wait for its end.
    const waited = Object.values(compose.services).map(({ depends_on }) => depends_on?.[name]?.condition);
    if (!waited.includes("service_completed_successfully")) assert.equal(service.healthcheck?.test[0], "CMD", name);
    for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/, name);
  }
});

test("gives each service of compose.yaml only the passwords that it needs, and the superuser's password only to the setup", () => {
  const passwords = Object.fromEntries(
    Object.entries(compose.services).map(([name, { secrets }]) => [
      name,
      secrets.filter((each) => each !== "latchkey_secret"),
    ]),
  );

  assert.deepEqual(passwords, {
    latchkey: ["postgres_service_password", "admin_password"],
    migrate: ["postgres_owner_password"],
    roles: ["postgres_password", "postgres_owner_password", "postgres_service_password"],
    postgres: ["postgres_password"],
  });
  const script = read("deploy/postgres-roles.sql");
  for (const [file] of script.matchAll(/\/run\/secrets\/\w+/g))
    assert.ok(compose.services["roles"]!.secrets.includes(path.basename(file)), file);
});

for (const [service, role] of [
  ["latchkey", "latchkey_service"],
  ["migrate", "latchkey_owner"],
] as const)
  test(`reads the database password of ${service} from its secret file, with any characters`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-compose-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { volumes, secrets } = compose.services[service]!;
    const mounted = volumes.find((each) => each.includes("latchkey.config.ts"))!;
    const [source = "", target] = mounted.split(":");
    for (const secret of secrets) writeFileSync(path.join(folder, secret), `p@ss/w:rd?#% of ${secret}\n`);
    const text = read(source);
    assert.ok(text.includes("`/run/secrets/${name}`"));
    const copy = path.join(folder, path.basename(source));
    writeFileSync(copy, text.replace("`/run/secrets/${name}`", `\`${folder}/\${name}\``));

    const config = ((await import(pathToFileURL(copy).href)) as { default: object }).default;
    const { database, adminPassword } = readSettings(
      { LATCHKEY_DATABASE: "", LATCHKEY_SECRET: "of thirty-two characters or more" },
      config,
    );

    assert.equal(target, "/app/latchkey.config.ts");
    assert.equal(database.kind, "postgres");
    const url = new URL(database.kind === "postgres" ? database.url.reveal().toString() : "");
    assert.equal(url.username, role);
    assert.equal(
      decodeURIComponent(url.password),
      `p@ss/w:rd?#% of ${secrets.find((each) => each.startsWith("postgres_"))}`,
    );
    assert.equal(adminPassword === null, service === "migrate");
    assert.ok(url.hostname in compose.services);
  });

test("starts the command in the systemd unit with existing settings, and does not restart it for wrong settings", () => {
  requireSettings(readEnvironment(unit));
  assert.match(unit, new RegExp(`^ExecStart=/\\S+/node \\S+${path.posix.join("/latchkey", own.bin.latchkey)}$`, "m"));
  assert.match(unit, new RegExp(`^RestartPreventExitStatus=${exits.settings}$`, "m"));
  // SIGHUP replaces the workers one after another. With LATCHKEY_WORKERS=1, it would end the service.
  assert.ok(Number(readEnvironment(unit)["LATCHKEY_WORKERS"]) > 1);
});
