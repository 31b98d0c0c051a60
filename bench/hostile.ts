/**
 * Measures how hostile requests within all limits affect other clients: the longest wait for `/livez` while one client
 * sends a hostile request, and while six clients send it. Measures three times and reports the shortest of the three
 * waits, because other programs use the machine too.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { jsonBodies, longArray, patches, xmlBodies } from "../tests/harness/hostile-bodies.ts";
import { startService } from "../tests/harness/service-process.ts";
import { onAnyCore } from "./servers.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, only: { type: "string", default: "" } },
});
const rounds = Number(values.rounds);
/** Selects the requests whose names contain this text. Default: all. */
const { only } = values;
const shown = 15;
const root = path.join(import.meta.dirname, "..");

interface Hostile {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const config = `
import { anyone, defineResource, email, json, mount, text } from ${JSON.stringify(path.join(root, "dist/door/index.js"))};
const note = defineResource({ name: "note", fields: {
  title: text({ optional: true, maxLength: 2_000_000 }),
  short: text({ optional: true, pattern: { matches: /^[^:]*$/, detail: "No colon." } }),
  mail: email({ optional: true }),
  meta: json({ optional: true }),
} });
export default { mounts: [mount(note, { permission: anyone })] };
`;
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-hostile-"));
const file = path.join(folder, "latchkey.config.mjs");
writeFileSync(file, config);
// The service looks for the config file in its working directory, so the shell copies the file there.
const started = ["sh", "-c", 'cp "$0" . && exec "$@"', file, ...onAnyCore("dist/cli/latchkey.js")];
await using service = await startService({ LATCHKEY_ACCESS_SECONDS: "3600" }, started);
const admin = await logIn();
const poller = fork(path.join(import.meta.dirname, "waiting.ts"), [service.address]);
await wait(500);
await longestWait();

const rows: { request: string; one: number; six: number; statuses: string }[] = [];
for (const hostile of (await everything()).filter(({ name }) => name.includes(only))) {
  const one = await measure(hostile, 1);
  const six = await measure(hostile, 6);
  rows.push({
    request: `${hostile.method} ${hostile.path.slice(0, 24)} ${hostile.name}`,
    one: one.ms,
    six: six.ms,
    statuses: [...new Set([...one.statuses, ...six.statuses])].join(", "),
  });
}
poller.disconnect();
rmSync(folder, { recursive: true });
rows.sort((one, other) => Math.max(other.one, other.six) - Math.max(one.one, one.six));
console.table(rows.slice(0, shown));
const over = rows.filter(({ one, six }) => Math.max(one, six) > 50).length;
console.log(
  `${rows.length} requests, ${over} over 50 ms. Longest waits in milliseconds. Load average ${loadavg()[0]!.toFixed(1)}, Node ${process.version}.`,
);

async function measure(hostile: Hostile, clients: number): Promise<{ ms: number; statuses: number[] }> {
  let least = Infinity;
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await longestWait();
    statuses.push(...(await Promise.all(Array.from({ length: clients }, () => send(hostile)))));
    least = Math.min(least, await longestWait());
  }
  return { ms: Math.round(least), statuses };
}

