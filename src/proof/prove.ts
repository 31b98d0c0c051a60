import type { ServedMount } from "../http/declarations/mount.ts";
import type { ProveRequest } from "./asking/request.ts";
import { makeSender } from "./asking/sender.ts";
import type { Actor } from "./content/actors.ts";
import { collectFindings, type Report } from "./findings.ts";
import { tryCalls } from "./tries/calling.ts";
import { compareAnswers } from "./tries/comparing.ts";
import { tryLogins } from "./tries/logins.ts";
import { tryReads } from "./tries/reading.ts";
import { trySchemes } from "./tries/schemes.ts";
import { tryStored } from "./tries/stored.ts";
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
    const findings = collectFindings(`${origin}${world.service.basePath}`, world.notTried);
    const stored: Trial["stored"] = new Map();
    const list = (request: ProveRequest, reason: string): void => findings.listNotTried(request, reason);
    const start = (): Trial => ({ world, sender: makeSender(world, list), findings, stored });
    let trial = start();
    const renew = async (): Promise<void> => {
      await world.close();
      world = await makeWorld(open);
      trial = start();
    };
    for (const [at] of world.actors.entries()) {
      const actor = (): Actor => world.actors[at]!;
      await compareAnswers(trial, actor(), await tryReads(trial, actor()));
      for (let place = 0; place < writtenMounts(world).length; place++)
        if (!(await tryWrites(trial, actor(), writtenMounts(world)[place]!))) await renew();
      if (!(await tryCalls(trial, actor()))) await renew();
      if (!(await tryLogins(trial, actor()))) await renew();
    }
    for (const actor of world.actors) await tryStored(trial, actor);
    await trySchemes(trial);
    return findings.report();
  } finally {
    await world.close();
  }
}

/** Returns the mounts that are tried, with their older shapes. */
function writtenMounts({ mounts, service }: World): readonly ServedMount[] {
  return [...mounts, ...service.mounts.filter(({ newer }) => newer !== null && mounts.includes(newer))];
}
