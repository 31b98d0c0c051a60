import { problem, type Issue } from "../../problem/problem.ts";
import { isObject, readDraft, type Draft } from "../../resource/draft.ts";
import type { Resource } from "../../resource/resource.ts";
import { invalid, type Exchange } from "../exchange.ts";
import { applyJSONPatch, parseJSONPatch } from "../patch/json-patch.ts";
import { applyMergePatch } from "../patch/merge-patch.ts";

/** What a body is read against. */
export interface Target {
  /** The id of the path; null where the service hands one out, or there is none. */
  readonly id: number | null;
  /** What callers see of the record that is there; null where one is made. */
  readonly current: Readonly<Record<string, unknown>> | null;
  /** The body names some fields only. */
  readonly partial?: boolean;
}

/** Reads the body as a whole representation. Ends the request with every issue at once. */
export function requireDraft(resource: Resource, exchange: Exchange, target: Target): Draft {
  requireElement(resource, exchange);
  return readWhole(resource, exchange, exchange.body === null ? {} : exchange.body.value, target);
}

/** A change of a record, before anybody has looked for the record. */
export interface Patch {
  /** Applies it to what callers see, and reads the result as a whole. Throws `patch_conflict` where it does not apply. */
  applyTo(current: Readonly<Record<string, unknown>>): Draft;
  /** Ends the request where the patch is wrong whatever the record: to be asked where none is there. */
  requireSound(): void;
}

/** Reads the body as a patch of the record with this id. */
export function requirePatch(resource: Resource, exchange: Exchange, id: number): Patch {
  const { mediaType, value } = exchange.body!;
  if (mediaType === "application/json-patch+json") {
    const operations = parseJSONPatch(value);
    return {
      applyTo: (current) => readWhole(resource, exchange, applyJSONPatch(current, operations), { id, current }),
      requireSound: () => undefined,
    };
  }
  requireElement(resource, exchange);
  return {
    applyTo: (current) => readWhole(resource, exchange, merged(current, value), { id, current }),
    requireSound: () => void readWhole(resource, exchange, value, { id, current: null, partial: true }),
  };
}

/** Null removes a member of the document (RFC 7396); a record keeps its members, and what was removed is null in it. */
function merged(current: Readonly<Record<string, unknown>>, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const removed = Object.entries(patch).filter(([, value]) => value === null);
  return { ...(applyMergePatch(current, patch) as object), ...Object.fromEntries(removed) };
}

function readWhole(resource: Resource, exchange: Exchange, whole: unknown, target: Target): Draft {
  const context = { identity: exchange.identity, now: exchange.call.now };
  const draft = readDraft(resource, whole, {
    ...target,
    leavesAreText: exchange.body?.leavesAreText ?? false,
    context,
  });
  if (isDraft(draft)) return draft;
  throw invalid(draft);
}

function isDraft(draft: Draft | readonly Issue[]): draft is Draft {
  return !Array.isArray(draft);
}

function requireElement({ name }: Resource, { body }: Exchange): void {
  if (body !== null && body.element !== null && body.element !== name)
    throw problem("malformed", { detail: `The root element must be <${name}>.` });
}
