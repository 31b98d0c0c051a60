import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, beforeEach, test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { selfSigned } from "../../../tests/harness/self-signed.ts";
import { startTogether, waitForOthers } from "../../../tests/harness/start-together.ts";
import { Secret } from "../../door/index.ts";
import type { ConfigFile } from "./config-file/config-file.ts";
import { ConfigError, readSettings, type Settings } from "./settings.ts";
import { settingsTable, type Setting } from "./table.ts";

type Environment = Record<string, string | undefined>;

const root = path.join(import.meta.dirname, "../../..");
const place = mkdtempSync(path.join(tmpdir(), "latchkey-settings-"));
const longSecret = "correct-horse-battery-staple-and-more";
let folder = "";
let count = 0;

beforeEach(() => {
  folder = path.join(place, String(++count));
  mkdirSync(folder);
});

after(() => rmSync(place, { recursive: true, force: true }));

function inMemory(environment: Environment = {}, config?: ConfigFile): Settings {
  return readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment }, config);
}

function collectProblems(environment: Environment, config?: ConfigFile): readonly string[] {
  try {
    inMemory(environment, config);
  } catch (error) {
    assert.ok(error instanceof ConfigError, inspect(error));
    assert.ok(error.problems.length > 0);
    assert.equal(error.message, error.problems.join("\n"));
    return error.problems;
  }
  return [];
}

function requireOnlyProblem(environment: Environment, config?: ConfigFile): string {
  const problems = collectProblems(environment, config);
  assert.equal(problems.length, 1, problems.join("\n"));
  return problems[0]!;
}

function inFolder(name: string, text: string | Uint8Array, mode = 0o600): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

test("returns the defaults for a service on loopback, with the schemes that need no further settings", () => {
  const settings = inMemory();

  const { secret, ...rest } = settings;
  assert.ok(secret instanceof Secret);
  assert.deepEqual(rest, {
    host: "127.0.0.1",
    port: 8000,
    database: { kind: "sqlite", path: ":memory:" },
    secretFile: null,
    secretIsNew: true,
    adminUsername: "admin",
    adminPassword: null,
    schemes: ["basic", "session", "token", "bearer"],
    customToken: null,
    trustedProxies: [],
    allowedOrigins: [],
    hsts: "host",
    remoteUser: { header: "X-Remote-User", secret: null, create: false, level: 1, trustEmail: false },
    passkeyRpId: "localhost",
    secondFactor: "optional",
    outsideCredentialsSeconds: 2_592_000,
    accessSeconds: 300,
    refreshSeconds: 604_800,
    refreshFamilySeconds: 2_592_000,
    refreshGraceSeconds: 10,
    rotatesRefreshTokens: true,
    cleartextLogins: "refuse",
    sessionIdleSeconds: 86_400,
    sessionSeconds: 1_209_600,
    signingKeysFile: null,
    issuers: [],
    identityProviders: [],
    workers: 1,
    tls: null,
    publicURL: null,
    issuer: "latchkey",
    basePath: "",
    look: {},
    cookiePrefix: "",
    compression: true,
    handlerTimeoutSeconds: 60,
    connectionsPerAddress: 1000,
    passwordCost: { memoryKiB: 19_456, passes: 2, lanes: 1 },
    breachedPasswordsURL: null,
    log: "info",
    mail: null,
    registration: "closed",
    loginCodes: "off",
  });
});

