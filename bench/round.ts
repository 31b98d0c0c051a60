import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { Request } from "./scenarios.ts";
import { onAnyCore, onLoadCore } from "./servers.ts";

/** The configuration of the load process. */
export interface Load {
  readonly request: Request;
  /** The required status of every response. */
  readonly status: number;
  readonly connections: number;
  /**
   * True: the load process sleeps while it waits, and runs on any free core. For measurements of elapsed time, in which
   * a busy load would take a core from the service.
   */
  readonly sleeps?: true;
}

/** The results of the load process. */
export interface LoadResult {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Round extends LoadResult {
  readonly requestsPerSecond: number;
  readonly requestsPerCPUSecond: number;
}

/**
 * The number of first rounds that do not count. One is too few for V8 to compile the longer paths: after it, a page had
 * half of its later speed.
 */
export const warming = 4;

const run = promisify(execFile);

/** Runs one round of load from another process, and measures the CPU time of the server. */
export async function runRound(
  server: { readonly address: string; readonly pid: number },
  load: Load,
  seconds: number,
): Promise<Round> {
  const input = JSON.stringify({ ...load, address: server.address, seconds });
  const [file = "", ...args] = load.sleeps
    ? [...onAnyCore("bench/load.ts"), input]
    : onLoadCore("bench/load.ts", input);

  const before = cpuSeconds(server.pid);
  const { stdout } = await run(file, args);
  const spent = cpuSeconds(server.pid) - before;

  const result = JSON.parse(stdout) as LoadResult;
  return { ...result, requestsPerSecond: result.requests / seconds, requestsPerCPUSecond: result.requests / spent };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the lower quartile, the median and the upper quartile. */
export function quartiles(values: readonly number[]): readonly [number, number, number] {
  const sorted = values.toSorted((one, other) => one - other);
  const half = Math.ceil(sorted.length / 2);
  return [median(sorted.slice(0, half)), median(sorted), median(sorted.slice(-half))];
}

/** Waits until a process has nothing to do for three seconds. */
export async function waitForRest(pid: number): Promise<void> {
  for (let atRest = 0; atRest < 3;) {
    const before = cpuSeconds(pid);
    await wait(1000);
    atRest = cpuSeconds(pid) - before < 0.03 ? atRest + 1 : 0;
  }
}

/**
 * Returns the CPU time of all programs on all cores, plus the time that the host of a virtual machine has used for
 * other machines. Linux counts it in hundredths of a second.
 */
export function machineSeconds(): number {
  const [, user, nice, system, , , irq, softIrq, stolen] = readFileSync("/proc/stat", "utf8").split(/\s+/, 9);
  return [user, nice, system, irq, softIrq, stolen].reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/**
 * Returns the user and system time of a process with all its threads, from `/proc/PID/stat`. Linux counts it in
 * hundredths of a second.
 */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the command's name in parentheses and may contain spaces, so the fields are counted from its
  // end. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
