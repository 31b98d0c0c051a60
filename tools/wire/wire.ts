import { readFileSync, writeFileSync } from "node:fs";
import { calls } from "./calls.ts";
import "./chance.ts";
import { enrolment, factorLogins, mailFlows, passwordLogins, providerLogins } from "./flows.ts";
import { callerNames, startWorld, type Recorded, type World } from "./world.ts";

// Records what the service answers to about 2,700 requests, with a fixed clock and repeatable chance, and compares two
// recordings. If a change may not change the wire, record before and after it:
//
//   node tools/wire/wire.ts record before.json
//   node tools/wire/wire.ts compare before.json after.json

const [task, ...files] = process.argv.slice(2);
if (task === "record" && files.length === 1) await record(files[0]!);
else if (task === "compare" && files.length === 2) compare(files[0]!, files[1]!);
else throw new Error("Write: wire.ts record FILE, or: wire.ts compare BEFORE AFTER");
// The harness imports `node:test`, which would report that no test ran.
process.exit();

async function record(file: string): Promise<void> {
  const recorded: Recorded[] = [];
  for (const name of callerNames) {
    await inWorld(recorded, async ({ api, ask, callers }) => {
      for (const { method, path, body, headers } of calls) {
        // Below the limit of ten wrong passwords a minute.
        if (name === "wrong password") api.clock.turn(7);
        await ask(method, path, body, { ...callers[name], ...headers });
      }
    });
  }
  for (const flow of [passwordLogins, factorLogins, mailFlows, providerLogins]) await inWorld(recorded, flow);
  await inWorld(recorded, enrolment, { LATCHKEY_SECOND_FACTOR: "everyone" }, false);
  await inWorld(recorded, mailFlows, { LATCHKEY_REGISTRATION: "closed" });
  writeFileSync(file, recorded.map((each) => `${JSON.stringify(each)}\n`).join(""));
  process.stdout.write(`${recorded.length} answers are in ${file}.\n`);
}

async function inWorld(
  recorded: Recorded[],
  flow: (world: World) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
  hasUsers = true,
): Promise<void> {
  const world = await startWorld(recorded, settings, hasUsers);
  try {
    await flow(world);
  } catch (error) {
    // A flow that cannot go on is a difference too: the number of answers changes.
    process.stderr.write(`${flow.name} ended early: ${String(error)}\n`);
  } finally {
    await world.close();
  }
}

function compare(before: string, after: string): void {
  const [old, now] = [read(before), read(after)];
  const length = Math.max(old.length, now.length);
  let differences = 0;
  for (let at = 0; at < length; at++) {
    const [one, other] = [mask(old[at]), mask(now[at])];
    if (one === other) continue;
    differences += 1;
    if (differences <= 20) process.stdout.write(`- ${one}\n+ ${other}\n\n`);
  }
  process.stdout.write(`${length} answers, ${differences} differences\n`);
  if (differences > 0) process.exitCode = 1;
}

function read(file: string): readonly Recorded[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Recorded);
}

/** Masks tags, which follow from revisions and shapes, dates, and the durations on pages. */
function mask(each: Recorded | undefined): string {
  if (each === undefined) return "no answer";
  const headers = each.headers.map((line) => line.replace(/^(etag|date): .*/, "$1: masked"));
  const body = each.body
    .replaceAll(/\d+(?:\.\d+)? m?s\b/g, "masked ms")
    .replaceAll(/&quot;[\w-]{12}\.[\w-]{6}&quot;/g, "masked");
  return `${each.request}\n  ${each.status}\n  ${headers.join("\n  ")}\n  ${body}`;
}
