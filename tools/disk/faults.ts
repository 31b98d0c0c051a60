import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, realpathSync, rmSync, writeSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import path from "node:path";

/** A folder whose disk fails or is slow on command, for processes that are started with `environment`. Linux only. */
export interface FaultyDisk extends Disposable {
  readonly folder: string;
  /** The folder with the synced content, as a power cut would leave it. Only if `keep` is set. */
  readonly syncedFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Makes every call of this kind fail with this error until `heal`. */
  fail(call: "write" | "sync" | "read" | "link" | "mode", error: "EIO" | "ENOSPC" | "EPERM"): void;
  /** Makes every sync take this much longer until `heal`, in milliseconds. */
  slow(syncMs: number): void;
  heal(): void;
  /** Returns how many calls have failed. */
  failed(): number;
}

const places = { write: 0, sync: 4, read: 8, link: 12, mode: 16, delay: 20, failed: 24 } as const;

/** Makes a faulty disk with a separate folder. Throws if there is no C compiler, and names the package to install. */
export function makeFaultyDisk({ keep = false }: { readonly keep?: boolean } = {}): FaultyDisk {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "latchkey-disk-")));
  const folder = path.join(root, "disk");
  const syncedFolder = path.join(root, "kept");
  for (const each of [folder, syncedFolder]) mkdirSync(each);
  const library = compile(root);
  const controlFile = path.join(root, "control");
  const control = openSync(controlFile, "w+", 0o600);
  writeSync(control, Buffer.alloc(28));

  function set(place: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(control, bytes, 0, 4, place);
  }

  return {
    folder,
    syncedFolder,
    environment: {
      LD_PRELOAD: library,
      DISK_FAULTS_CONTROL: controlFile,
      DISK_FAULTS_FOLDER: folder,
      ...(keep ? { DISK_FAULTS_KEPT: syncedFolder } : {}),
    },
    fail: (call, error) => set(places[call], constants.errno[error]),
    slow: (syncMs) => set(places.delay, syncMs * 1000),
    heal() {
      const { failed: _, ...wrong } = places;
      for (const place of Object.values(wrong)) set(place, 0);
    },
    failed() {
      const bytes = Buffer.alloc(4);
      readSync(control, bytes, 0, 4, places.failed);
      return bytes.readInt32LE();
    },
    [Symbol.dispose]() {
      closeSync(control);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function compile(root: string): string {
  const library = path.join(root, "faults.so");
  const source = path.join(import.meta.dirname, "faults.c");
  const done = spawnSync("gcc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl", "-lpthread"], {
    encoding: "utf8",
  });
  if (done.status === 0) return library;
  rmSync(root, { recursive: true, force: true });
  throw new Error(
    done.error === undefined
      ? `gcc cannot compile ${source}:\n${done.stderr}`
      : "gcc is not installed. Install it: apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev",
  );
}
