import { accepted, rejected, type Scheme, type Verdict } from "../../../access/scheme/scheme.ts";
import type { Call } from "../../../core/call/call.ts";
import { aFunction, aLevel, anObject, optional, text } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { aSecret, type Secret } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { provedBy } from "../../../core/levels.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Change } from "../../../store/store.ts";
import { builtInScheme } from "../gate/built-in-schemes.ts";
import { identityOf, type Account } from "../records/accounts.ts";
import type { Bindings } from "../records/bindings.ts";

/** Options of `remoteUser()`: the headers of the proxy, and the secret that proves that the proxy sent them. */
export interface RemoteUserOptions {
  /** The header with the username. Default: `X-Remote-User`. */
  readonly header?: string;
  /** The secret that the proxy must send in `X-Remote-User-Secret`. */
  readonly secret?: Secret;
  readonly bindings: Pick<Bindings, "resolve">;
  /** 2 if the proxy has checked a second factor. Default: 1. */
  readonly level?: 1 | 2;
  /**
   * Returns the changes that make a user that only the proxy knows so far (`MakeAccount`). Returns null if there is not
   * enough data to make one.
   */
  readonly create?: (username: string, call: Call) => readonly Change[] | null;
}

const name = "remote-user";
const secretHeader = "x-remote-user-secret";
const detail = "The remote user is unknown or not active.";
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const checks: ChecksOf<RemoteUserOptions> = {
  header: optional(text),
  secret: optional(aSecret),
  bindings: anObject,
  create: optional(aFunction),
  level: optional(aLevel),
};

/** Accepts the user that a trusted proxy has already identified. */
export function remoteUser(options: RemoteUserOptions): Scheme {
  requireOptions(options, checks, { of: "remoteUser" });
  const { header = "X-Remote-User", secret, bindings, create, level = 1 } = options;
  const vouches = level === 2 ? { vouchesFor: 2 as const } : {};
  function judge(account: Account | null, { now }: Call): Verdict {
    // The reason is not "unknown", because that reason counts as a guess. A name is not a secret, and the guess would
    // often be counted for the proxy's address.
    return account?.active === true
      ? accepted(identityOf(account, name, provedBy([{ method: "proxy", at: now, ...vouches }])))
      : rejected("inactive", detail);
  }

  return builtInScheme({
    name,
    carriers: [{ in: "proxy", name: header }],
    proves: "each",
    problems: ["identity_not_bound"],
    authenticate(credential, call): Eventually<Verdict> {
      if (secret !== undefined && !hasProxySecret(secret, call))
        return rejected("forged", "The proxy's secret is wrong or missing.");
      const username = parseUsername(credential);
      if (username === null) return rejected("malformed", "The remote user's name is malformed.");
      const identity = { issuer: "", subject: username, username };
      const make = create === undefined ? undefined : () => create(username, call);
      return after(bindings.resolve(identity, call.now, make), (account) => judge(account, call));
    },
  });
}

function hasProxySecret(secret: Secret, call: Call): boolean {
  const sent = call.headers(secretHeader);
  if (sent.length > 1) throw problem("duplicate_credentials");
  return sent[0] !== undefined && secret.equals(Buffer.from(sent[0], "latin1"));
}

/**
 * Decodes a text that a proxy wrote into a header. Node reads its bytes as Latin-1. Most proxies write UTF-8, and some
 * write Latin-1.
 */
export function readProxyText(header: string): string {
  return readUtf8(header) ?? header;
}

function parseUsername(credential: string): string | null {
  const name = readProxyText(credential);
  if (name.length > 300 || /[:\u0000-\u001f\u007f-\u009f]/.test(name)) return null;
  // Names are stored trimmed. A name that only looks the same (with U+00A0 before it) must not become a second account.
  return [...name].length > 150 || name !== name.trim() ? null : name;
}

function readUtf8(latin1: string): string | null {
  // The value is already text, from a binding that decoded it.
  if (/[^\u0000-\u00ff]/.test(latin1)) return null;
  try {
    return utf8.decode(Buffer.from(latin1, "latin1"));
  } catch {
    return null;
  }
}
