import type { Call } from "../../core/call/call.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { Observer } from "../../core/observation.ts";
import { Problem, problem } from "../../core/problem/problem.ts";
import type { Throttle } from "../throttle/throttle.ts";
import { explain, Witness, type Explanation } from "./explanation.ts";
import { joinSchemes } from "./joining.ts";
import { headersRead, collectPlaces, readPresented, type Presented } from "./presented.ts";
import type { Carrier, Rejection, RejectionCode, Scheme, AssuranceCheck, Verdict } from "./scheme.ts";
import { requireChallenge, requireVerdict } from "./verdict.ts";

/** The caller of a request, according to its credentials. */
export interface IdentifiedCaller {
  /** Null if no credential was accepted. */
  readonly identity: Identity | null;
  /** True if a browser may have sent one of the accepted credentials automatically. */
  readonly ambient: boolean;
  /**
   * The rejected cookies. Browsers send cookies automatically, so a rejected cookie ends a request only if the request
   * needs a caller and has no accepted credential.
   */
  readonly passedOver: readonly Refused[];
}

/** The schemes of a service as a set. Their order never changes an answer. */
export interface SchemeSet {
  /**
   * Checks every credential of a request. Synchronous if all schemes that it asks are synchronous. Ends the request if
   * a credential other than a cookie is wrong, or if credentials belong to different users. Records the verdicts in
   * `witness`, for `explainWitness`.
   */
  identify(call: Call, witness?: Witness | null): Eventually<IdentifiedCaller>;
  /** Returns the result of each scheme for a request. Does not count guesses, report rejections or end the request. */
  explain(call: Call): Eventually<Explanation>;
  /** Returns the results that `identify` has recorded in the witness. */
  explainWitness(witness: Witness): Explanation;
  /**
   * Returns the problem for a request that needs a caller and has none. It reports why a cookie was rejected, or that
   * the request has no credential.
   */
  challenge(call: Call, passedOver?: readonly Refused[]): Problem;
  /**
   * Counts each unknown or forged cookie of a request as a guess. Ends the request with 429 if there were too many
   * guesses before.
   */
  countGuesses(call: Call, passedOver: readonly Refused[]): Eventually<unknown>;
  /** The value of `Vary`: the header fields that are read. */
  readonly vary: string;
  /** The value of `Vary` with `Accept` first. */
  readonly varyWithAccept: string;
  /** All places where a credential may travel. */
  readonly carriers: readonly Carrier[];
  /** The query parameters that are credentials, by name. */
  readonly parameters: ReadonlyMap<string, unknown>;
  /** True if one of the schemes reads bodies. */
  readonly readsBody: boolean;
}

export interface SchemeSetOptions {
  readonly schemes: readonly Scheme[];
  readonly throttle: Throttle;
  readonly observe: Observer | null;
  /**
   * Decides whether an accepted credential is enough for its account, which may require a second factor. Null: every
   * accepted credential is enough.
   */
  readonly standing?: AssuranceCheck | null;
}

/** A refused credential with the reason. */
export interface Refused {
  readonly scheme: Scheme;
  readonly rejection: Rejection;
}

export const nobody: IdentifiedCaller = { identity: null, ambient: false, passedOver: [] };

/**
 * Joins schemes into a set. Schemes of the same name that are `shared` become one scheme. Throws if two other schemes
 * have the same name or read the same place.
 */
export function makeSchemeSet({ schemes: named, throttle, observe, standing = null }: SchemeSetOptions): SchemeSet {
  const schemes = joinSchemes(named, standing).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  requireDistinctNames(schemes);
  const places = collectPlaces(schemes);
  const vary = headersRead(places).join(", ");

  function identify(call: Call, witness: Witness | null = null): Eventually<IdentifiedCaller> {
    const presented = readPresented(places, call, (header) => {
      witness?.dropped.push(header);
      reportDropped(observe, call, header);
    });
    if (presented.length === 0) return nobody;
    if (witness !== null) witness.presented = presented;
    return after(askAll(presented, call, witness?.verdicts ?? []), (verdicts) => weigh(call, presented, verdicts));
  }

  function explainCall(call: Call): Eventually<Explanation> {
    const witness = new Witness();
    const end = (error: unknown): Explanation => {
      if (error instanceof Problem) return explain(schemes, witness, error);
      throw error;
    };
    try {
      witness.presented = readPresented(places, call, (header) => witness.dropped.push(header));
      const explanation = after(askAll(witness.presented, call, witness.verdicts), () => explain(schemes, witness));
      return explanation instanceof Promise ? explanation.catch(end) : explanation;
    } catch (error) {
      return end(error);
    }
  }

  function weigh(call: Call, presented: readonly Presented[], verdicts: readonly Verdict[]) {
    const { identity, ambient, conflict, refused, passedOver } = weighVerdicts(presented, verdicts);
    const all = passedOver.length === 0 ? refused : [...refused, ...passedOver];
    for (const each of all) reportRejected(observe, call, each);
    if (refused.length > 0)
      return after(countGuesses(call, all), () => {
        throw refusal(call, all);
      });
    if (conflict) throw problem("conflicting_credentials");
    return identity === null && passedOver.length === 0 ? nobody : { identity, ambient, passedOver };
  }

  function countGuesses(call: Call, refused: readonly Refused[]): Eventually<unknown> {
    const guesses = refused.filter(
      ({ rejection }) => rejection.reason === "unknown" || rejection.reason === "forged",
    ).length;
    return guesses === 0 ? undefined : after(throttle.check(call), () => failAll(throttle, call, guesses));
  }

  function refusal(call: Call, refused: readonly Refused[]): Problem {
    const headers = challenges(schemes, call, refused);
    const { rejection } = refused[0]!;
    const code = headers.length === 0 ? "authentication_failed" : chooseCode(refused[0]!);
    return problem(code, { detail: rejection.detail, headers });
  }

  function challenge(call: Call, passedOver: readonly Refused[] = []): Problem {
    if (passedOver.length > 0) return refusal(call, passedOver);
    const headers = challenges(schemes, call, []);
    const detail = schemes.length === 1 ? schemes[0]!.missingDetail : undefined;
    return problem(headers.length === 0 ? "authentication_failed" : "not_authenticated", {
      headers,
      ...(detail === undefined ? {} : { detail }),
    });
  }

  return {
    identify,
    explain: explainCall,
    explainWitness: (witness) => explain(schemes, witness),
    challenge,
    countGuesses,
    vary,
    varyWithAccept: vary === "" ? "Accept" : `Accept, ${vary}`,
    carriers: schemes.flatMap((scheme) => scheme.carriers),
    parameters: places.query,
    readsBody: schemes.some(({ readsBody }) => readsBody === true),
  };
}