async function send({ method, path: target, headers = {}, body }: Hostile): Promise<number> {
  const response = await fetch(service.address + target, {
    method,
    headers: { ...admin, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Returns the longest wait since the last call. */
async function longestWait(): Promise<number> {
  poller.send("tell");
  const [longest] = (await once(poller, "message")) as [number];
  return longest;
}

async function logIn(): Promise<Record<string, string>> {
  const reply = await fetch(`${service.address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: service.password }),
  });
  return { authorization: `Bearer ${((await reply.json()) as { access: string }).access}` };
}

async function everything(): Promise<Hostile[]> {
  const inJSON = { "content-type": "application/json" };
  const inXML = { "content-type": "application/xml", accept: "application/xml" };
  const inPatch = { "content-type": "application/json-patch+json" };
  const made = await fetch(`${service.address}/notes`, {
    method: "POST",
    headers: { ...admin, ...inJSON },
    body: longArray,
  });
  const { id } = (await made.json()) as { id: number };
  const to = (
    name: string,
    method: string,
    target: string,
    headers: Record<string, string>,
    body?: string,
  ): Hostile => ({
    name,
    method,
    path: target,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const orders = Array.from({ length: 1000 }, (_, at) => ({ status: ["open", "paid"][at % 2] }));
  const tags = Array.from({ length: 1000 }, (_, at) => `"${at}-aaaaaa"`).join(", ");
  return [
    ...Object.entries(xmlBodies).map(([name, body]) => to(name, "POST", "/notes", inXML, body)),
    ...Object.entries(jsonBodies).map(([name, body]) => to(name, "POST", "/notes", inJSON, body)),
    ...Object.entries(jsonBodies).map(([name, body]) => to(name, "PUT", `/notes/${id + 1}`, inJSON, body)),
    ...Object.entries(patches).map(([name, body]) => to(name, "PATCH", `/notes/${id}`, inPatch, body)),
    to("1,000 tags", "PUT", "/notes/1", { ...inJSON, "if-match": tags }, "{}"),
    to("1,000 tags", "GET", "/users/1", { "if-none-match": tags }),
    to(
      "a long list of values",
      "GET",
      `/users?id[in]=${Array.from({ length: 1900 }, (_, at) => at)
        .join(",")
        .slice(0, 7900)}`,
      {},
    ),
    to(
      "20 filters",
      "GET",
      `/users?${Array.from({ length: 20 }, (_, at) => `name[contains]=${"a".repeat(300)}${at}`).join("&")}`,
      {},
    ),
    to("a long cursor", "GET", `/users?cursor=${"a".repeat(7900)}`, {}),
    to("encoded characters", "GET", `/users?name=${"%F0%9F%98%80".repeat(650)}`, {}),
    to("marks", "GET", `/users?email=a${"%CC%95%CC%80".repeat(650)}`, {}),
    to("marks in Basic", "GET", "/users/1", {
      authorization: `Basic ${Buffer.from(`${"\u0315\u0300".repeat(2500)}:a`).toString("base64")}`,
    }),
    to("a long token", "GET", "/users/1", { authorization: `Bearer ${"a.".repeat(7000)}` }),
    to("many types", "GET", "/users/1", { accept: "a/b;q=0.1, ".repeat(1200) }),
    to("many preferences", "GET", "/users/1", { prefer: "a=b, ".repeat(2800) }),
    to("many cookies", "GET", "/users/1", { cookie: "a=b; ".repeat(2800) }),
    to("1,000 orders", "POST", "/orders", inJSON, JSON.stringify(orders)),
    to(
      "a login of 16 KiB",
      "POST",
      "/api/token/",
      inJSON,
      JSON.stringify({ username: "a", password: "b".repeat(16_000) }),
    ),
    to(
      "a form of 16 KiB",
      "POST",
      "/api/token/",
      { "content-type": "application/x-www-form-urlencoded" },
      "a=b&".repeat(4000),
    ),
    to(
      "conditions",
      "QUERY",
      "/users",
      inJSON,
      JSON.stringify({
        where: { any: Array.from({ length: 63 }, (_, at) => ({ name: { eq: `${at}${"a".repeat(16_000)}` } })) },
      }),
    ),
    to(
      "a long list of values",
      "QUERY",
      "/users",
      inJSON,
      JSON.stringify({ where: { id: { in: Array.from({ length: 150_000 }, (_, at) => at) } } }),
    ),
    to(
      "marks",
      "QUERY",
      "/users",
      inJSON,
      JSON.stringify({ where: { email: { eq: "\u0315\u0300".repeat(250_000) } } }),
    ),
    to("a long search", "QUERY", "/users", inJSON, JSON.stringify({ search: "aé ".repeat(250_000) })),
  ];
}
