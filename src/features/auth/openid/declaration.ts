import { aBoolean, isObject, optional, describeType, text, unknownMembers } from "../../../core/checking/members.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { wrongLevel, type VouchedLevel } from "../issuers/declaration.ts";

/** An identity provider (OpenID Connect) whose users may log in. */
export interface IdentityProviderDeclaration {
  /** Its name in paths and settings: up to 40 lower-case letters, digits and hyphens. */
  readonly id: string;
  /** Its name on the login page. */
  readonly title: string;
  /** The `issuer` of its `/.well-known/openid-configuration`, character for character: https, or http on loopback. */
  readonly issuer: string;
  /** The id that the provider gave to this service. */
  readonly clientId: string;
  /** The secret that the provider gave to this service. */
  readonly clientSecret: Secret;
  /** The scopes to request in addition to `openid`. Default: `email` and `profile`. */
  readonly scopes?: readonly string[];
  /**
   * True to create a user for an unknown identity with a verified e-mail address that no other user has. Default:
   * false.
   */
  readonly create?: boolean;
  /**
   * True if every e-mail address of the provider counts as verified. Only for the provider of a single organization
   * that assigns the addresses itself. Default: false.
   */
  readonly trustEmail?: boolean;
  /**
   * The level of its logins: 2 if the provider always checks a second factor, or the values of `acr` that show that it
   * did. Default: 1. If a login has level 1 and its account needs level 2, the service asks for a factor of the
   * account.
   */
  readonly level?: VouchedLevel;
}

/** An identity provider after its declaration was checked. */
export interface IdentityProvider extends Omit<IdentityProviderDeclaration, "scopes" | "create" | "trustEmail"> {
  readonly scopes: readonly string[];
  readonly create: boolean;
  readonly trustEmail: boolean;
}

const standardScopes: readonly string[] = ["email", "profile"];

/** Ids that no provider may have, because they are words in the paths of other logins. */
const reservedIds: readonly string[] = ["factors", "code", "passkey", "providers", "confirm"];

/** Completes a checked declaration. */
export function completeProvider(declared: IdentityProviderDeclaration): IdentityProvider {
  const { scopes = standardScopes, create = false, trustEmail = false } = declared;
  return Object.freeze({ ...declared, scopes: Object.freeze([...new Set(["openid", ...scopes])]), create, trustEmail });
}

/** Returns every mistake in a list of identity providers, each with its place and its fix. */
export function providersMistakes(declared: unknown): readonly string[] {
  if (!Array.isArray(declared) || declared.length === 0)
    return ["providers has to be a list of at least one { id, title, issuer, clientId, clientSecret }"];
  const entries: readonly unknown[] = declared;
  return [
    ...entries.flatMap((entry, at) => providerMistakes(entry, `providers[${at}]`)),
    ...repeated(entries, "id", "give each its own"),
    ...repeated(entries, "issuer", "identities are linked by issuer and sub, so declare each issuer once"),
  ];
}

const checks = {
  id: wrongId,
  title: text,
  issuer: wrongIssuer,
  clientId: text,
  clientSecret: aSecret,
  scopes: optional(wrongScopes),
  create: optional(aBoolean),
  trustEmail: optional(aBoolean),
  level: wrongLevel,
} satisfies Record<keyof IdentityProviderDeclaration, (value: unknown) => string | null>;

function providerMistakes(entry: unknown, name: string): readonly string[] {
  if (!isObject(entry))
    return [`${name} is ${describeType(entry)}; write { id, title, issuer, clientId, clientSecret }`];
  return [
    ...unknownMembers({ ...entry }, Object.keys(checks)).map((wrong) => `${name}: ${wrong}`),
    ...Object.entries(checks).flatMap(([member, check]) => {
      const wrong = check(entry[member]);
      return wrong === null ? [] : [`${name}.${member}: ${wrong}`];
    }),
  ];
}

function wrongId(value: unknown): string | null {
  if (typeof value !== "string" || !/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(value))
    return "it has to be up to 40 lower-case letters, digits and hyphens, like google";
  return reservedIds.includes(value) ? `${value} is a word in the paths of other logins; choose another id` : null;
}

function wrongIssuer(value: unknown): string | null {
  const url = typeof value === "string" && value === value.trim() ? URL.parse(value) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "" || url.search !== "")
    return "it has to be the https address of the issuer, without query, fragment and user";
  return isSafeAddress(url) ? null : "it has to be an https address; http is for loopback only";
}

/** Returns true for https, and for http on this machine. */
export function isSafeAddress(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

function isLoopbackHost(hostname: string): boolean {
  // The URL parser has normalized every spelling of an IPv4 address.
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function wrongScopes(value: unknown): string | null {
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string" && /^[!#-[\]-~]+$/.test(each));
  return isList ? null : 'it has to be a list of scopes, like ["email", "profile"]';
}

function repeated(entries: readonly unknown[], member: "id" | "issuer", cure: string): readonly string[] {
  const values = entries.map((entry) => (isObject(entry) ? entry[member] : undefined));
  return values.flatMap((value, at) => {
    const first = values.indexOf(value);
    return typeof value === "string" && first < at
      ? [`providers[${at}].${member} is the same as in providers[${first}]; ${cure}`]
      : [];
  });
}