test("reads every setting from the environment", () => {
  const settings = inMemory({
    LATCHKEY_HOST: "::",
    LATCHKEY_PORT: "0",
    LATCHKEY_DATABASE: "postgres://ann:pw@db.example:5432/latchkey?sslmode=require",
    LATCHKEY_SECRET: longSecret,
    LATCHKEY_ADMIN_USERNAME: "root@example.com",
    LATCHKEY_ADMIN_PASSWORD: " spaces count here ",
    LATCHKEY_SCHEMES: "remote-user, custom-header,",
    LATCHKEY_CUSTOM_TOKEN: "of 32 visible characters or more.".replaceAll(" ", "-"),
    LATCHKEY_CUSTOM_TOKEN_USERNAME: "machine",
    LATCHKEY_TRUSTED_PROXIES: "10.0.0.0/8, ::1,unix",
    LATCHKEY_ALLOWED_ORIGINS: "https://app.example, http://localhost:5173,capacitor://localhost",
    LATCHKEY_HSTS: "subdomains",
    LATCHKEY_REMOTE_USER_HEADER: "X-Forwarded-User",
    LATCHKEY_REMOTE_USER_SECRET: "shared-with-the-proxy",
    LATCHKEY_REMOTE_USER_CREATE: "true",
    LATCHKEY_ACCESS_SECONDS: "60",
    LATCHKEY_REFRESH_SECONDS: "120",
    LATCHKEY_REFRESH_FAMILY_SECONDS: "180",
    LATCHKEY_REFRESH_GRACE_SECONDS: "1",
    LATCHKEY_SESSION_IDLE_SECONDS: "30",
    LATCHKEY_SESSION_SECONDS: "30",
    LATCHKEY_WORKERS: "64",
    LATCHKEY_PUBLIC_URL: "https://API.example:443/v1/",
    LATCHKEY_LOG: "debug",
  });

  assert.equal(settings.host, "::");
  assert.equal(settings.port, 0);
  assert.ok(settings.database.kind === "postgres");
  assert.equal(settings.database.url.reveal().toString(), "postgres://ann:pw@db.example:5432/latchkey?sslmode=require");
  assert.ok(settings.secret.equals(longSecret));
  assert.equal(settings.secretFile, null);
  assert.equal(settings.adminUsername, "root@example.com");
  assert.equal(settings.adminPassword?.reveal().toString(), " spaces count here ");
  assert.deepEqual(settings.schemes, ["remote-user", "custom-header"]);
  assert.ok(settings.customToken?.token.equals("of 32 visible characters or more.".replaceAll(" ", "-")));
  assert.equal(settings.customToken?.username, "machine");
  assert.deepEqual(settings.trustedProxies, ["10.0.0.0/8", "::1", "unix"]);
  assert.deepEqual(settings.allowedOrigins, ["https://app.example", "http://localhost:5173", "capacitor://localhost"]);
  assert.equal(settings.remoteUser.header, "X-Forwarded-User");
  assert.ok(settings.remoteUser.secret?.equals("shared-with-the-proxy"));
  assert.equal(settings.remoteUser.create, true);
  assert.deepEqual(
    [settings.accessSeconds, settings.refreshSeconds, settings.refreshFamilySeconds, settings.refreshGraceSeconds],
    [60, 120, 180, 1],
  );
  assert.deepEqual([settings.sessionIdleSeconds, settings.sessionSeconds, settings.workers], [30, 30, 64]);
  assert.equal(settings.publicURL, "https://api.example/v1");
  assert.equal(settings.issuer, "https://api.example/v1");
  assert.equal(settings.log, "debug");
});

test("uses LATCHKEY_ISSUER and not the public address as the issuer", () => {
  const settings = inMemory({ LATCHKEY_PUBLIC_URL: "https://api.example", LATCHKEY_ISSUER: "our-issuer" });

  assert.equal(settings.issuer, "our-issuer");
});

const refused: readonly (readonly [name: string, ...values: readonly string[]])[] = [
  [
    "LATCHKEY_HOST",
    "a b",
    "[::1]",
    "127.0.0.1:80",
    "http://x",
    "256.1.1.1",
    "127.1",
    "-a",
    "a..b",
    "a.",
    "x".repeat(254),
    " ",
  ],
  ["LATCHKEY_PORT", "80a", "-1", "65536", "08000", "1e3", "0x50", "8000.0", " 8000", "8000\r", "9".repeat(400)],
  [
    "LATCHKEY_DATABASE",
    "latchkey.db",
    "sqlite:",
    "sqlite::memory",
    "sqlite:://",
    "sqlite:///x.db",
    "sqlite:file:x?mode=memory",
  ],
  [
    "LATCHKEY_DATABASE",
    "mysql://x",
    "postgres:",
    "postgres://",
    "postgres://a b",
    "postgres://h:99999/x",
    "sqlite:a\0b",
    "sqlite:folder/",
  ],
  [
    "LATCHKEY_SECRET",
    "short",
    "x".repeat(31),
    "x".repeat(64),
    "abcdefg".repeat(8),
    ` ${longSecret}`,
    `${longSecret}\0`,
  ],
  ["LATCHKEY_ADMIN_USERNAME", "a:b", " a", "x".repeat(151), "a\nb"],
  [
    "LATCHKEY_ADMIN_PASSWORD",
    "short",
    "password",
    "x".repeat(257),
    "with\0control",
    "Latchkey",
    "admin@example.invalid",
  ],
  ["LATCHKEY_SCHEMES", "basic,jwt", "Basic", "basic,basic", ",", "__proto__"],
  [
    "LATCHKEY_TRUSTED_PROXIES",
    "10.0.0.0/33",
    "proxy.example",
    "0.0.0.0/0",
    "*",
    "0.0.0.0/1,128.0.0.0/1",
    "::/1,8000::/2,::/0",
    "2000::/4,3000::/4",
    "1.0.0.0/8,2.0.0.0/7,4.0.0.0/6,8.0.0.0/5,16.0.0.0/4,32.0.0.0/3,64.0.0.0/2,128.0.0.0/1",
    "::ffff:0.0.0.0/97,128.0.0.0/1",
  ],
  ["LATCHKEY_COOKIE_PREFIX", "a b", "__Host-", "-shop", "shop;", "é", "x".repeat(41)],
  [
    "LATCHKEY_ALLOWED_ORIGINS",
    "*",
    "null",
    "https://app.example/",
    "app.example",
    "https://app.example/x",
    "https://App.example",
    "https://app.example:443",
    "ftp://app.example",
    "https://*.example",
    "https://a@app.example",
    "https://app.example?",
    "capacitor://localhost/",
    "file:///",
  ],
  ["LATCHKEY_ACCESS_SECONDS", "0", "-5", "1.5", "86401", "5m"],
  ["LATCHKEY_REFRESH_SECONDS", "0", "99999999999"],
  ["LATCHKEY_REFRESH_FAMILY_SECONDS", "0", "31622401"],
  ["LATCHKEY_REFRESH_GRACE_SECONDS", "0", "301"],
  ["LATCHKEY_SESSION_IDLE_SECONDS", "0", "x"],
  ["LATCHKEY_SESSION_SECONDS", "0", "31622401"],
  ["LATCHKEY_SIGNING_KEYS", "no/such/file", " "],
  ["LATCHKEY_WORKERS", "0", "65", "auto"],
  [
    "LATCHKEY_PUBLIC_URL",
    "api.example",
    "https://api.example?x=1",
    "https://api.example/#x",
    "ftp://api.example",
    "https://ann:pw@api.example",
    "https://",
    "//api.example",
    "https:\\\\api.example",
  ],
  ["LATCHKEY_ISSUER", " x", "a\nb", "x".repeat(256)],
  ["LATCHKEY_HSTS", "on", "includeSubDomains"],
  ["LATCHKEY_LOG", "verbose", "INFO"],
];

