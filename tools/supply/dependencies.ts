// Checks the dependencies for known vulnerabilities and for their age. Fails for a vulnerability that is high or
// critical. If the registry does not answer, only reports that.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "../..");
const DAY_MS = 86_400_000;

function npm(...args: readonly string[]): unknown {
  const { stdout } = spawnSync("npm", [...args, "--json"], { cwd: root, encoding: "utf8" });
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function reportWeaknesses(): void {
  const auditReport = npm("audit", "--omit=dev") as { metadata?: { vulnerabilities: Record<string, number> } } | null;
  const counts = auditReport?.metadata?.vulnerabilities;
  if (counts === undefined) return print("The registry did not report known vulnerabilities, so nothing was checked.");
  print(
    `Known vulnerabilities: ${Object.entries(counts)
      .map(([level, count]) => `${count} ${level}`)
      .join(", ")}.`,
  );
  if ((counts["high"] ?? 0) + (counts["critical"] ?? 0) > 0) process.exitCode = 1;
}

function reportAges(): void {
  const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const [name, version] of Object.entries(dependencies)) {
    const times = npm("view", name, "time") as Record<string, string> | null;
    const used = times?.[version];
    const newest = Object.values(times ?? {})
      .toSorted()
      .at(-1);
    if (used === undefined || newest === undefined) print(`${name} ${version}: the registry did not report its age`);
    else print(`${name} ${version}: ${daysSince(used)} days old; the newest version is ${daysSince(newest)} days old`);
  }
}

function daysSince(time: string): number {
  return Math.floor((Date.now() - Date.parse(time)) / DAY_MS);
}

reportWeaknesses();
reportAges();
