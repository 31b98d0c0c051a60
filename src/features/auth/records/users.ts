import { aPermission } from "../../../access/permission/checking.ts";
import type { Permission } from "../../../access/permission/permission.ts";
import {
  isObject,
  isText,
  membersMistakes,
  namedMembers,
  optional,
  seen,
  shown as shownValue,
  texts,
  unknownMembers,
  joinMistakes,
} from "../../../core/checking/members.ts";
import { suggestion } from "../../../core/checking/nearest.ts";
import { markWithParts } from "../../../core/copy.ts";
import { usualRoles } from "../../../core/identity.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { isRequired, isShown, isStored, isWritable, type Field } from "../../../resource/declaration/field.ts";
import { shapeMistakes, aFieldRule } from "../../../resource/kinds/field-mistakes.ts";
import { boolean, email, text } from "../../../resource/kinds/fields.ts";
import {
  DeclarationError,
  defineResource,
  type Fields,
  type Operator,
  type RecordOf,
} from "../../../resource/resource.ts";
import { ownPassword } from "../requests/fresh-login.ts";
import { putRules, type RuledUserField, type UserFieldRules } from "./user-rules.ts";

const MAX_IDENTITY_FIELDS = 8;

/**
 * The maximum length of a text in the identity, in characters. Access tokens contain such texts, and a token must fit
 * into a cookie.
 */
const MAX_IDENTITY_TEXT = 100;

/** The built-in fields of a user. */
const shown = {
  name: text({ maxLength: 200, description: "The display name.", example: "Ann Example" }),
  email: email({
    unique: "case-insensitive",
    label: "E-mail",
    description: "Unique without regard to case, kept as written.",
    example: "ann@example.com",
  }),
};

