import { isObject } from "../../../core/checking/members.ts";
import { suggestion } from "../../../core/checking/nearest.ts";
import { made } from "../../../core/copy.ts";
import type { Proof } from "../../../core/identity.ts";
import { isTime } from "../tokens/jwt.ts";
import { findTLSProblems, type IssuerTLSFiles } from "./tls.ts";

/**
 * The signature algorithms that an outside issuer may use (RFC 7518 §3.1, RFC 8037, RFC 9864): asymmetric ones only.
 */
export type IssuerAlgorithm = keyof typeof keyShapes;

/** The declaration of an outside issuer whose access tokens the service accepts. */
export interface IssuerDeclaration extends IssuerTLSFiles {
  /** The `iss` of its tokens, compared exactly. */
  readonly issuer: string;
  /** The value that `aud` of its tokens must contain: the name that the issuer uses for this service. */
  readonly audience: string;
  /**
   * The URL of its public keys (RFC 7517): https, or http on loopback. Keys are never fetched from an address in a
   * token.
   */
  readonly jwksURL: string;
  /** The algorithms that the issuer signs with. A token cannot choose another one. */
  readonly algorithms: readonly IssuerAlgorithm[];
  /**
   * The claim that contains a username of this service. Default: `sub`. `email` counts only with `email_verified: true`
   * or `trustEmail`.
   */
  readonly usernameClaim?: string;
  /** The only accepted `typ`. Default: `JWT`, `at+jwt` or no `typ`. */
  readonly typ?: string;
  /**
   * The level of its tokens: 2 if the issuer always checks a second factor. Or the values of the claim `acr` that show
   * a check of a second factor. Default: 1.
   */
  readonly level?: VouchedLevel;
  /**
   * True if the issuer vouches for the addresses in its tokens. The claim `email` then counts without `email_verified`.
   * Default: false.
   */
  readonly trustEmail?: boolean;
}

/**
 * The level that another party confirms: the same for all its tokens, or level 2 for tokens with one of these values of
 * `acr`.
 */
export type VouchedLevel = 1 | 2 | { readonly acr: readonly string[] };

/** Returns true if a token with this claim `acr` has level 2. */
export function vouchesForLevel2(level: VouchedLevel | undefined, acr: unknown): boolean {
  if (typeof level === "object") return typeof acr === "string" && level.acr.includes(acr);
  return level === 2;
}

/**
 * Returns the time when the user logged in, in milliseconds since the epoch. Returns null for a time in the future,
 * because it would make every login fresh. Some issuers send milliseconds instead of seconds.
 */
export function readAuthTime(
  { auth_time: loggedInAt }: Readonly<Record<string, unknown>>,
  now: number,
  leewayMs: number,
): number | null {
  if (!isTime(loggedInAt) || loggedInAt <= 0 || loggedInAt * 1000 > now + leewayMs) return null;
  return Math.min(Math.floor(loggedInAt * 1000), now);
}

/** Returns the proof by another party. If the time of the login there is unknown, the login is never fresh. */
export function vouchedProof(authTime: number | null, vouches: boolean, factor?: string): Proof {
  const named = factor === undefined ? {} : { factor };
  return { method: "fed", at: authTime ?? 0, ...named, ...(vouches ? { vouchesFor: 2 } : {}) };
}

/** Returns the mistake in a declared level. Returns null if there is none. */
export function wrongLevel(level: unknown): string | null {
  if (level === undefined || level === 1 || level === 2) return null;
  const acr = isObject(level) && Object.keys(level).join() === "acr" ? level["acr"] : null;
  return Array.isArray(acr) && acr.length > 0 && acr.every((each) => typeof each === "string" && each !== "")
    ? null
    : 'Write 1, 2 or { acr: ["…"] } with the values that mean a second factor.';
}

/** The declaration of an issuer after it was checked. */
export interface TrustedIssuer extends IssuerDeclaration {
  readonly usernameClaim: string;
}

/** Thrown if the declaration of the outside issuers is invalid. Each problem names its field and its fix. */
export class IssuersError extends Error {
  static {
    made(this.prototype);
  }

  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "IssuersError";
    this.problems = problems;
  }
}

/** The key type of each algorithm. Ed25519 has two names. */
export const keyShapes = {
  EdDSA: { kty: "OKP", crv: "Ed25519" },
  Ed25519: { kty: "OKP", crv: "Ed25519" },
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  PS256: { kty: "RSA", crv: undefined },
  PS384: { kty: "RSA", crv: undefined },
  PS512: { kty: "RSA", crv: undefined },
  RS256: { kty: "RSA", crv: undefined },
  RS384: { kty: "RSA", crv: undefined },
  RS512: { kty: "RSA", crv: undefined },
} as const;

const members = [
  "issuer",
  "audience",
  "jwksURL",
  "algorithms",
  "usernameClaim",
  "typ",
  "level",
  "trustEmail",
  "ca",
  "cert",
  "key",
];
const algorithmNames = Object.keys(keyShapes).join(", ");

/**
 * Checks the declared issuers. `ownIssuer` is the `iss` of the service's tokens. Throws `IssuersError` with every
 * mistake.
 */