for (const [name, ...values] of refused) {
  for (const value of values) {
    test(`refuses ${JSON.stringify(value.slice(0, 40))} for ${name}`, () => {
      const problem = requireOnlyProblem({ [name]: value });

      assert.ok(problem.startsWith(name), problem);
      assert.ok(problem.length < 600, problem);
    });
  }
}

test("reports the spelling that browsers use for an origin that is spelled differently", () => {
  assert.match(
    requireOnlyProblem({ LATCHKEY_ALLOWED_ORIGINS: "https://App.example:443/" }),
    /Write https:\/\/app\.example\.$/,
  );
});

test("reports each wrong entry of a list", () => {
  assert.equal(collectProblems({ LATCHKEY_ALLOWED_ORIGINS: "*,https://app.example,null" }).length, 2);
  assert.equal(collectProblems({ LATCHKEY_TRUSTED_PROXIES: "x,10.0.0.1,y" }).length, 2);
  assert.equal(collectProblems({ LATCHKEY_SCHEMES: "jwt,basic,basic" }).length, 2);
});

test("reports all mistakes together", () => {
  const environment = { LATCHKEY_PORT: "x", LATCHKEY_LOG: "x", LATCHKEY_FOO: "1", LATCHKEY_TLS_CERT: "none.pem" };

  assert.throws(
    () => inMemory(environment, { settings: { workers: 0 } }),
    (error: unknown) => error instanceof ConfigError && error.problems.length === 6,
  );
});

test("reports mistakes in other settings together with an unknown scheme", () => {
  const problems = collectProblems({ LATCHKEY_SCHEMES: "basik,custom-header,remote-user" });

  const [wrong, ...missing] = problems;
  assert.match(wrong!, /"basik", which is not a scheme/);
  assert.deepEqual(
    missing.map((each) => /LATCHKEY_(?!SCHEMES)\w+/.exec(each)![0]),
    ["LATCHKEY_TRUSTED_PROXIES", "LATCHKEY_CUSTOM_TOKEN", "LATCHKEY_CUSTOM_TOKEN_USERNAME"],
  );
  // LATCHKEY_REMOTE_USER_CREATE may belong to the misspelled scheme, so it is not reported as unused.
  assert.match(
    requireOnlyProblem({ LATCHKEY_SCHEMES: "remote-usr", LATCHKEY_REMOTE_USER_CREATE: "true" }),
    /remote-usr/,
  );
});

test("treats an empty variable as not set", () => {
  const names = Object.values<Setting>(settingsTable).map(({ name }) => name);
  const environment = Object.fromEntries(names.map((name) => [name, ""]));

  const settings = readSettings({ ...environment, PORT: "", LATCHKEY_DATABASE: "sqlite::memory:" });

  assert.deepEqual({ ...settings, secret: null }, { ...inMemory(), secret: null });
});

test("reads PORT if LATCHKEY_PORT is not set", () => {
  assert.equal(inMemory({ PORT: "8080" }).port, 8080);
  assert.equal(inMemory({ PORT: "8080", LATCHKEY_PORT: "9090" }).port, 9090);
  assert.equal(inMemory({ PORT: "8080", LATCHKEY_PORT: "" }).port, 8080);
  assert.equal(inMemory({ PORT: "8080" }, { settings: { port: 9090 } }).port, 8080);
  assert.match(requireOnlyProblem({ PORT: "x" }), /^PORT is "x"/);
});

