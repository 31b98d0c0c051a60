import { makeSender } from "./asking/sender.ts";
import { collectFindings, type Report } from "./findings.ts";
import { compareAnswers } from "./tries/comparing.ts";
import { tryReads } from "./tries/reading.ts";
import type { Trial } from "./tries/try.ts";
import type { OpenProved } from "./world/opening.ts";
import { makeWorld } from "./world/world.ts";

/** The options of a proof. */
export interface ProofOptions {
  /** Opens the configured service on an empty database in memory. */
  readonly open: OpenProved;
  /** The address in the commands of the findings. */
  readonly origin: string;
}

/** Tries every permission of a service. The same declarations give the same report. */
export async function prove({ open, origin }: ProofOptions): Promise<Report> {
  const world = await makeWorld(open);
  try {
    const findings = collectFindings(origin, world.notTried);
    const sender = makeSender(world, (request, reason) => findings.listNotTried(request, reason));
    const trial: Trial = { world, sender, findings };
    for (const actor of world.actors) await compareAnswers(trial, actor, await tryReads(trial, actor));
    return findings.report();
  } finally {
    await world.close();
  }
}