/** The login data is sent with the user, but stored separately, in the account with the same id. */
const unshown = {
  username: text({
    maxLength: 150,
    pattern: {
      matches: /^[^:\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u,
      detail:
        "A colon is not allowed, because Basic could not carry it. Invisible characters are not allowed, because the name would look like another one.",
    },
    optional: true,
    writeOnly: true,
    transient: true,
    description: "The login name. Default: the e-mail address.",
  }),
  password: text({
    ...ownPassword,
    minLength: 8,
    description: "Without a password, the user cannot log in with one.",
  }),
  current_password: text({ ...ownPassword, description: "Needed to change your own password, username or e-mail." }),
  end_keys: boolean({
    optional: true,
    writeOnly: true,
    transient: true,
    label: "Revoke the API token and keys",
    description: "`true` with a new password: the API token and the keys are revoked too.",
  }),
};

/** The field for an invitation. Users have it only if the service sends invitations. */
const inviting = {
  invite: boolean({
    optional: true,
    writeOnly: true,
    transient: true,
    label: "Invite by mail",
    description: "For administrators: the new user gets a mail with a link and sets the password.",
  }),
};

/** The actions on users whose permissions can be replaced. */
export type UserAction = "list" | "read" | "replace" | "update" | "delete";

/** The additions of a service to its users. */
export interface OwnUserFields<F extends Fields = Fields> {
  /** Additional fields of users. Each is optional or has a default. */
  readonly fields?: F;
  /** The filters for lists of users, for each of the additional fields. */
  readonly filters?: Readonly<Partial<Record<keyof F, readonly Operator[]>>>;
  /** The fields that can sort lists of users. */
  readonly sorts?: readonly (keyof F & string)[];
  /**
   * The fields that only administrators set and change, for example the tenant. Users can read them in their own
   * record.
   */
  readonly administered?: readonly (keyof F & string)[];
  /**
   * The fields that every request has in `identity.fields`, at most 8. A changed value ends access tokens immediately.
   */
  readonly identity?: readonly (keyof F & string)[];
  /**
   * The permissions for users, by action. A named permission replaces the default, which is `anyOf(administrator,
   * self())`. `registration` decides who creates users. The passwords, addresses, usernames, roles and logins of others
   * are changed by administrators alone.
   */
  readonly permissions?: Readonly<Partial<Record<UserAction, Permission<string>>>>;
  /**
   * The rules of the built-in fields. Users always read their own name and address. A rule for `write` also holds for
   * their own. The addresses and usernames of others are sent by administrators alone, and only if the rules allow it.
   */
  readonly rules?: Readonly<Partial<Record<RuledUserField, UserFieldRules>>>;
  /** The roles of users. They include `user` (the initial role) and `admin`. Default: these two. */
  readonly roles?: readonly string[];
}

/** Returns the users' resource with the additional fields. Throws `DeclarationError` if the fields have mistakes. */
export function usersResource(own: OwnUserFields, { invitations = false } = {}) {
  const malformed = ownUserFieldsMistakes(own);
  if (malformed.length > 0) throw new DeclarationError(malformed);
  const { fields = {}, filters = {}, sorts = [], rules = {}, permissions = {} } = own;
  const resource = defineResource({
    name: "user",
    description: "The people who use the service.",
    // The cast is safe, because the field is optional: without invitations, drafts do not have it.
    fields: { ...shown, ...fields, ...unshown, ...(invitations ? inviting : ({} as typeof inviting)) },
    filters: {
      id: ["eq", "in", "lt", "lte", "gt", "gte"],
      name: ["eq", "starts", "contains", "istarts", "icontains"],
      email: ["eq", "starts"],
      ...filters,
    },
    sorts: ["name", "email", ...(sorts as readonly never[])],
    search: ["name", "email"],
    scans: true,
  });
  const isShared = (permissions.replace ?? permissions.update) !== undefined;
  const users = Object.freeze(
    markWithParts({ ...resource, fields: Object.freeze(putRules(resource.fields, rules, isShared)) }),
  );
  administeredFields.set(users, own.administered ?? []);
  return users;
}

const administeredFields = new WeakMap<object, readonly string[]>();

/** Returns the fields of users that only administrators set. Empty for any other resource. */
export function findAdministered(resource: object): readonly string[] {
  return administeredFields.get(resource) ?? [];
}

/**
 * Returns the mistakes in the additional fields of users. `defineResource` reports the mistakes in each single field.
 */
export function ownUserFieldsMistakes(own: unknown): readonly string[] {
  if (!isObject(own)) return [`it is ${shownValue(own)}; write { fields: { … } }`];
  const malformed = membersMistakes(own, members);
  const misspelt = unknownMembers(own, Object.keys(members));
  const { fields = {}, filters = {}, sorts = [], administered = [], identity = [] } = own as OwnUserFields;
  // If a member is malformed, the names in it cannot be checked.
  if (malformed.length > misspelt.length) return malformed;
  const named = { filters: Object.keys(filters), sorts, administered, identity };
  return [...misspelt, ...mistakesIn(fields), ...strangers(fields, named), ...identityMistakes(fields, identity)];
}

const members = {
  fields: optional(namedMembers),
  filters: optional(namedMembers),
  sorts: optional(texts),
  administered: optional(texts),
  identity: optional(texts),
  permissions: optional(seen((value) => permissionsMistake(value))),
  rules: optional(seen((value) => rulesMistake(value))),
  roles: optional(seen((value) => rolesMistake(value))),
};

const permissionChecks = {
  list: optional(aPermission),
  read: optional(aPermission),
  replace: optional(aPermission),
  update: optional(aPermission),
  delete: optional(aPermission),
};

function permissionsMistake(value: unknown): string | null {
  if (!isObject(value)) return "it has to be permissions by action, like { list: authenticated }";
  if (value["create"] !== undefined) return "registration decides who creates users; leave create out";
  return joinMistakes(membersMistakes(value, permissionChecks));
}

const ruleChecks = { read: optional(aFieldRule), write: optional(aFieldRule) };
const aUserRule = optional((value) =>
  isObject(value) ? joinMistakes(membersMistakes(value, ruleChecks)) : "it has to be like { read: administrator }",
);

function rulesMistake(value: unknown): string | null {
  if (!isObject(value)) return "it has to be rules by field, like { email: { read: administrator } }";
  return joinMistakes(membersMistakes(value, { name: aUserRule, username: aUserRule, email: aUserRule }));
}

function rolesMistake(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every((each) => isText(each) && ROLE.test(each)))
    return 'it has to be a list of lower-case names, like ["user", "editor", "admin"]';
  const missing = usualRoles.find((role) => !value.includes(role));
  if (missing !== undefined)
    return `${missing} has to be among them: ${missing === "user" ? "users begin with it" : "administrators have it"}`;
  return new Set(value).size === value.length ? null : "a role is listed twice";
}