test("refuses an unknown name and suggests the nearest one", () => {
  const nearest = [
    ["LATCHKEY_PROT", "LATCHKEY_PORT"],
    ["LATCHKEY_TRUSTED_PROXY", "LATCHKEY_TRUSTED_PROXIES"],
    ["LATCHKEY_ACCESS_SECOND", "LATCHKEY_ACCESS_SECONDS"],
    ["LATCHKEY_port", "LATCHKEY_PORT"],
    ["LATCHKEY_DATABASE_", "LATCHKEY_DATABASE"],
  ] as const;

  for (const [name, expected] of nearest) {
    assert.equal(
      requireOnlyProblem({ [name]: "secret-value" }),
      `${name} is not a setting. The nearest is ${expected}.`,
    );
  }
  assert.equal(collectProblems({ LATCHKEY_: "", latchkey_port: "1", MY_LATCHKEY_PORT: "1" }).length, 1);
});

test("refuses unknown names of any length and spelling without a fault", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (rest) => {
      const name = `LATCHKEY_${rest}`;
      fc.pre(!Object.values<Setting>(settingsTable).some((setting) => setting.name === name));
      assert.equal(collectProblems({ [name]: "x" }).length, 1);
    }),
    { numRuns: 200 },
  );
  assert.ok(requireOnlyProblem({ [`LATCHKEY_${"A".repeat(100_000)}`]: "x" }).length < 300);
});

test("distinguishes variables of Kubernetes from misspelled settings", () => {
  const problems = collectProblems({
    LATCHKEY_SERVICE_HOST: "10.0.0.1",
    LATCHKEY_SERVICE_PORT_HTTP: "8000",
    LATCHKEY_PORT: "tcp://10.0.0.1:8000",
    LATCHKEY_PORT_8000_TCP: "tcp://10.0.0.1:8000",
    LATCHKEY_PORT_8000_TCP_ADDR: "10.0.0.1",
  });

  assert.equal(problems.length, 5);
  for (const problem of problems) assert.match(problem, /enableServiceLinks: false/);
});

test("accepts or refuses any value of a setting without a fault", () => {
  const names = Object.values<Setting>(settingsTable)
    .map(({ name }) => name)
    .filter((name) => name !== "LATCHKEY_SECRET_FILE" && name !== "LATCHKEY_DATABASE");
  const values = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.ipV6(), fc.domain(), fc.integer().map(String));

  fc.assert(
    fc.property(fc.constantFrom(...names), values, (name, value) => {
      collectProblems({ [name]: value });
    }),
    { numRuns: 500 },
  );
});

test("refuses a long wrong host name", () => {
  requireOnlyProblem({ LATCHKEY_HOST: `${"a-".repeat(126)}!` });
  requireOnlyProblem({ LATCHKEY_HOST: `${"a.".repeat(125)}!` });
});

test("shows no secret in a message", () => {
  const hidden = "hide-and-seek";
  const said = [
    collectProblems({ LATCHKEY_SECRET: hidden }),
    collectProblems({ LATCHKEY_DATABASE: `mysql://ann:${hidden}@db/x` }),
    collectProblems({ LATCHKEY_DATABASE: `postgres://ann:${hidden}@db:99999/x`, LATCHKEY_SECRET: longSecret }),
    collectProblems({ LATCHKEY_ADMIN_PASSWORD: hidden, LATCHKEY_ADMIN_USERNAME: hidden }),
    collectProblems({ LATCHKEY_CUSTOM_TOKEN: hidden, LATCHKEY_SCHEMES: "custom-header" }),
    collectProblems({ LATCHKEY_REMOTE_USER_SECRET: `${hidden} ${hidden}` }),
    collectProblems({ LATCHKEY_PUBLIC_URL: `https://ann:${hidden}@api.example` }),
    collectProblems({ LATCHKEY_ALLOWED_ORIGINS: `https://ann:${hidden.repeat(20)}@api.example` }),
    collectProblems({ LATCHKEY_HIDDEN: hidden }),
    collectProblems({ LATCHKEY_SECRET_FILE: inFolder("short", hidden) }),
  ];

  for (const problems of said) {
    assert.ok(problems.length > 0);
    assert.ok(!problems.join().includes(hidden), problems.join());
  }
  const settings = inMemory({ LATCHKEY_SECRET: longSecret, LATCHKEY_ADMIN_PASSWORD: "hide-and-seek" });
  assert.ok(!`${inspect(settings, { depth: null })}${JSON.stringify(settings)}`.includes(hidden));
});

