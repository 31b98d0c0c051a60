import { stateFacts } from "../../../access/permission/facts.ts";
import { administrator, allOf } from "../../../access/permission/permission.ts";
import { made } from "../../../core/copy.ts";
import { exempt, permissionOf } from "../../../http/declarations/rules.ts";
import type { Field, FieldRule } from "../../../resource/declaration/field.ts";

/** The built-in fields of users that can have rules. */
export type RuledUserField = "name" | "username" | "email";

/** The permissions to read and to send a field of other users. */
export interface UserFieldRules {
  readonly read?: FieldRule;
  readonly write?: FieldRule;
}

/** The further fields of users that change a login. */
const ofLogins = ["password", "current_password", "end_keys", "invite"] as const;

type RuledFields = Readonly<Record<RuledUserField, Field> & Partial<Record<(typeof ofLogins)[number], Field>>>;

/** The rule to send a part of a login: only administrators send those of others. */
const ofOthers = exempt(
  stateFacts(made({ ...administrator, name: "administrators, and users for themselves" }), { kind: "administrator" }),
  null,
);

/**
 * Returns the fields of users with their rules. With `isShared`, callers other than administrators may change users.
 * Then every part of a login has a rule.
 */
export function putRules<F extends RuledFields>(
  fields: F,
  { name = {}, email = {}, username = {} }: Readonly<Partial<Record<RuledUserField, UserFieldRules>>>,
  isShared: boolean,
): F {
  const { write } = name;
  const ofName = { ...readingRule(name), ...(write === undefined ? {} : { write: exempt(write, write) }) };
  // A username is never shown.
  const { read: _, ...ofUsername } = rulesOfLogin(username, isShared);
  const ruled: Partial<Record<keyof RuledFields, Field>> = {
    name: withRules(fields.name, ofName),
    email: withRules(fields.email, rulesOfLogin(email, isShared)),
    username: withRules(fields.username, ofUsername),
  };
  for (const each of ofLogins)
    if (isShared && fields[each] !== undefined) ruled[each] = withRules(fields[each], { write: ofOthers });
  return { ...fields, ...ruled };
}

/**
 * Returns the rules of an address or a username. Callers who may not read that of others may not send it either,
 * because the answer would show whether the value is theirs.
 */
function rulesOfLogin(rules: UserFieldRules, isShared: boolean): UserFieldRules {
  const { read, write } = rules;
  if (read === undefined && write === undefined) return isShared ? { write: ofOthers } : {};
  const all = new Set<FieldRule>([administrator, ...[read ?? [], write ?? []].flat()]);
  const both = all.size === 1 ? administrator : allOf(...[...all].map(permissionOf));
  return { ...readingRule(rules), write: exempt(both, write ?? null) };
}

function readingRule({ read }: UserFieldRules): UserFieldRules {
  return read === undefined ? {} : { read: exempt(read, null) };
}

function withRules(field: Field, rules: UserFieldRules): Field {
  return Object.freeze(made({ ...field, options: { ...field.options, ...rules } }));
}
