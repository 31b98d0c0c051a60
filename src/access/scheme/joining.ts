import type { Call } from "../../core/call/call.ts";
import { atOnce } from "../../core/checking/at-once.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { checkAssurance } from "./assurance.ts";
import { formatCarrier } from "./presented.ts";
import {
  absent,
  rejected,
  type Carrier,
  type Rejection,
  type Scheme,
  type AssuranceCheck,
  type Verdict,
} from "./scheme.ts";
import { requireVerdict } from "./verdict.ts";

/**
 * Returns the schemes of a service. Shared schemes with the same name become one scheme. The order of the schemes never
 * changes an answer. `standing` checks every accepted identity.
 */
export function joinSchemes(schemes: readonly Scheme[], standing: AssuranceCheck | null = null): readonly Scheme[] {
  const done = new Set<string>();
  return schemes.flatMap((scheme) => {
    const { name, shared = false } = scheme;
    if (!shared) return [standing === null ? scheme : judge(scheme, standing)];
    if (done.has(name)) return [];
    done.add(name);
    const parts = schemes.filter((each) => each.name === name && each.shared === true);
    if (parts.length === 1 && parts[0]!.recognizes === undefined)
      return [standing === null ? parts[0]! : judge(parts[0]!, standing)];
    return [join(parts, standing)];
  });
}

/**
 * Returns a scheme whose accepted identities are also checked by `standing`. The functions of the scheme are called as
 * its methods, so that they keep their `this`.
 */
function judge(scheme: Scheme, standing: AssuranceCheck): Scheme {
  const { name, carriers, ambient, readsBody, shared, missingDetail, rejectedAs, alsoRejectedAs, proves } = scheme;
  return {
    name,
    carriers,
    ...(ambient === undefined ? {} : { ambient }),
    ...(readsBody === undefined ? {} : { readsBody }),
    ...(shared === undefined ? {} : { shared }),
    ...(missingDetail === undefined ? {} : { missingDetail }),
    ...(rejectedAs === undefined ? {} : { rejectedAs }),
    ...(alsoRejectedAs === undefined ? {} : { alsoRejectedAs }),
    ...(proves === undefined ? {} : { proves }),
    ...(scheme.challenge === undefined
      ? {}
      : { challenge: (call: Call, rejection: Rejection | null) => scheme.challenge!(call, rejection) }),
    authenticate: (credential, call, carrier) =>
      after(scheme.authenticate(credential, call, carrier), (result) =>
        checkAssurance(scheme, requireVerdict(scheme, result), call, standing),
      ),
  };
}

function join(parts: readonly Scheme[], standing: AssuranceCheck | null): Scheme {
  const rest = parts.filter(({ recognizes }) => recognizes === undefined);
  const knowing = parts.filter(({ recognizes }) => recognizes !== undefined);
  // The parts without `recognizes` check all credentials that no other part recognizes. The joined scheme has the
  // `rejectedAs` of the first part.
  const [main, ...others] = [...rest, ...knowing];
  const { name, rejectedAs = "invalid_token" } = main!;
  const codes = [main!, ...others].flatMap((each) => [
    each.rejectedAs ?? "invalid_token",
    ...(each.alsoRejectedAs ?? []),
  ]);
  const missingDetail = parts.find((each) => each.missingDetail !== undefined)?.missingDetail;

  /**
   * Asks one part after another until one accepts the credential, or rejects it with a reason other than `unknown`.
   * Otherwise returns the last rejection, or `refused` if no part rejected the credential. A cookie that no part knows
   * may belong to another program, so it counts as absent.
   */
  function ask(
    [part, ...more]: readonly Scheme[],
    credential: string,
    call: Call,
    carrier: Carrier,
    refused: Verdict = carrier.in === "cookie" ? absent : unknown,
  ): Eventually<Verdict> {
    if (part === undefined) return refused;
    return after(part.authenticate(credential, call, carrier), (result): Eventually<Verdict> => {
      const verdict = requireVerdict(part, result);
      if (verdict.kind === "accepted")
        return standing === null ? verdict : checkAssurance(part, verdict, call, standing);
      const answer = verdict.kind === "absent" ? refused : withCode(part, verdict);
      const isKnown = answer.kind === "rejected" && answer.reason !== "unknown";
      return isKnown ? answer : ask(more, credential, call, carrier, answer);
    });
  }

  function withCode({ rejectedAs: own = "invalid_token" }: Scheme, rejection: Rejection): Rejection {
    return rejection.code !== undefined || own === rejectedAs ? rejection : { ...rejection, code: own };
  }

  const carriers = collectCarriers(parts);
  // The parts that read each place: first the parts with `recognizes`, then the parts without.
  const readers = new Map(
    carriers.map((carrier) => [carrier, [collectReaders(knowing, carrier), collectReaders(rest, carrier)] as const]),
  );
  return {
    name,
    shared: true,
    carriers,
    ambient: parts.some(({ ambient }) => ambient === true),
    readsBody: parts.some(({ readsBody }) => readsBody === true),
    rejectedAs,
    alsoRejectedAs: [...new Set(codes)].filter((code) => code !== rejectedAs),
    ...(missingDetail === undefined ? {} : { missingDetail }),
    ...(parts.some(({ challenge }) => challenge !== undefined) ? { challenge: joinChallenges(parts) } : {}),
    authenticate(credential, call, carrier) {
      const [first, others] = readers.get(carrier)!;
      const own = first.find((part) => isRecognized(part, credential));
      return ask(own === undefined ? others : [own], credential, call, carrier);
    },
  };
}

const unknown = rejected("unknown");

function joinChallenges(parts: readonly Scheme[]): NonNullable<Scheme["challenge"]> {
  return (call, rejection) => {
    for (const part of parts) {
      const challenge = part.challenge?.(call, rejection) ?? null;
      if (challenge !== null) return challenge;
    }
    return null;
  };
}

/** Returns each place once. If one part declares `hostPrefix` for a cookie, the joined scheme uses the prefix. */
function collectCarriers(parts: readonly Scheme[]): readonly Carrier[] {
  const places = new Map<string, Carrier>();
  for (const carrier of parts.flatMap((part) => part.carriers)) {
    const existing = places.get(formatCarrier(carrier));
    if (existing === undefined || (carrier.in === "cookie" && carrier.hostPrefix === true))
      places.set(formatCarrier(carrier), carrier);
  }
  return [...places.values()];
}

function collectReaders(parts: readonly Scheme[], carrier: Carrier): readonly Scheme[] {
  return parts.filter(({ carriers }) => carriers.some((each) => formatCarrier(each) === formatCarrier(carrier)));
}

/**
 * Returns the result of `recognizes`. Throws a fault for a promise, because it would count as true, and no other part
 * would be asked.
 */
function isRecognized({ name, recognizes }: Scheme, credential: string): boolean {
  return atOnce(recognizes!(credential), `recognizes of the scheme ${name}`);
}