test("refuses the service's host name or issuer name as the first administrator's password", () => {
  const named = { LATCHKEY_PUBLIC_URL: "https://api.example", LATCHKEY_ISSUER: "the shop's logins" };

  for (const password of ["api.example", "The Shop's Logins"])
    assert.match(requireOnlyProblem({ ...named, LATCHKEY_ADMIN_PASSWORD: password }), /must not be the service's name/);
});

test("requires trusted proxies for remote-user", () => {
  assert.match(requireOnlyProblem({ LATCHKEY_SCHEMES: "remote-user" }), /LATCHKEY_TRUSTED_PROXIES/);
  assert.match(
    requireOnlyProblem({ LATCHKEY_SCHEMES: "remote-user", LATCHKEY_TRUSTED_PROXIES: "," }),
    /LATCHKEY_TRUSTED_PROXIES/,
  );
  assert.deepEqual(inMemory({ LATCHKEY_SCHEMES: "remote-user", LATCHKEY_TRUSTED_PROXIES: "unix" }).schemes, [
    "remote-user",
  ]);
});

test("requires a secret or LATCHKEY_REMOTE_USER_TRUST=network for remote-user on a host that is not loopback", () => {
  const proxied = { LATCHKEY_SCHEMES: "remote-user", LATCHKEY_TRUSTED_PROXIES: "10.0.0.1" };

  for (const host of ["127.0.0.1", "127.8.8.8", "::1", "localhost"]) {
    assert.equal(inMemory({ ...proxied, LATCHKEY_HOST: host }).host, host);
  }
  for (const host of ["0.0.0.0", "::", "10.0.0.5", "127.example", "localhost.example", "::ffff:10.0.0.1"]) {
    const environment = { ...proxied, LATCHKEY_HOST: host };
    assert.match(requireOnlyProblem(environment), /LATCHKEY_REMOTE_USER_SECRET.*LATCHKEY_REMOTE_USER_TRUST=network/);
    assert.equal(inMemory({ ...environment, LATCHKEY_REMOTE_USER_TRUST: "network" }).remoteUser.secret, null);
    assert.ok(inMemory({ ...environment, LATCHKEY_REMOTE_USER_SECRET: "12345678" }).remoteUser.secret);
  }
  assert.match(requireOnlyProblem({ ...proxied, LATCHKEY_REMOTE_USER_TRUST: "yes" }), /Write network/);
  assert.match(requireOnlyProblem({ ...proxied, LATCHKEY_REMOTE_USER_CREATE: "1" }), /true or false/);
});

test("refuses a header name for remote-user that is invalid or already has a meaning", () => {
  const proxied = { LATCHKEY_SCHEMES: "remote-user", LATCHKEY_TRUSTED_PROXIES: "10.0.0.1" };

  for (const header of ["X User", "X-User:", "Ü", "Authorization", "COOKIE", "x-remote-user-secret", "x".repeat(101)]) {
    assert.match(
      requireOnlyProblem({ ...proxied, LATCHKEY_REMOTE_USER_HEADER: header }),
      /^LATCHKEY_REMOTE_USER_HEADER/,
    );
  }
});

test("requires the token and the user of custom-header", () => {
  const token = "of 32 visible characters or more.".replaceAll(" ", "-");

  assert.equal(collectProblems({ LATCHKEY_SCHEMES: "custom-header" }).length, 2);
  assert.match(requireOnlyProblem({ LATCHKEY_SCHEMES: "custom-header", LATCHKEY_CUSTOM_TOKEN: token }), /_USERNAME/);
  for (const bad of ["t".repeat(31), `${token} t`, `${token}ü`, "t".repeat(4097)]) {
    const environment = { LATCHKEY_SCHEMES: "custom-header", LATCHKEY_CUSTOM_TOKEN_USERNAME: "machine" };
    assert.match(
      requireOnlyProblem({ ...environment, LATCHKEY_CUSTOM_TOKEN: bad }),
      /^LATCHKEY_CUSTOM_TOKEN cannot travel/,
    );
  }
});

test("refuses settings of a scheme that is not accepted", () => {
  const own = {
    LATCHKEY_CUSTOM_TOKEN: "of 32 visible characters or more.".replaceAll(" ", "-"),
    LATCHKEY_CUSTOM_TOKEN_USERNAME: "machine",
    LATCHKEY_REMOTE_USER_HEADER: "X-User",
    LATCHKEY_REMOTE_USER_SECRET: "12345678",
    LATCHKEY_REMOTE_USER_TRUST: "network",
    LATCHKEY_REMOTE_USER_CREATE: "true",
    LATCHKEY_REMOTE_USER_TRUST_EMAIL: "true",
  };

  for (const [name, value] of Object.entries(own)) {
    assert.match(
      requireOnlyProblem({ [name]: value }),
      new RegExp(`^${name} is set, but LATCHKEY_SCHEMES does not contain`),
    );
  }
});

test("refuses a lifetime that is longer than the setting that limits it", () => {
  assert.match(
    requireOnlyProblem({ LATCHKEY_ACCESS_SECONDS: "61", LATCHKEY_REFRESH_SECONDS: "60" }),
    /LATCHKEY_REFRESH_SECONDS/,
  );
  assert.match(requireOnlyProblem({ LATCHKEY_REFRESH_SECONDS: "2592001" }), /LATCHKEY_REFRESH_FAMILY_SECONDS/);
  assert.match(requireOnlyProblem({ LATCHKEY_SESSION_IDLE_SECONDS: "1209601" }), /LATCHKEY_SESSION_SECONDS/);
});

test("accepts a limit that is shorter than the default of the lifetime that it limits", () => {
  const settings = inMemory({ LATCHKEY_REFRESH_FAMILY_SECONDS: "5", LATCHKEY_SESSION_SECONDS: "5" });

  assert.deepEqual([settings.refreshFamilySeconds, settings.sessionSeconds], [5, 5]);
});

test("requires a configured secret for PostgreSQL", () => {
  const postgres = { LATCHKEY_DATABASE: "postgresql://db.example/latchkey?sslmode=require" };
  const missing = path.join(folder, "latchkey.secret");

  assert.match(requireOnlyProblem(postgres), /LATCHKEY_SECRET.*LATCHKEY_SECRET_FILE/);
  assert.match(
    requireOnlyProblem({ ...postgres, LATCHKEY_SECRET_FILE: missing }),
    /^LATCHKEY_SECRET_FILE: .* does not exist/,
  );
  assert.ok(!existsSync(missing));
  inFolder("latchkey.secret", longSecret);
  assert.ok(inMemory({ ...postgres, LATCHKEY_SECRET_FILE: missing }).secret.equals(longSecret));
});

test("refuses several processes with a database in memory", () => {
  assert.match(requireOnlyProblem({ LATCHKEY_WORKERS: "2" }), /LATCHKEY_DATABASE/);
  assert.equal(inMemory({ LATCHKEY_WORKERS: "2", LATCHKEY_DATABASE: `sqlite:${folder}/x.db` }).workers, 2);
});

test("requires an existing directory for the SQLite file", () => {
  assert.match(requireOnlyProblem({ LATCHKEY_DATABASE: `sqlite:${folder}/no/x.db` }), /no is not a directory/);
  assert.match(requireOnlyProblem({ LATCHKEY_DATABASE: `sqlite:${folder}` }), /is a directory/);
});

test("creates a secret file next to the SQLite file, readable by its owner only, and reads it the next time", () => {
  const environment = { LATCHKEY_DATABASE: `sqlite:${folder}/data.db` };

  const first = readSettings(environment);
  const second = readSettings(environment);

  const file = path.join(folder, "latchkey.secret");
  assert.equal(first.secretFile, file);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ["latchkey.secret"]);
  assert.match(readFileSync(file, "utf8"), /^[\w-]{43}\n$/);
  assert.ok(first.secret.equals(readFileSync(file, "utf8").trim()));
  assert.ok(second.secret.equals(first.secret.reveal()));
});

