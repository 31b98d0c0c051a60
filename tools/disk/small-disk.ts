import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A file system of a few MiB, in memory. */
export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Takes this much of the room, in bytes. Default: all that is left. */
  fill(bytes?: number): void;
  /** Frees the room that `fill` took. */
  makeRoom(): void;
  /** Makes the disk read-only. No process may have a file on it open for writing. */
  protect(): void;
}

/** Mounts a small disk. Throws if this process may not mount one. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "latchkey-small-")));
  const ballast = path.join(folder, "ballast");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=700`, "latchkey-test", folder], {
      stdio: "pipe",
    });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw new Error("A file system cannot be mounted: these tests run as root, on Linux.", { cause: error });
  }
  return {
    folder,
    fill(bytes) {
      if (bytes === undefined) fillUp(folder, ballast);
      else writeFileSync(ballast, Buffer.alloc(bytes));
    },
    makeRoom: () => rmSync(ballast),
    protect: () => void execFileSync("mount", ["-o", "remount,ro", folder]),
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Takes all the room that is left, including the room that other processes free in the meantime. */
function fillUp(folder: string, ballast: string): void {
  for (let tries = 0; tries < 100; tries++) {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail === 0) return;
    try {
      appendFileSync(ballast, Buffer.alloc(bavail * bsize));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
  throw new Error("The file system never filled up.");
}
