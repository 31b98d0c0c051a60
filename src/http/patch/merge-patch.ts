import { isObject } from "../../core/checking/members.ts";
import { setMember } from "../formats/member.ts";

/**
 * Applies a JSON Merge Patch (RFC 7396 §2). A member replaces the old member, and null removes it. Does not change the
 * target.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = {};
  if (isObject(target)) {
    for (const [name, value] of Object.entries(target)) {
      if (!Object.hasOwn(patch, name)) setMember(result, name, value);
      else if (patch[name] !== null) setMember(result, name, applyMergePatch(value, patch[name]));
    }
  }
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null && !Object.hasOwn(result, name)) setMember(result, name, applyMergePatch(undefined, value));
  }
  return result;
}
