import type * as OpenIDClient from "openid-client";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { isObject } from "../../../core/checking/members.ts";
import { digest } from "../../../core/crypto/secret.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";
import { keyShapes } from "../issuers/declaration.ts";
import { readClaims, shown, type Claims } from "./claims.ts";
import { isSafeAddress, type IdentityProvider } from "./declaration.ts";
import type { Flow, FlowProof } from "./flows.ts";
import { limited, type ProviderFetch } from "./network.ts";

type Library = typeof OpenIDClient;
type Metadata = OpenIDClient.ServerMetadata;

/** Loads `openid-client`. Throws `DeclarationError` with the fix if it is not installed. */
export async function loadLibrary(): Promise<Library> {
  try {
    return await import("openid-client");
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new DeclarationError([
      "identity providers need the package openid-client, which is not installed; install it: npm install openid-client@6",
    ]);
  }
}

/**
 * An answer of a provider that was not accepted, or no answer. The message is for the operator and contains no secret.
 */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
}

/** A login that the provider has confirmed. */
export interface ConfirmedLogin {
  /** The claims of the ID token, after every check. */
  readonly claims: Claims;
  /**
   * Returns the claims with those of the userinfo endpoint. Some providers send the e-mail address only there. Throws
   * `ProviderFault`.
   */
  complete(): Promise<Claims>;
}

/** A client of one provider. Times in milliseconds since the epoch. Every method throws `ProviderFault` if it fails. */
export interface ProviderClient {
  readonly provider: IdentityProvider;
  /**
   * Returns false if the provider does not report when its user logged in, so that it cannot confirm a login. Returns
   * true if it does not say, or does not answer now.
   */
  sendsAuthTime(now: number): Promise<boolean>;
  /** Returns the address of the provider to which the browser is sent. */
  startURL(flow: Flow, proof: FlowProof, now: number): Promise<string>;
  /** Exchanges the answer of the provider, which is in the query of the callback, for the claims of its user. */
  redeem(query: URLSearchParams, flow: Flow, proof: FlowProof, now: number): Promise<ConfirmedLogin>;
}

/** The parts of a client. */
export interface ProviderClientOptions {
  readonly library: Library;
  readonly provider: IdentityProvider;
  /** The address of the callback, as the provider knows it. */
  readonly redirectURI: string;
  readonly fetch: ProviderFetch;
}

/** The time for which the discovered addresses are used without a new request. */
const FRESH_MS = 3_600_000;
/** The time for which the discovered addresses are used while the provider does not answer. */
const USABLE_MS = 24 * 3_600_000;
/** The shortest time between two requests for the addresses, successful or not. */
const RETRY_MS = 30_000;
/** The time for which a login at the provider confirms a login here. */
export const CONFIRMED_SECONDS = 600;
const TIMEOUT_SECONDS = 5;
const LEEWAY_SECONDS = 30;