test("creates the secret next to a SQLite file with a relative path", () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    assert.equal(readSettings({}).secretFile, "latchkey.secret");
    assert.ok(existsSync(path.join(folder, "latchkey.secret")));
  } finally {
    process.chdir(before);
  }
});

test("creates the file that LATCHKEY_SECRET_FILE names if it does not exist", () => {
  const file = path.join(folder, "own.secret");

  assert.equal(
    readSettings({ LATCHKEY_DATABASE: `sqlite:${folder}/x.db`, LATCHKEY_SECRET_FILE: file }).secretFile,
    file,
  );
  assert.ok(existsSync(file));
});

test("generates a new secret for each database in memory, and stores it in no file", () => {
  const one = inMemory();

  assert.equal(one.secretFile, null);
  assert.ok(!one.secret.equals(inMemory().secret.reveal()));
});

test("gives processes that start at the same time the same secret", async () => {
  const script = `
    import { makeSecretFile } from ${JSON.stringify(path.join(root, "src/service/settings/secret.ts"))};
    ${waitForOthers}
    const made = makeSecretFile(process.env.FILE);
    console.log("value" in made ? made.value.reveal().toString() : made.wrong.join());
  `;
  const env = { ...process.env, FILE: path.join(folder, "latchkey.secret") };
  const processes = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ["--input-type=module", "-e", script], {
      env,
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    }),
  );
  const ends = processes.map(({ stdout }) => text(stdout!));

  await startTogether(processes);

  const secrets = new Set(await Promise.all(ends));
  assert.equal(secrets.size, 1);
  assert.match([...secrets][0]!, /^[\w-]{43}\n$/);
  assert.deepEqual(readdirSync(folder), ["latchkey.secret"]);
});