export function defineIssuers(declared: unknown, ownIssuer: string): readonly TrustedIssuer[] {
  if (!Array.isArray(declared))
    throw new IssuersError(["issuers is not a list. Write [ { issuer, audience, jwksURL, algorithms } ]."]);
  if (declared.length === 0) throw new IssuersError(["issuers is an empty list. Name an issuer, or leave it out."]);
  const problems = declared.flatMap((entry: unknown, at) => collectProblems(entry, `issuers[${at}]`, ownIssuer));
  const names = declared.map((entry: unknown) => (isObject(entry) ? entry["issuer"] : undefined));
  for (const [at, name] of names.entries()) {
    const first = names.indexOf(name);
    if (typeof name === "string" && first < at)
      problems.push(`issuers[${at}].issuer is ${shown(name)}, as issuers[${first}].issuer is. Keep one of the two.`);
  }
  if (problems.length > 0) throw new IssuersError(problems);
  return Object.freeze((declared as readonly IssuerDeclaration[]).map(complete));
}

function complete({ usernameClaim = "sub", algorithms, typ, ...rest }: IssuerDeclaration): TrustedIssuer {
  return Object.freeze({
    ...rest,
    algorithms: Object.freeze([...algorithms]),
    usernameClaim,
    ...(typ === undefined ? {} : { typ }),
  });
}

function collectProblems(entry: unknown, name: string, ownIssuer: string): readonly string[] {
  if (!isObject(entry)) return [`${name} is not an object. Write { issuer, audience, jwksURL, algorithms }.`];
  const unknown = Object.keys(entry).filter((member) => !members.includes(member));
  const wrong = {
    issuer: wrongIssuer(entry["issuer"], ownIssuer),
    audience: wrongText(entry["audience"], "Write the name by which the issuer calls this service in aud."),
    jwksURL: wrongURL(entry["jwksURL"]),
    algorithms: wrongAlgorithms(entry["algorithms"]),
    usernameClaim:
      entry["usernameClaim"] === undefined
        ? null
        : wrongText(entry["usernameClaim"], "Write the name of a claim, such as preferred_username."),
    typ: wrongType(entry["typ"]),
    level: wrongLevel(entry["level"]),
    trustEmail:
      entry["trustEmail"] === undefined || typeof entry["trustEmail"] === "boolean" ? null : "is not true or false.",
    ...wrongTLS(entry),
  };
  return [
    ...unknown.map((member) => `${name} has ${shown(member)}, which is unknown${suggestion(member, members)}`),
    ...Object.entries(wrong).flatMap(([member, what]) =>
      what === null || what === undefined ? [] : [`${name}.${member} ${what}`],
    ),
  ];
}

function wrongIssuer(value: unknown, ownIssuer: string): string | null {
  if (value === ownIssuer)
    return `is ${shown(value)}, which is this service itself. Remove it, or give this service another issuer.`;
  return wrongText(value, "Write the iss of its tokens, character for character.");
}

function wrongText(value: unknown, cure: string): string | null {
  if (value === undefined) return `is missing. ${cure}`;
  const isText = typeof value === "string" && /^[^\u0000-\u001f\u007f-\u009f]{1,255}$/.test(value);
  return isText && value === value.trim() ? null : `is ${shown(value)}. ${cure}`;
}

function wrongURL(value: unknown): string | null {
  if (value === undefined) return "is missing. Write the address of the issuer's JWK Set.";
  const url = typeof value === "string" && /^https?:\/\/[^\s\\]+$/i.test(value) ? URL.parse(value) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "")
    return `is ${shown(value)}. Write an https address without user and fragment.`;
  if (url.protocol === "https:" || isLoopback(url.hostname)) return null;
  return `is ${shown(value)}: without TLS, others on the network could replace the keys. Write an https address; http is for loopback only.`;
}

function isLoopback(hostname: string): boolean {
  // The URL parser has normalized every spelling of an IPv4 address.
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function wrongTLS(entry: Readonly<Record<string, unknown>>): Readonly<Partial<Record<"ca" | "cert" | "key", string>>> {
  const tlsMembers = (["ca", "cert", "key"] as const).filter((member) => entry[member] !== undefined);
  const isCleartext = typeof entry["jwksURL"] === "string" && /^http:/i.test(entry["jwksURL"]);
  if (!isCleartext) return findTLSProblems(entry);
  return Object.fromEntries(
    tlsMembers.map((member) => [member, "is given, but jwksURL is not https. Use https, or remove it."]),
  );
}

function wrongAlgorithms(value: unknown): string | null {
  if (value === undefined) return `is missing. Name the algorithms of the issuer: some of ${algorithmNames}.`;
  if (!Array.isArray(value) || value.length === 0)
    return `is ${shown(value)}. Write a list of the algorithms of the issuer: some of ${algorithmNames}.`;
  const other: unknown = value.find((alg: unknown) => typeof alg !== "string" || !Object.hasOwn(keyShapes, alg));
  if (other !== undefined)
    return `names ${shown(other)}. Only asymmetric signatures are accepted: some of ${algorithmNames}.`;
  return new Set(value).size < value.length ? "names one algorithm twice. Name it once." : null;
}

function wrongType(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === "string" && /^[\w!#$&^.+/-]{1,100}$/.test(value)
    ? null
    : `is ${shown(value)}. Write a media type such as at+jwt, or leave it out.`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  // The text before an @ in a URL may be a password.
  const open = text.replace(/\/\/[^/"]*@/, "//…@");
  return open.length > 80 ? `${open.slice(0, 80)}…` : open;
}
