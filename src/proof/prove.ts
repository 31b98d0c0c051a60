import type { ServedMount } from "../http/declarations/mount.ts";
import type { ProveRequest } from "./asking/request.ts";
import { makeSender } from "./asking/sender.ts";
import { collectFindings, type Report } from "./findings.ts";
import { compareAnswers } from "./tries/comparing.ts";
import { tryReads } from "./tries/reading.ts";
import type { Trial } from "./tries/try.ts";
import { tryWrites } from "./tries/writing.ts";
import type { OpenProved } from "./world/opening.ts";
import { makeWorld, type World } from "./world/world.ts";

/** The options of a proof. */
export interface ProofOptions {
  /** Opens the configured service on an empty database in memory. */
  readonly open: OpenProved;
  /** The address in the commands of the findings. */
  readonly origin: string;
}

/** Tries every permission of a service. The same declarations give the same report. */
export async function prove({ open, origin }: ProofOptions): Promise<Report> {
  let world = await makeWorld(open);
  try {
    const findings = collectFindings(origin, world.notTried);
    const list = (request: ProveRequest, reason: string): void => findings.listNotTried(request, reason);
    const start = (): Trial => ({ world, sender: makeSender(world, list), findings });
    let trial = start();
    for (const [at] of world.actors.entries()) {
      await compareAnswers(trial, world.actors[at]!, await tryReads(trial, world.actors[at]!));
      for (let place = 0; place < writtenMounts(world).length; place++) {
        if (await tryWrites(trial, world.actors[at]!, writtenMounts(world)[place]!)) continue;
        await world.close();
        world = await makeWorld(open);
        trial = start();
      }
    }
    return findings.report();
  } finally {
    await world.close();
  }
}

/** Returns the mounts that are tried, with their older shapes. */
function writtenMounts({ mounts, service }: World): readonly ServedMount[] {
  return [...mounts, ...service.mounts.filter(({ newer }) => newer !== null && mounts.includes(newer))];
}