/** The combined result of the verdicts. */
interface Sum extends IdentifiedCaller {
  readonly conflict: boolean;
  readonly refused: readonly Refused[];
}

function weighVerdicts(presented: readonly Presented[], verdicts: readonly Verdict[]): Sum {
  let identity: Identity | null = null;
  let ambient = false;
  let conflict = false;
  const refused: Refused[] = [];
  const passedOver: Refused[] = [];
  for (const [at, verdict] of verdicts.entries()) {
    const { scheme, carrier, ambient: isSentUnasked } = presented[at]!;
    switch (verdict.kind) {
      case "absent":
        break;
      case "accepted":
        conflict ||= identity !== null && identity.id !== verdict.identity.id;
        identity ??= verdict.identity;
        ambient ||= isSentUnasked;
        break;
      case "rejected":
        (carrier.in === "cookie" ? passedOver : refused).push({ scheme, rejection: verdict });
    }
  }
  return { identity, ambient, conflict, refused, passedOver };
}

function failAll(throttle: Throttle, call: Call, guesses: number): Eventually<unknown> {
  const counted = Array.from({ length: guesses }, () => throttle.fail(call));
  const late = counted.filter((each) => each instanceof Promise);
  return late.length === 0 ? undefined : Promise.all(late);
}

/**
 * Returns the challenges of all schemes, each as its own header field: clients misread several challenges in one field
 * (RFC 9110 §11.6.1).
 */
function challenges(schemes: readonly Scheme[], call: Call, refused: readonly Refused[]): [string, string][] {
  const headers: [string, string][] = [];
  for (const scheme of schemes) {
    const own = refused.find((each) => each.scheme === scheme);
    const value = requireChallenge(scheme, scheme.challenge?.(call, own?.rejection ?? null) ?? null);
    if (value !== null) headers.push(["WWW-Authenticate", value]);
  }
  return headers;
}

function reportRejected(observe: Observer | null, call: Call, refused: Refused): void {
  const { scheme, rejection } = refused;
  observe?.({
    kind: "credential_rejected",
    requestId: call.requestId,
    scheme: scheme.name,
    code: chooseCode(refused),
    reason: rejection.reason,
    address: call.client.address,
  });
}

function reportDropped(observe: Observer | null, call: Call, header: string): void {
  observe?.({ kind: "identity_header_dropped", requestId: call.requestId, header, peer: call.arrival.peer });
}

function chooseCode({ scheme, rejection }: Refused): RejectionCode {
  return rejection.code ?? scheme.rejectedAs ?? "invalid_token";
}

/** Asks the schemes one after another, so that always the same scheme ends the request if several schemes throw. */
function askAll(presented: readonly Presented[], call: Call, verdicts: Verdict[]): Eventually<readonly Verdict[]> {
  while (verdicts.length < presented.length) {
    const { scheme, carrier, credential, rejection } = presented[verdicts.length]!;
    const verdict = rejection ?? scheme.authenticate(credential, call, carrier);
    if (verdict instanceof Promise) {
      return (call.awaiting(() => `The scheme ${scheme.name}`, verdict) as Promise<Verdict>).then((late) => {
        verdicts.push(requireVerdict(scheme, late));
        return askAll(presented, call, verdicts);
      });
    }
    verdicts.push(requireVerdict(scheme, verdict));
  }
  return verdicts;
}

function requireDistinctNames(schemes: readonly Scheme[]): void {
  for (const [at, { name }] of schemes.entries()) {
    if (schemes[at + 1]?.name === name)
      throw new TypeError(`Two schemes have the name ${name}. Remove or rename one of them.`);
  }
}
