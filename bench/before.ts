/**
 * Compares this build with another one, in requests per CPU second of the server:
 * `npm run bench -- before DIR [--rounds 9] [--only "an order" --only "creating a user"]`, where DIR holds the other
 * build (`dist`), and `--only` is a part of the name of a row. Both services run at the same time and get requests in
 * turn, so that a slow machine affects both.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { startService, type ServiceProcess } from "../tests/harness/service-process.ts";
import { median, runRound, warming, type Load } from "./round.ts";
import { logIn, preparePage, prepareWriting, scenarios } from "./scenarios.ts";
import { onServerCore, startCommitting } from "./servers.ts";

/**
 * The factor for the 95 % confidence interval of a mean, by the number of rounds minus one (Student's t-distribution).
 */
const studentT: Readonly<Record<number, number>> = { 4: 2.776, 8: 2.306, 14: 2.145, 20: 2.086 };

interface Row {
  readonly name: string;
  readonly whileOthersWrite?: true;
  prepare(service: ServiceProcess): Promise<Load>;
}

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "2" },
    only: { type: "string", multiple: true, default: [""] },
  },
  allowPositionals: true,
});
const [before] = positionals;
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const factor = studentT[rounds - 1];
if (before === undefined || factor === undefined)
  throw new Error("Name the folder of the other build. --rounds is 5, 9, 15 or 21.");

const measured: readonly Row[] = [
  ...scenarios.map(({ name, whileOthersWrite, prepare }) => ({
    name,
    ...(whileOthersWrite === undefined ? {} : { whileOthersWrite }),
    prepare: async (service: ServiceProcess) => ({
      request: await prepare(service),
      status: 200,
      connections: 32,
    }),
  })),
  {
    name: "an order by id, Bearer",
    async prepare(service) {
      const headers = await logIn(service);
      const { address } = service;
      const reply = await fetch(`${address}/orders`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: "{}",
      });
      const { pathname: path } = new URL(reply.headers.get("location") ?? "", address);
      return { request: { path, headers }, status: 200, connections: 32 };
    },
  },
  ...["/users?limit=100", "/users/1"].map((path) => ({
    name: `the page for people at ${path}, Bearer`,
    async prepare(service: ServiceProcess) {
      const { headers } = await preparePage(service);
      return { request: { path, headers: { ...headers, accept: "text/html" } }, status: 200, connections: 32 };
    },
  })),
  {
    name: "creating a user, 64 clients",
    prepare: async (service) => ({ request: (await prepareWriting(service)).write, status: 201, connections: 64 }),
  },
  {
    // The service also stores the case folding of a name that another lower case can equal.
    name: "creating a user with an s in the name, 64 clients",
    async prepare(service) {
      const { write } = await prepareWriting(service);
      const request = { ...write, body: write.body!.replace("grace{n}", "grass{n}") };
      return { request, status: 201, connections: 64 };
    },
  },
  {
    name: "creating an order, 64 clients",
    async prepare(service) {
      const headers = { ...(await logIn(service)), "content-type": "application/json" };
      return { request: { method: "POST", path: "/orders", headers, body: "{}" }, status: 201, connections: 64 };
    },
  },
];

const table: Record<string, Record<string, string | number>> = {};
for (const row of measured.filter(({ name }) => values.only.some((part) => name.includes(part))))
  table[row.name] = await compare(row);
console.table(table);

async function compare({ prepare, whileOthersWrite }: Row): Promise<Record<string, string | number>> {
  await using old = await startService({}, onServerCore(path.resolve(before!, "dist/cli/latchkey.js")));
  await using present = await startService({}, onServerCore("dist/cli/latchkey.js"));
  const services = [old, present] as const;
  const loads = [await prepare(old), await prepare(present)] as const;
  await using _first = whileOthersWrite ? await startCommitting(old) : null;
  await using _second = whileOthersWrite ? await startCommitting(present) : null;
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < warming + rounds; round++)
    // The two services swap their order in each round, so that neither always runs second.
    for (const at of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { requestsPerCPUSecond } = await runRound(services[at], loads[at], seconds);
      if (round >= warming) rates[at].push(requestsPerCPUSecond);
    }
  const ratios = rates[1].map((rate, round) => rate / rates[0][round]!);
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / rounds;
  const deviation = Math.sqrt(ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / (rounds - 1));
  const half = (factor! * deviation) / Math.sqrt(rounds);
  return {
    before: Math.round(median(rates[0])),
    now: Math.round(median(rates[1])),
    ratio: median(ratios).toFixed(3),
    "95 % of the mean": `${(mean - half).toFixed(3)}–${(mean + half).toFixed(3)}`,
  };
}