/** Makes the client of a provider. Sends no request before its first login. */
export function makeProviderClient({ library, provider, redirectURI, fetch }: ProviderClientOptions): ProviderClient {
  const network = limited(fetch);
  const isCleartext = provider.issuer.startsWith("http:");
  const keys: OpenIDClient.ExportedJWKSCache | Record<string, never> = {};
  const discover = cacheMetadata(async () => {
    const insecure = isCleartext ? { execute: [library.allowInsecureRequests] } : {};
    const options = { [library.customFetch]: network, timeout: TIMEOUT_SECONDS, ...insecure };
    const { issuer, clientId } = provider;
    const found = await library.discovery(new URL(issuer), clientId, undefined, library.None(), options);
    return readMetadata(found.serverMetadata(), issuer);
  });

  async function configure(now: number): Promise<OpenIDClient.Configuration> {
    const metadata = await discover(now);
    // The library reads the clock of the machine, and `now` may differ from it.
    const skew = {
      [library.clockSkew]: Math.round((now - Date.now()) / 1000),
      [library.clockTolerance]: LEEWAY_SECONDS,
    };
    const config = new library.Configuration(
      metadata,
      provider.clientId,
      skew,
      authentication(library, provider, metadata),
    );
    config[library.customFetch] = network;
    config.timeout = TIMEOUT_SECONDS;
    if (isCleartext) library.allowInsecureRequests(config);
    // Without this, the signature of an ID token over TLS is not checked.
    library.enableNonRepudiationChecks(config);
    library.setJwksCache(config, keys as OpenIDClient.ExportedJWKSCache);
    return config;
  }

  return {
    provider,
    async sendsAuthTime(now) {
      const found = await discover(now).catch(() => null);
      return found?.claims_supported?.includes("auth_time") ?? true;
    },
    startURL: (flow, proof, now) =>
      orFault(
        async () =>
          library.buildAuthorizationUrl(await configure(now), buildRequest(provider, redirectURI, flow, proof)).href,
      ),
    redeem: (query, { state }, { nonce, verifier }, now) =>
      orFault(async () => {
        const config = await configure(now);
        const tokens = await library.authorizationCodeGrant(config, new URL(`${redirectURI}?${query.toString()}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = readClaims(tokens.claims(), provider.clientId, now);
        if (typeof claims === "string") throw new ProviderFault(claims);
        return {
          claims,
          complete: () =>
            orFault(async () => {
              if (config.serverMetadata().userinfo_endpoint === undefined) return claims;
              return addUserInfo(claims, await library.fetchUserInfo(config, tokens.access_token, claims.sub));
            }),
        };
      }),
  };
}

/**
 * Adds the claims that only the userinfo endpoint has. A claim of the ID token stays as it is: it is signed. An address
 * and its verification belong together, so they come from one source unless both have the same address.
 */
function addUserInfo(claims: Claims, found: Readonly<Record<string, unknown>>): Claims {
  const isSame = claims.email === undefined || claims.email === found["email"] || found["email"] === undefined;
  return {
    ...claims,
    email: claims.email ?? found["email"],
    email_verified: claims.email_verified ?? (isSame ? found["email_verified"] : undefined),
    name: claims.name ?? found["name"],
  };
}

/** The parameters of an authentication request (OpenID Connect Core §3.1.2.1). */
function buildRequest(
  { scopes, level }: IdentityProvider,
  redirectURI: string,
  { state, purpose }: Flow,
  { nonce, verifier }: FlowProof,
): Record<string, string> {
  return {
    redirect_uri: redirectURI,
    scope: scopes.join(" "),
    state,
    nonce,
    code_challenge: digest(verifier).toString("base64url"),
    code_challenge_method: "S256",
    ...(typeof level === "object" ? { acr_values: level.acr.join(" ") } : {}),
    // The provider must then report the time of the login, and ask a user again who logged in earlier (OpenID Connect
    // Core §3.1.2.1).
    ...(purpose.kind === "confirm" ? { max_age: String(CONFIRMED_SECONDS) } : {}),
  };
}

/**
 * Returns how the client authenticates: in the header, as the standard requires, or in the body if the provider does
 * not accept the header.
 */
function authentication(
  library: Library,
  { clientSecret }: IdentityProvider,
  metadata: Metadata,
): OpenIDClient.ClientAuth {
  const secret = clientSecret.reveal().toString("utf8");
  const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = metadata;
  return methods.includes("client_secret_basic") ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

/** Checks the discovered metadata. The issuer must be the declared one, and only asymmetric signatures are accepted. */
function readMetadata(found: Readonly<Metadata>, issuer: string): Metadata {
  if (found.issuer !== issuer)
    throw new ProviderFault(`its issuer is ${shown(found.issuer)}, and the declared issuer is ${shown(issuer)}`);
  for (const member of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const url = URL.parse(found[member] ?? "");
    if (url === null || !isSafeAddress(url)) throw new ProviderFault(`its ${member} is not an https address`);
  }
  const listed = found.id_token_signing_alg_values_supported ?? ["RS256"];
  const algorithms = listed.filter((each) => Object.hasOwn(keyShapes, each));
  if (algorithms.length === 0) throw new ProviderFault("it signs ID tokens only with algorithms that are not accepted");
  // Leaves out the library's functions, which cannot be copied.
  return { ...(parseJSON(JSON.stringify(found)) as Metadata), id_token_signing_alg_values_supported: algorithms };
}

/** Returns a function that caches the discovered metadata. Concurrent callers wait for the same request. */
function cacheMetadata(discover: () => Promise<Metadata>): (now: number) => Promise<Metadata> {
  let cached: { readonly metadata: Metadata; readonly at: number } | null = null;
  let failed: { readonly fault: ProviderFault; readonly at: number } | null = null;
  let pending: Promise<void> | null = null;

  async function load(now: number): Promise<void> {
    try {
      cached = { metadata: await discover(), at: now };
      failed = null;
    } catch (error) {
      failed = { fault: toFault(error), at: now };
    }
  }

  return async (now) => {
    if (cached !== null && isWithin(FRESH_MS, cached.at, now)) return cached.metadata;
    if (failed === null || !isWithin(RETRY_MS, failed.at, now)) {
      pending ??= load(now).finally(() => (pending = null));
      await pending;
    }
    if (cached !== null && isWithin(USABLE_MS, cached.at, now)) return cached.metadata;
    throw failed?.fault ?? new ProviderFault("its configuration is too old");
  };
}

/**
 * Returns true if the two times are less than the span apart. So it also returns false if the clock was set back by
 * more than the span.
 */
function isWithin(spanMs: number, since: number, now: number): boolean {
  return Math.abs(now - since) < spanMs;
}

/** Turns every error of the library or the network into a fault with a reason for the operator. */
async function orFault<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw toFault(error);
  }
}

function toFault(error: unknown): ProviderFault {
  return error instanceof ProviderFault ? error : new ProviderFault(describeError(error), { cause: error });
}

/**
 * Returns the message, and the OAuth error code (`invalid_grant`). Leaves out the body of the answer, which may contain
 * tokens.
 */
function describeError(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const why =
    cause instanceof Error ? `: ${cause.message}${describeDifference(cause.cause)}` : describeDifference(cause);
  const code = isObject(error) && typeof error["error"] === "string" ? ` (${error["error"].slice(0, 60)})` : "";
  return `${message}${why}${code}`.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ").slice(0, 300);
}

/** The compared values that a reason may show. None of them is a secret. */
const shownValues: readonly string[] = ["issuer", "iss", "aud", "azp"];

/** Returns both values of a comparison of the library that failed. Returns an empty text for any other cause. */
function describeDifference(cause: unknown): string {
  if (!isObject(cause)) return "";
  const { attribute, claim, body, claims, expected } = cause;
  const name = typeof attribute === "string" ? attribute : claim;
  const source = isObject(body) ? body : claims;
  if (typeof name !== "string" || !shownValues.includes(name) || expected === undefined || !isObject(source)) return "";
  return `: it is ${shown(source[name])}, and ${shown(expected)} is expected`;
}
