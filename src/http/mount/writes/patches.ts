import { isObject } from "../../../core/checking/members.ts";
import { parseETags, type ETags } from "../../../core/headers/etag.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { IdKind } from "../../../resource/declaration/types.ts";
import { parseId } from "../../../resource/ids.ts";
import type { Key } from "../../../store/store.ts";
import { MAX_HEADER_BYTES } from "../../limits.ts";
import { invalid } from "../../request/exchange.ts";

/** A change of one record in the request (RFC 7396). */
export interface Patch {
  readonly at: number;
  readonly id: Key;
  /** The ETags of `if_match`. Null if any state is accepted. */
  readonly ifMatch: ETags | null;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Parses one member of the array. `taken` contains the ids of the earlier members. */
export function readPatch(member: unknown, at: number, taken: Set<Key>, kind: IdKind): Patch {
  if (!isObject(member))
    throw invalid([
      { pointer: "", code: "invalid", detail: "An object with the id and the changed fields is required." },
    ]);
  const { id, if_match: tags, ...value } = member;
  const wrong = (pointer: string, code: string, detail: string): Error => invalid([{ pointer, code, detail }]);
  if (id === undefined) throw wrong("/id", "required", "The id of the record is required.");
  if ((typeof id !== "number" && typeof id !== "string") || parseId(String(id), kind) !== id)
    throw wrong(
      "/id",
      "invalid",
      `The id of a record is a ${kind === "uuid" ? "UUID in lower case" : "whole number from 1"}.`,
    );
  if (taken.has(id)) throw wrong("/id", "repeated", "The record is named twice.");
  taken.add(id);
  if (typeof tags === "string" && tags.length > MAX_HEADER_BYTES)
    throw wrong("/if_match", "too_long", `At most ${MAX_HEADER_BYTES} characters are allowed, as in a header block.`);
  const ifMatch = typeof tags === "string" ? parseETags(tags) : null;
  if (tags !== undefined && ifMatch === null)
    throw wrong("/if_match", "invalid", "A text like that of If-Match is required: an ETag in its quotes, or *.");
  return { at, id, ifMatch, value };
}

/** Ends the request if a record has no `if_match`. */
export function requireTags(patches: readonly Patch[]): void {
  const without = patches.filter(({ ifMatch }) => ifMatch === null);
  const detail = "The ETag of the record is required, as in If-Match.";
  const issues = without.map(({ at }) => ({ pointer: `/${at}/if_match`, code: "required", detail }));
  if (issues.length > 0) throw problem("precondition_required", { issues });
}

/** Returns true if the `if_match` of a patch names ETags. */
export function namesStates({ ifMatch }: Patch): boolean {
  return ifMatch !== null && ifMatch !== "*";
}
