import { isIP } from "node:net";
import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Call } from "../../../core/call/call.ts";
import { optional, text, texts } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { PasskeyRefusal } from "../../../core/observation.ts";
import { problem } from "../../../core/problem/problem.ts";
import { defineFeature, type Feature, type Host } from "../../../feature/feature.ts";
import { textSchema, type JSONSchema } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { FirstProofBody, FirstStep } from "../gate/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { FactorsContract } from "../people/contracts/factors.ts";
import { MAX_LOGIN_BODY_BYTES } from "../people/credentials.ts";
import { PRUNE_SECONDS } from "../people/options.ts";
import type { AccountsFeature } from "../people/people.ts";
import { makeChallenges, usedChallengesCollection, type Challenges } from "./challenges.ts";
import { makeUserHandles, userHandlesCollection } from "./handles.ts";
import {
  assert,
  isPasskey,
  passkeyKind,
  refusePasskey,
  requestOptions,
  type PasskeyParts,
  type RelyingParty,
} from "./kind.ts";
import { warnOfOtherHosts } from "./other-hosts.ts";
import { readCredentialId, readUserHandle } from "./webauthn.ts";

/** Options of `passkeys()`. */
export interface PasskeyOptions {
  /** The host that passkeys are bound to (RP id). Default: the host of the service's own origin, or `localhost`. */
  readonly rpId?: string;
  /** Name of the service in the browser's window. Default: the name of the service. */
  readonly rpName?: string;
  /**
   * The origins of other pages that may use the passkeys, in addition to the service's own. They must be on the host
   * `rpId` or a subdomain of it.
   */
  readonly origins?: readonly string[];
}

const checks: ChecksOf<PasskeyOptions> = { rpId: optional(text), rpName: optional(text), origins: optional(texts) };

/**
 * Passkeys as a login without a username, and as a second factor (WebAuthn Level 3, attestation `none`, ES256, EdDSA
 * and RS256). If the authenticator checks the person, the login has level 2 without another factor. Needs the service's
 * secret.
 *
 * @example
 * ```ts
 * import { accounts, sessionLogin } from "latchkey";
 * import { passkeys } from "latchkey/auth";
 *
 * const people = accounts();
 * export const features = [people, sessionLogin(people), passkeys(people, { rpId: "example.com" })];
 * ```
 */
export function passkeys(people: AccountsFeature, options: PasskeyOptions = {}): Feature {
  return defineFeature({
    name: "passkeys",
    needs: [people],
    setUp(host) {
      const { rpId = chooseHost(host.ownOrigins) } = options;
      const more =
        typeof rpId !== "string" || isIP(rpId) === 0 ? [] : [`rpId is ${rpId}, which is an IP address; name a host`];
      requireOptions(options, checks, { more });
      const { accounts, logins, factors } = host.use(people);
      const [key] = host.secret.deriveEach("passkey-challenge");
      const { store, observe, throttle } = host;
      const party = createParty(host, rpId, options);
      const challenges = makeChallenges(store, key!);
      const handles = makeUserHandles(store);
      const parts = { accounts, factors, throttle, party, challenges, observe, handles };
      factors.registerFactorKind(passkeyKind(parts, key!));
      logins.registerFirstProof({
        members: ["pending", "credential"],
        prove: (context, body) => prove(parts, context, body),
      });
      return {
        offer: null,
        endpoints: [startEndpoint(party, challenges)],
        collections: [usedChallengesCollection, userHandlesCollection],
        upkeep: [{ everySeconds: PRUNE_SECONDS, due: challenges.due }],
        start: () => warnOfOtherHosts(store, rpId, observe),
      };
    },
  });
}

function chooseHost(ownOrigins: readonly string[]): string {
  const [origin] = ownOrigins;
  return origin === undefined ? "localhost" : new URL(origin).hostname;
}

function createParty(host: Host, id: string, { rpName = host.name, origins = [] }: PasskeyOptions): RelyingParty {
  const named = [...host.ownOrigins, ...origins].filter((origin) => isOnHost(origin, id));
  return {
    id,
    name: rpName,
    // A service without a declared origin accepts the origin that the browser requested, if it is on the host `id`.
    isOrigin: (origin, { client }: Call) =>
      named.includes(origin) || (host.ownOrigins.length === 0 && origin === client.origin && isOnHost(origin, id)),
  };
}

function isOnHost(origin: string, id: string): boolean {
  const hostname = URL.parse(origin)?.hostname;
  return hostname === id || hostname?.endsWith(`.${id}`) === true;
}

interface ProvingParts extends PasskeyParts {
  readonly accounts: Pick<AccountsContract, "find">;
  readonly factors: Pick<FactorsContract, "findFactor">;
  readonly throttle: LoginThrottle;
  readonly challenges: Challenges;
}

/** Checks the first proof by a passkey. Requires that the authenticator has checked the person. */
async function prove(
  parts: ProvingParts,
  context: Context,
  { pending, credential }: FirstProofBody,
): Promise<FirstStep> {
  const { accounts, factors, throttle, challenges } = parts;
  const { call } = context;
  await throttle.check(call);
  const challenge = await challenges.use(pending!, call.now);
  if (challenge === null) throw problem("login_expired", { headers: [["WWW-Authenticate", challengeHeader(call)]] });
  const id = readCredentialId(credential);
  const found = id === null ? null : await factors.findFactor(id);
  const factor = found !== null && isPasskey(found) ? found : null;
  const account = factor === null ? null : await accounts.find(factor.userId);
  const refused = async (reason: PasskeyRefusal | null): Promise<Error> => {
    const known = { userId: account?.id ?? null, factorId: factor?.id ?? null };
    if (reason !== null) refusePasskey(parts, call, reason, known);
    await throttle.fail(call);
    return problem("invalid_credentials", { headers: [["WWW-Authenticate", challengeHeader(call)]] });
  };
  if (factor === null || account === null) throw await refused(id === null ? "malformed" : "unknown");
  // A login without a username requires the user handle (§7.2 step 6). `assert` compares it.
  if (readUserHandle(credential) === null) throw await refused("user_handle");
  const success = await assert(parts, call, { factor, account, credential, challenge });
  // `assert` has logged the reason.
  if (success === null) throw await refused(null);
  if (success.proof.verifiesUser !== true) throw await refused("not_verified");
  if (!account.active) throw await refused("inactive");
  const proof = { ...success.proof, at: call.now, factor: String(factor.id) };
  return { account, proofs: [proof], used: { factor, data: success.data } };
}

function challengeHeader({ realm }: Call): string {
  return `Session realm="${realm}"`;
}

const ask: JSONSchema = { type: "object" };
const started = defineResponse({ name: "login", fields: { pending: textSchema, ask } });

function startEndpoint(party: RelyingParty, challenges: Challenges): Endpoint {
  return builtInEndpoint({
    method: "POST",
    path: "/api/login/passkey/",
    access: "open",
    logsIn: true,
    consumes: ["application/json"],
    bodyOptional: true,
    maxBodyBytes: MAX_LOGIN_BODY_BYTES,
    guard: (context) => context.requireSameSite(),
    documentation: {
      summary: "Start to log in with a passkey",
      tag: "factors",
      responses: {
        200: {
          description: "`ask` is for `navigator.credentials.get`. Send its answer with `pending` to a login.",
        },
      },
      problems: ["cross_site"],
    },
    responses: { 200: started },
    handle({ call }) {
      const { pending, challenge } = challenges.make(call.now);
      const options = requestOptions(party, challenge, [], "required");
      return started.reply(200, { pending, ask: options }, { cache: "no-store" });
    },
  });
}
