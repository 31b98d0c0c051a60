import type { Problem } from "../../core/problem/problem.ts";
import { formatCarrier, type Presented } from "./presented.ts";
import type { Rejection, Scheme, Verdict } from "./scheme.ts";

/**
 * The result of one scheme for a request: the place of the credential, and the verdict. Never contains the credential.
 */
export interface SchemeExplanation {
  readonly scheme: string;
  readonly saw: Verdict["kind"];
  /**
   * The place of the credential: `Authorization: basic`, `the cookie session`. Null if the scheme has no credential in
   * the request.
   */
  readonly in: string | null;
  /** The user of an accepted credential. */
  readonly user?: number;
  readonly reason?: Rejection["reason"];
  readonly why: string;
}

/** The results of the schemes of a service for a request. */
export interface Explanation {
  /**
   * `open`: nothing was checked, because the endpoint ignores credentials. `ended`: the request ended before every
   * scheme had a verdict.
   */
  readonly outcome: "identified" | "nobody" | "rejected" | "conflict" | "ended" | "open";
  /** The user. Null if none was found. */
  readonly user: number | null;
  readonly why: string;
  /** The results, sorted by the names of the schemes. A scheme that found credentials in two places is listed twice. */
  readonly schemes: readonly SchemeExplanation[];
}

/** Records the identification of a request for a later explanation. */
export class Witness {
  presented: readonly Presented[] = [];
  /** The verdicts of the credentials that were checked. */
  readonly verdicts: Verdict[] = [];
  /** Identity header fields from a peer that is not trusted. */
  readonly dropped: string[] = [];

  /** True if one of the credentials belongs to an administrator. */
  get sawAdministrator(): boolean {
    return this.verdicts.some((verdict) => verdict.kind === "accepted" && verdict.identity.role === "admin");
  }
}

/** Returns the explanation of a witness. `ended` is the problem that prevented a verdict, if there was one. */
export function explain(schemes: readonly Scheme[], witness: Witness, ended: Problem | null = null): Explanation {
  const users = witness.verdicts.flatMap((verdict) => (verdict.kind === "accepted" ? [verdict.identity.id] : []));
  const explained = schemes.flatMap((scheme) => explainScheme(scheme, witness));
  const conclude = (outcome: Explanation["outcome"], why: string, user: number | null = null): Explanation => ({
    outcome,
    user,
    why,
    schemes: explained,
  });
  if (ended !== null) return conclude("ended", `${ended.status} ${ended.code}: ${ended.detail}`);
  if (witness.verdicts.length < witness.presented.length)
    return conclude("ended", "The request ended before every scheme had a verdict.");
  const { rejecting, passedOver } = rejectedBy(witness);
  if (rejecting.length > 0)
    return conclude("rejected", `One rejected credential ends the request: ${rejecting.join(", ")}.`);
  if (new Set(users).size > 1) return conclude("conflict", "Two credentials were accepted, of different users.");
  const cookies = passedOver.length === 0 ? "" : ` The rejected cookie of ${passedOver.join(", ")} is ignored.`;
  if (users[0] === undefined)
    return conclude(
      "nobody",
      cookies === ""
        ? "No scheme found a credential."
        : `No credential was accepted.${cookies} An endpoint that needs a caller answers 401.`,
    );
  return conclude(
    "identified",
    `${users.length === 1 ? "One credential was accepted." : "All credentials are of the same user."}${cookies}`,
    users[0],
  );
}

/**
 * Returns the names of the schemes that rejected a credential. A rejection by a scheme of `rejecting` ends the request.
 * The schemes of `passedOver` rejected a cookie, which does not end the request.
 */
function rejectedBy({ presented, verdicts }: Witness): Readonly<Record<"rejecting" | "passedOver", readonly string[]>> {
  const rejected = presented.filter((_, at) => verdicts[at]?.kind === "rejected");
  const listNames = (isCookie: boolean): readonly string[] =>
    rejected.filter(({ carrier }) => (carrier.in === "cookie") === isCookie).map(({ scheme }) => scheme.name);
  return { rejecting: listNames(false), passedOver: listNames(true) };
}

function explainScheme(scheme: Scheme, { presented, verdicts, dropped }: Witness): SchemeExplanation[] {
  const seen = presented.flatMap((each, at) => (each.scheme === scheme ? [explainVerdict(each, verdicts[at])] : []));
  return seen.length > 0 ? seen : [{ scheme: scheme.name, saw: "absent", in: null, why: whyAbsent(scheme, dropped) }];
}

function explainVerdict({ scheme, carrier }: Presented, verdict: Verdict | undefined): SchemeExplanation {
  const about = { scheme: scheme.name, in: formatCarrier(carrier) };
  switch (verdict?.kind) {
    case undefined:
      return { ...about, saw: "absent", why: "It has no verdict, because the request ended earlier." };
    case "absent":
      return { ...about, saw: "absent", why: "The credential belongs to another scheme." };
    case "accepted": {
      const { id, scopes, expiresAt, issuer } = verdict.identity;
      const from = issuer === undefined ? "" : ` from ${issuer}`;
      const limits = scopes === null ? "" : ` Limited to ${scopes.join(" ")}.`;
      const end = expiresAt === null ? "" : ` Ends at ${new Date(expiresAt).toISOString()}.`;
      return { ...about, saw: "accepted", user: id, why: `It is a credential of user ${id}${from}.${limits}${end}` };
    }
    case "rejected":
      return { ...about, saw: "rejected", reason: verdict.reason, why: verdict.detail };
  }
}

function whyAbsent({ carriers }: Scheme, dropped: readonly string[]): string {
  const ignored = carriers.find((carrier) => carrier.in === "proxy" && dropped.includes(carrier.name.toLowerCase()));
  if (ignored !== undefined)
    return `There was ${formatCarrier(ignored)}, from a peer that is not a trusted proxy: it was ignored.`;
  return `There is no credential in ${carriers.map(formatCarrier).join(", nor in ")}.`;
}

/** Formats an explanation as the value of a header field: JSON in ASCII. */
export function formatExplanation(explanation: Explanation): string {
  return JSON.stringify(explanation).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
