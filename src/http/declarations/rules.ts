import { implies } from "../../access/permission/implying.ts";
import type { Permission } from "../../access/permission/permission.ts";
import { made } from "../../core/copy.ts";
import type { FieldRule } from "../../resource/declaration/field.ts";
import { isRequired } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import type { ResourceAction } from "./permissions.ts";

/** A rule of a field, as the permission that it is. `defineResource` has checked it. */
export function permissionOf(rule: FieldRule): Permission {
  return rule as unknown as Permission;
}

/** A rule that holds only for the records of others. */
export interface Exemption {
  /** The rule for the records of others. */
  readonly rule: FieldRule;
  /** The rule for the caller's own record. Null: the caller may read and send the field there. */
  readonly own: FieldRule | null;
}

const exempting = new WeakMap<FieldRule, Exemption>();
/** The rules that `exempt` has made, so that one permission of several fields stays one rule. */
const exempted = new WeakMap<FieldRule, Map<FieldRule | null, FieldRule>>();

/**
 * Returns a rule for a field of users that does not hold when a user is created. For the record of the caller, `own`
 * holds in its place, or no rule.
 */
export function exempt(rule: FieldRule, own: FieldRule | null): FieldRule {
  const copies = exempted.get(rule) ?? new Map<FieldRule | null, FieldRule>();
  exempted.set(rule, copies);
  const copy = copies.get(own) ?? Object.freeze(made({ ...permissionOf(rule) }));
  copies.set(own, copy);
  exempting.set(copy, { rule, own });
  return copy;
}

/** Returns the parts of a rule that `exempt` has made. Returns null for any other rule. */
export function exemptionOf(rule: FieldRule): Exemption | null {
  return exempting.get(rule) ?? null;
}

/** The record of a request: the caller's own, a new one, or any other. */
export interface ExemptPlace {
  readonly isOwn: boolean;
  readonly isNew: boolean;
  /** Returns true if a rule allows the caller. */
  allows(rule: FieldRule): boolean;
}

/** Returns true if a rule does not hold for a request to a user's own record, or for a new record. */
export function isExempt(rule: FieldRule, { isOwn, isNew, allows }: ExemptPlace): boolean {
  const found = exempting.get(rule);
  return found !== undefined && (isNew || (isOwn && (found.own === null || allows(found.own))));
}

/** Returns the different rules of the fields of a resource. */
export function rulesOf({ fields }: Pick<Resource, "fields">): readonly FieldRule[] {
  return [
    ...new Set(Object.values(fields).flatMap(({ options: { read, write } }) => [read ?? [], write ?? []].flat())),
  ];
}

/** The parts of a mount that the rules of its fields depend on. */
interface Ruled {
  readonly resource: Resource;
  readonly permissions: Readonly<Partial<Record<ResourceAction, Permission<string>>>>;
  readonly cache: "public" | "private";
}

/** Returns the mistakes in the rules of fields that only the mount shows. */
export function ruleMistakes({ resource, permissions, cache }: Ruled): readonly string[] {
  const rules = rulesOf(resource);
  if (rules.length === 0) return [];
  // PUT creates a record only if its caller may create one.
  const { create } = permissions;
  const mistakes = Object.entries(resource.fields).flatMap(([name, field]) => {
    const { write } = field.options;
    if (create === undefined || write === undefined || exempting.has(write) || !isRequired(field)) return [];
    return implies(create, permissionOf(write))
      ? []
      : [
          `field ${name}: it is required, but not every caller who may create a record may send it (write: ${write.name}); make it optional, give it a default, or create with allOf(${create.name}, ${write.name})`,
        ];
  });
  return [
    ...mistakes,
    ...(cache === "public"
      ? [
          `cache is "public", but the fields have rules (${rules[0]!.name}), so responses differ between callers; leave cache out`,
        ]
      : []),
  ];
}