const ROLE = /^[a-z][a-z0-9_-]{0,39}$/;

/**
 * Returns the mistakes in the fields. No field may be required, because some users are created without a form: the
 * first administrator, imported users, and users from a proxy.
 */
function* mistakesIn(own: Fields): Generator<string> {
  for (const [name, field] of Object.entries(own)) {
    if ([shown, unshown, inviting].some((built) => Object.hasOwn(built, name)))
      yield `users have the field ${name} already; give yours another name`;
    else if (shapeMistakes(field).length === 0 && isRequired(field))
      yield `the field ${name} of users is required, but the first administrator, imported users and users from a proxy are created without it; make it optional, or give it a default`;
  }
}

/**
 * Returns the mistakes in names of fields. Only additional fields may be named: built-in fields have fixed filters and
 * sorts.
 */
function* strangers(own: Fields, named: Readonly<Record<string, readonly string[]>>): Generator<string> {
  for (const [member, names] of Object.entries(named))
    for (const name of names)
      if (!Object.hasOwn(own, name))
        yield `${member} names ${name}, which is none of your fields${suggestion(name, Object.keys(own))}`;
      else if (member === "administered") yield* administeredMistakes(name, own[name]!);
}

function* administeredMistakes(name: string, field: Field): Generator<string> {
  if (shapeMistakes(field).length > 0) return;
  const { read, write } = field.options;
  if (!isWritable(field)) yield `administered names ${name}, which no caller sends; leave it out`;
  else if (read !== undefined && read !== write)
    yield `administered names ${name}, which has a rule for read (${read.name}), so an answer would show its value; write write: administrator in its place`;
}

/** Returns the mistakes in the fields of the identity. Every access token contains them. */
function* identityMistakes(own: Fields, names: readonly string[]): Generator<string> {
  if (names.length > MAX_IDENTITY_FIELDS)
    yield `identity names ${names.length} fields, which every token would carry; name ${MAX_IDENTITY_FIELDS} at most`;
  for (const name of names) {
    const field = own[name];
    if (field === undefined || shapeMistakes(field).length > 0) continue;
    if (!isShown(field) || !isStored(field))
      yield `identity names ${name}, which is hidden, but clients can read the claims of tokens`;
    if (field.options.read !== undefined)
      yield `identity names ${name}, which has a rule for read (${field.options.read.name}), but clients can read the claims of tokens`;
    const { column, schema } = field.kind;
    if (column.type === "json" || (column.type === "text" && !isShort(schema)))
      yield `identity names ${name}, which may be long; name a number, a yes or no, an enumeration, or a text with maxLength ${MAX_IDENTITY_TEXT} at most`;
  }
}

function isShort({ enum: values, maxLength }: Field["kind"]["schema"]): boolean {
  return Array.isArray(values) || (typeof maxLength === "number" && maxLength <= MAX_IDENTITY_TEXT);
}

/** The users' resource. Its type does not include the additional fields. */
export type Users = ReturnType<typeof usersResource>;

/** The mounted users. */
export type UsersMount = Mount<Users>;

/** A user in the form that callers see. */
export type ShownUser = RecordOf<Users>;