test("leaves no secret behind if another mistake prevents the start", () => {
  assert.throws(() => readSettings({ LATCHKEY_DATABASE: `sqlite:${folder}/x.db`, LATCHKEY_PORT: "x" }), ConfigError);

  assert.deepEqual(readdirSync(folder), []);
});

test("refuses a secret that others may read, with the command that fixes it", () => {
  for (const mode of [0o640, 0o604, 0o620, 0o660, 0o666, 0o777]) {
    const file = inFolder("open", longSecret, mode);
    assert.match(
      requireOnlyProblem({ LATCHKEY_SECRET_FILE: file }),
      new RegExp(`^LATCHKEY_SECRET_FILE: .*mode 0${mode.toString(8)}.*chmod 600 ${file}$`),
    );
  }
  const spaced = inFolder("it's open", longSecret, 0o644);
  assert.ok(requireOnlyProblem({ LATCHKEY_SECRET_FILE: spaced }).endsWith(`chmod 600 '${folder}/it'\\''s open'`));
  assert.ok(inMemory({ LATCHKEY_SECRET_FILE: inFolder("closed", longSecret, 0o400) }).secret.equals(longSecret));
});

test("refuses a secret file without a secret", () => {
  const nowhere = path.join(folder, "nowhere");
  symlinkSync(path.join(folder, "gone"), nowhere);
  const files = [
    folder,
    nowhere,
    "/dev/null",
    path.join(folder, "no/such/folder"),
    inFolder("empty", ""),
    inFolder("short", "x".repeat(31)),
    inFolder("blank", " ".repeat(64)),
    inFolder("huge", "x".repeat(4097)),
    inFolder("binary", Buffer.alloc(64, 0xff)),
    inFolder("lines", `${longSecret}\n${longSecret}`),
  ];

  for (const file of files)
    assert.ok(requireOnlyProblem({ LATCHKEY_SECRET_FILE: file }).startsWith(`LATCHKEY_SECRET_FILE: ${file} `), file);
});

test("refuses both a secret and a secret file in the environment, and prefers either to the config file", () => {
  const file = inFolder("file.secret", longSecret);

  assert.match(requireOnlyProblem({ LATCHKEY_SECRET: longSecret, LATCHKEY_SECRET_FILE: file }), /both set/);
  const fromEnvironment = inMemory({ LATCHKEY_SECRET: "environment".repeat(3) }, { settings: { secretFile: file } });
  assert.ok(fromEnvironment.secret.equals("environment".repeat(3)));
  const fromFile = inMemory({ LATCHKEY_SECRET_FILE: file }, { settings: { secret: "configuration".repeat(3) } });
  assert.ok(fromFile.secret.equals(longSecret));
});

test("requires a certificate and its key for HTTPS", () => {
  const cert = inFolder("cert.pem", selfSigned.cert);
  const key = inFolder("key.pem", selfSigned.key);
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const stranger = inFolder("other.pem", other.export({ type: "pkcs8", format: "pem" }));
  const locked = inFolder(
    "locked.pem",
    other.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
  );

  assert.deepEqual(inMemory({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: key }).tls, {
    cert: selfSigned.cert,
    key: selfSigned.key,
    files: { cert, key },
  });
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: cert }), /without LATCHKEY_TLS_KEY/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_KEY: key }), /without LATCHKEY_TLS_CERT/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: stranger }), /not the certificate's/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: locked }), /passphrase/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: cert }), /^LATCHKEY_TLS_KEY/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: key, LATCHKEY_TLS_KEY: key }), /^LATCHKEY_TLS_CERT/);
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: folder, LATCHKEY_TLS_KEY: key }), /EISDIR/);
  assert.equal(collectProblems({ LATCHKEY_TLS_CERT: "no.pem", LATCHKEY_TLS_KEY: "none.pem" }).length, 2);
});

test("reports each invalid signing key", () => {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const good = inFolder("keys.json", JSON.stringify({ keys: [jwk] }));
  const bad = inFolder("bad.json", JSON.stringify({ keys: [{ kty: "oct", k: "AAAA" }, 7] }));

  assert.equal(inMemory({ LATCHKEY_SIGNING_KEYS: good }).signingKeysFile, good);
  assert.equal(collectProblems({ LATCHKEY_SIGNING_KEYS: bad }).length, 2);
});

test("refuses a remote database without `sslmode` in its URL", () => {
  const secret = { LATCHKEY_SECRET: longSecret };
  const at = (url: string): Environment => ({ ...secret, LATCHKEY_DATABASE: url });

  for (const url of [
    "postgres://u:p@db.example/x",
    "postgres://u:p@127.0.0.1,10.0.0.2/x",
    "postgres://u:p@[2001:db8::1]:5432/x",
    "postgres:///x?host=db.example",
    "postgres://u:p@localhost.example/x",
  ])
    assert.match(requireOnlyProblem(at(url)), /add sslmode=verify-full/, url);
  for (const url of [
    "postgres://u:p@127.0.0.1/x",
    "postgres://u:p@[::1]/x",
    "postgres://u@localhost:5433/x",
    "postgres:///x?host=/run/postgresql",
    "postgres://u:p@db.example/x?sslmode=disable",
    "postgres://u:p@one.example,two.example/x?sslmode=verify-full",
  ])
    assert.deepEqual(collectProblems(at(url)), [], url);
});

