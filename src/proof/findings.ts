import { formatCurl, type ProveRequest } from "./asking/request.ts";
import type { NotTried } from "./world/all-records.ts";

/** Something that a caller sees or changes although a permission denies it. */
export interface Finding {
  readonly actor: string;
  readonly method: string;
  readonly path: string;
  /** The plural of the resource. */
  readonly resource: string;
  /** Null: the whole row. */
  readonly field: string | null;
  readonly sentence: string;
  /** The command that shows it while `latchkey prove --serve` runs. */
  readonly curl: string;
}

/** The result of `latchkey prove`. */
export interface Report {
  readonly findings: readonly Finding[];
  readonly not_tried: readonly NotTried[];
}

/** A leak, before it is a command and a sentence. */
export interface Found {
  readonly requests: readonly ProveRequest[];
  readonly resource: string;
  readonly field: string | null;
  readonly sentence: string;
  /** True if it says the same as a finding about the same field at the same endpoint. */
  readonly isFollowing?: boolean;
}

/** Collects findings, each once. */
export interface Findings {
  add(found: Found): void;
  listNotTried(request: Pick<ProveRequest, "actor" | "method" | "route">, reason: string): void;
  /** Lists what the first caller is refused at an endpoint, although the declarations allow it. */
  listRefused(request: Pick<ProveRequest, "actor" | "method" | "route">, reason: string): void;
  report(): Report;
}

/** Makes an empty collection. `origin` is the address in the commands. */
export function collectFindings(origin: string, notTried: readonly NotTried[]): Findings {
  const findings = new Map<string, Finding>();
  const seen = new Set<string>();
  const left = new Map<string, NotTried>(notTried.map((each) => [JSON.stringify(each), each]));
  return {
    add({ requests, resource, field, sentence, isFollowing = false }) {
      const shown = requests.at(-1)!;
      const { actor, method, path, route } = shown;
      const key = JSON.stringify([actor.name, method, route, resource, field, kindOf(sentence)]);
      const place = JSON.stringify([actor.name, method, route, resource, field]);
      if (findings.has(key) || (isFollowing && seen.has(place))) return;
      seen.add(place);
      const curl = requests.map((each) => formatCurl(each, origin)).join(" && ");
      findings.set(key, { actor: actor.name, method, path, resource, field, sentence, curl });
    },
    listNotTried({ method, route }, reason) {
      const each = { path: `${method} ${route}`, actor: null, reason };
      left.set(JSON.stringify(each), each);
    },
    listRefused({ actor, method, route }, reason) {
      const path = `${method} ${route}`;
      const key = JSON.stringify([path, reason]);
      if (!left.has(key)) left.set(key, { path, actor: actor.name, reason });
    },
    report: () => ({ findings: [...findings.values()], not_tried: [...left.values()] }),
  };
}

/** Returns the sentence without its ids, so that one hole of many rows is one finding. */
function kindOf(sentence: string): string {
  return sentence.replaceAll(/\d+/g, "");
}
