import { hash } from "node:crypto";
import type { Field } from "../../resource/declaration/field.ts";
import type { Mount } from "../declarations/mount.ts";
import { FORMATS_VERSION } from "../request/format.ts";

/** The part of a mount that its shape depends on. */
export type ShapedMount = Pick<Mount, "resource" | "shown" | "older">;

const digests = new WeakMap<ShapedMount, string>();

/**
 * Returns six characters that identify the shape of records: the names, the kinds and the computations of the shown
 * fields. A changed declaration can change the output of a record without a write. The ETag must change too (RFC 9110
 * §8.8.1), so it contains these characters.
 */
export function computeShapeDigest(mount: ShapedMount): string {
  let digest = digests.get(mount);
  if (digest === undefined) digests.set(mount, (digest = hash("sha1", formatFacts(mount), "base64url").slice(0, 6)));
  return digest;
}

function formatFacts({ resource: { name: element, fields }, shown, older }: ShapedMount): string {
  const facts = shown.map((name) => {
    const { from = name, shownBy = null } = older?.members.get(name) ?? {};
    return [
      name,
      factsOfField(fields[name]),
      shownBy,
      older === null ? null : factsOfField(older.newer.resource.fields[from]),
    ];
  });
  return JSON.stringify([FORMATS_VERSION, element, facts]);
}

function factsOfField(field: Field | undefined): readonly unknown[] | null {
  if (field === undefined) return null;
  const { kind, options, computed } = field;
  const madeBy = typeof computed === "function" ? String(computed) : computed;
  return [kind.name, kind.schema, kind.column, options.optional, madeBy];
}
