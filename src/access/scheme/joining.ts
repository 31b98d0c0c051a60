import type { Call } from "../../core/call/call.ts";
import { atOnce } from "../../core/checking/at-once.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { formatCarrier } from "./presented.ts";
import { rejected, type Carrier, type Rejection, type Scheme, type Verdict } from "./scheme.ts";
import { requireVerdict } from "./verdict.ts";

/** The schemes of a service, where those that share a name have become one. Whichever order they come in, the answers are the same. */
export function joinSchemes(schemes: readonly Scheme[]): readonly Scheme[] {
  const done = new Set<string>();
  return schemes.flatMap((scheme) => {
    const { name, shared = false } = scheme;
    if (!shared) return [scheme];
    if (done.has(name)) return [];
    done.add(name);
    return [join(schemes.filter((each) => each.name === name && each.shared === true))];
  });
}

function join(parts: readonly Scheme[]): Scheme {
  const rest = parts.filter(({ recognizes }) => recognizes === undefined);
  const knowing = parts.filter(({ recognizes }) => recognizes !== undefined);
  if (knowing.length === 0 && rest.length === 1) return rest[0]!;
  // What the whole is like, the one says that takes whatever nobody else recognizes.
  const [main, ...others] = [...rest, ...knowing];
  const { name, rejectedAs = "invalid_token" } = main!;
  const codes = [main!, ...others].flatMap((each) => [
    each.rejectedAs ?? "invalid_token",
    ...(each.alsoRejectedAs ?? []),
  ]);
  const missingDetail = parts.find((each) => each.missingDetail !== undefined)?.missingDetail;

  /** Asks one part after another until one knows the credential. `refused` stands where none does: it must not pass for no credential at all. */
  function ask(
    [part, ...more]: readonly Scheme[],
    credential: string,
    call: Call,
    carrier: Carrier,
    refused: Rejection = unknown,
  ): Eventually<Verdict> {
    if (part === undefined) return refused;
    return after(part.authenticate(credential, call, carrier), (given): Eventually<Verdict> => {
      const verdict = requireVerdict(part, given);
      if (verdict.kind === "accepted") return verdict;
      const told = verdict.kind === "absent" ? refused : toldAs(part, verdict);
      return told.reason === "unknown" ? ask(more, credential, call, carrier, told) : told;
    });
  }

  function toldAs({ rejectedAs: own = "invalid_token" }: Scheme, rejection: Rejection): Rejection {
    return rejection.code !== undefined || own === rejectedAs ? rejection : { ...rejection, code: own };
  }

  const carriers = carriersOf(parts);
  // Who reads a place: those that recognize their own, and the rest.
  const readers = new Map(
    carriers.map((carrier) => [carrier, [readersOf(knowing, carrier), readersOf(rest, carrier)] as const]),
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
    ...(parts.some(({ challenge }) => challenge !== undefined) ? { challenge: challengeOf(parts) } : {}),
    authenticate(credential, call, carrier) {
      const [first, others] = readers.get(carrier)!;
      const own = first.find((part) => isRecognized(part, credential));
      return ask(own === undefined ? others : [own], credential, call, carrier);
    },
  };
}

const unknown = rejected("unknown");

function challengeOf(parts: readonly Scheme[]): NonNullable<Scheme["challenge"]> {
  return (call, rejection) => {
    for (const part of parts) {
      const challenge = part.challenge?.(call, rejection) ?? null;
      if (challenge !== null) return challenge;
    }
    return null;
  };
}

/** Each place once; a cookie that one part wants with its prefix is the one with the prefix. */
function carriersOf(parts: readonly Scheme[]): readonly Carrier[] {
  const places = new Map<string, Carrier>();
  for (const carrier of parts.flatMap((part) => part.carriers)) {
    const known = places.get(formatCarrier(carrier));
    if (known === undefined || (carrier.in === "cookie" && carrier.hostPrefix === true))
      places.set(formatCarrier(carrier), carrier);
  }
  return [...places.values()];
}

function readersOf(parts: readonly Scheme[], carrier: Carrier): readonly Scheme[] {
  return parts.filter(({ carriers }) => carriers.some((each) => formatCarrier(each) === formatCarrier(carrier)));
}

/** A promise of no would pass for yes, and no other part would be asked. */
function isRecognized({ name, recognizes }: Scheme, credential: string): boolean {
  return atOnce(recognizes!(credential), `recognizes of the scheme ${name}`);
}