test("refuses a private key file that every user may read", () => {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const keys = inFolder("open.json", JSON.stringify({ keys: [jwk] }), 0o644);
  const cert = inFolder("open-cert.pem", selfSigned.cert, 0o644);
  const key = inFolder("open-key.pem", selfSigned.key, 0o604);
  const shared = inFolder("shared-key.pem", selfSigned.key, 0o640);

  assert.match(
    requireOnlyProblem({ LATCHKEY_SIGNING_KEYS: keys }),
    /open to everyone \(mode 0644\)\. Close it with: chmod o= /,
  );
  assert.match(requireOnlyProblem({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: key }), /mode 0604/);
  assert.ok(inMemory({ LATCHKEY_TLS_CERT: cert, LATCHKEY_TLS_KEY: shared }).tls !== null);
});

test("reads settings from the config file that the environment does not set", () => {
  const config: ConfigFile = {
    settings: {
      port: 9000,
      log: "error",
      schemes: ["basic"],
      remoteUserCreate: undefined,
      allowedOrigins: [],
      issuer: "",
    },
    registration: "open",
  };

  const settings = inMemory({ LATCHKEY_LOG: "debug" }, config);

  assert.deepEqual([settings.port, settings.log, settings.schemes], [9000, "debug", ["basic"]]);
  assert.deepEqual([settings.issuer, settings.registration], ["latchkey", "open"]);
});

test("reports mistakes in the config file with the names of settings that the file uses", () => {
  const config: unknown = {
    settings: { prot: 1, port: 1.5, host: null, trustedProxies: ["10.0.0.1", 7], schemes: [], __proto__: { log: "x" } },
    registration: "yes",
    mount: [],
    endpoints: {},
    formats: [undefined],
  };

  const problems = collectProblems({}, config as ConfigFile);

  assert.deepEqual(
    problems.map((problem) => problem.split(" in the config file")[0]!).toSorted((a, b) => a.localeCompare(b)),
    [
      "endpoints",
      "formats[0]",
      "mount",
      "registration",
      "settings.host",
      "settings.port",
      "settings.prot",
      "settings.schemes",
      "settings.trustedProxies",
    ],
  );
  assert.match(problems.join("\n"), /settings\.prot in the config file is not a setting\. The nearest is port\./);
  assert.match(requireOnlyProblem({}, { settings: 7 } as unknown as ConfigFile), /^settings in the config file/);
});

test("refuses an empty list of schemes, and does not replace it by the default ones", () => {
  assert.match(requireOnlyProblem({}, { settings: { schemes: [] } }), /schemes in the config file is empty/);
});

test("refuses a setting of the wrong type in the config file, in the compiler and at run time", () => {
  const wrong: ConfigFile[] = [
    // @ts-expect-error -- a port is a number
    { settings: { port: "x" } },
    // @ts-expect-error -- no such scheme
    { settings: { schemes: ["jwt"] } },
    // @ts-expect-error -- no such setting
    { settings: { prot: 1 } },
  ];

  for (const config of wrong) assert.equal(collectProblems({}, config).length, 1);
});

test("derives the name of each setting in the environment from its name in the config file", () => {
  for (const [key, { name }] of Object.entries<Setting>(settingsTable)) {
    assert.equal(name, `LATCHKEY_${key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`);
  }
});

test("lists every setting in docs/settings.md", () => {
  const page = readFileSync(path.join(root, "docs/settings.md"), "utf8");

  const rows = page.split("\n").filter((line) => line.startsWith("| `LATCHKEY_"));

  assert.deepEqual(rows, Object.values<Setting>(settingsTable).map(formatRow));
});

test("shows in docs/settings.md the messages that the service reports", () => {
  const page = readFileSync(path.join(root, "docs/settings.md"), "utf8");
  const environment = { LATCHKEY_PORT: "80a", LATCHKEY_SCHEMES: "remote-user", LATCHKEY_ACCES_SECONDS: "60" };

  const shown = /^```\n([^]*?)\n```$/m.exec(page)![1]!.split("\n");

  assert.deepEqual(shown.toSorted(), collectProblems(environment).toSorted());
});

function formatRow({ name, default: standard, otherwise, meaning }: Setting): string {
  const shown = standard === null ? (otherwise ?? "–") : `\`${standard}\``;
  return `| \`${name}\` | ${shown} | ${meaning} |`;
}
