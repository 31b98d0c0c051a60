import { randomBytes } from "node:crypto";
import type { Call } from "../../../core/call/call.ts";
import { digest, hmac, sameBytes, type Secret } from "../../../core/crypto/secret.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";
import { formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { insert, table } from "../../../http/declarations/table.ts";
import { dateTime } from "../../../resource/kinds/fields.ts";
import type { Change, Store } from "../../../store/store.ts";
import type { HeldLogin, WaitingConfirmation } from "../gate/contract.ts";
import { timeText, until } from "../records/conditions.ts";
import { isSecure, requireOneCookie, type Header } from "../requests/cookies.ts";

/** The states of completed flows. Nothing is stored before a provider has answered. */
export const usedFlowsCollection = table({
  name: "used_login_flows",
  id: "text",
  fields: { expires_at: dateTime() },
  indexes: [["expires_at"]],
});

/** The lifetime of a flow, in milliseconds. */
const FLOW_LIFETIME_MS = 600_000;
/** The most flows of one browser: one for each tab that waits at a provider. */
const MOST_FLOWS = 5;
/** Browsers store at most 4096 octets of name, value and attributes (RFC 6265bis §5.6). */
const MOST_COOKIE_CHARACTERS = 3800;

/** The purpose of a flow: a login, another way into an account, or the confirmation of a login. */
export type FlowPurpose =
  | { readonly kind: "login" }
  | IdentityLink
  | { readonly kind: "confirm"; readonly waiting: WaitingConfirmation };

/** The account that an identity will be linked to. */
export interface IdentityLink {
  readonly kind: "link";
  readonly userId: number;
  readonly generation: number;
  /** The login that started the link. Null for a credential that is no login, for example Basic. */
  readonly startedBy: HeldLogin | null;
}

/** A login at a provider that a browser has started. */
export interface Flow {
  /** The value of `state` at the provider: 128 random bits. */
  readonly state: string;
  /** The id of the provider. */
  readonly provider: string;
  /** The path of the page to show afterwards. */
  readonly next: string;
  /** What happens after the provider has confirmed its user. */
  readonly purpose: FlowPurpose;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * The values that bind an answer of the provider to its flow. They are derived from the state, so neither the browser
 * nor the database stores them.
 */
export interface FlowProof {
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636 §4.1). */
  readonly verifier: string;
}

/** The flows of browsers, each in the cookie of its browser, signed with the server's secret. */
export interface Flows {
  /** Makes a flow. The header sets the cookie with this flow and the earlier ones of the browser. */
  start(
    call: Call,
    made: Pick<Flow, "provider" | "next" | "purpose">,
  ): { readonly flow: Flow; readonly header: Header };
  /** Returns the flow with this state. Returns null if this browser has not started it, or if it has expired. */
  find(call: Call, state: string): Flow | null;
  /** Returns the header that removes a flow from the cookie. */
  without(call: Call, flow: Flow): Header;
  deriveProof(flow: Flow): FlowProof;
  /** Uses up a flow, also if the answer of the provider turns out to be wrong. Returns false if it was used before. */
  use(flow: Flow): Promise<boolean>;
  due(now: number): readonly Change[];
}

/** Makes the flows of one service. `cookie` is the name of the cookie. */
export function makeFlows(store: Store, secret: Secret, cookie: string): Flows {
  const [key] = secret.deriveEach("openid-flow");
  const collection = usedFlowsCollection;
  const nameFor = ({ client }: Call): string => (client.encrypted ? `__Host-${cookie}` : cookie);
  const deriveText = (what: string, of: string): string => hmac(key!, `openid ${what} ${of}`).toString("base64url");

  function format(flow: Flow): string {
    const { state, provider, next, purpose, expiresAt } = flow;
    const members = [state, provider, expiresAt, next, ...formatPurpose(purpose)];
    const body = Buffer.from(JSON.stringify(members)).toString("base64url");
    return `${body}.${deriveText("flow", body)}`;
  }

  function parse(text: string, now: number): Flow | null {
    const [body = "", signature = "", more] = text.split(".");
    const isOurs = sameBytes(Buffer.from(signature), Buffer.from(deriveText("flow", body)));
    if (more !== undefined || !isOurs) return null;
    const flow = readFlow(parseJSON(Buffer.from(body, "base64url").toString("utf8")));
    // A flow that expires too late was made before the clock was set back.
    return flow === null || now >= flow.expiresAt || flow.expiresAt > now + FLOW_LIFETIME_MS ? null : flow;
  }

  function read(call: Call): readonly Flow[] {
    const value = requireOneCookie(call, nameFor(call)) ?? "";
    const entries = value.split("~").slice(0, MOST_FLOWS);
    return entries.map((entry) => parse(entry, call.now)).filter((flow) => flow !== null);
  }

  function write(call: Call, flows: readonly Flow[]): Header {
    let value = "";
    // The newest flow is first. If there is no room, the oldest ones are dropped.
    for (const entry of flows.slice(0, MOST_FLOWS).map(format)) {
      const longer = value === "" ? entry : `${value}~${entry}`;
      if (longer.length > MOST_COOKIE_CHARACTERS) break;
      value = longer;
    }
    const ends = Math.max(call.now, ...flows.map(({ expiresAt }) => expiresAt));
    const maxAgeSeconds = Math.floor((ends - call.now) / 1000);
    const secure = isSecure(call);
    return [
      "Set-Cookie",
      formatSetCookie({ name: nameFor(call), value, path: "/", secure, sameSite: "lax", maxAgeSeconds }),
    ];
  }

  return {
    start(call, made) {
      const flow = { ...made, state: randomBytes(16).toString("base64url"), expiresAt: call.now + FLOW_LIFETIME_MS };
      return { flow, header: write(call, [flow, ...read(call)]) };
    },
    find: (call, state) => read(call).find((flow) => flow.state === state) ?? null,
    without: (call, { state }) =>
      write(
        call,
        read(call).filter((flow) => flow.state !== state),
      ),
    deriveProof: ({ state }) => ({ nonce: deriveText("nonce", state), verifier: deriveText("verifier", state) }),
    async use({ state, expiresAt }) {
      const values = { expires_at: timeText(expiresAt) };
      const used = insert(collection, { key: digest(state).toString("base64url"), values });
      const { kind } = await store.write({ changes: [used] });
      return kind === "written";
    },
    due: (now) => [{ kind: "deleteAll", collection, where: until("expires_at", now) }],
  };
}

function formatPurpose(purpose: FlowPurpose): readonly unknown[] {
  switch (purpose.kind) {
    case "login":
      return [];
    case "link": {
      const { userId, generation, startedBy } = purpose;
      return [userId, generation, startedBy === null ? [] : [startedBy.beginning, startedBy.id]];
    }
    case "confirm":
      return ["confirm", purpose.waiting.userId, purpose.waiting.key];
  }
}

/** Parses the members that `format` wrote. Called after the signature was checked. */
function readFlow(value: unknown): Flow | null {
  if (!Array.isArray(value)) return null;
  const [state, provider, expiresAt, next, ...more] = value as readonly unknown[];
  if (typeof state !== "string" || typeof provider !== "string" || typeof next !== "string") return null;
  const purpose = readPurpose(more);
  return typeof expiresAt !== "number" || purpose === null ? null : { state, provider, next, expiresAt, purpose };
}

/** Returns null for a link of an older version, which does not name the login that started it. */
function readPurpose([first, second, third]: readonly unknown[]): FlowPurpose | null {
  if (first === undefined) return { kind: "login" };
  if (first === "confirm")
    return typeof second === "number" && typeof third === "string"
      ? { kind: "confirm", waiting: { key: third, userId: second } }
      : null;
  if (typeof first !== "number" || typeof second !== "number" || !Array.isArray(third)) return null;
  const [beginning, id] = third as readonly unknown[];
  const isNamed = typeof beginning === "string" && typeof id === "string";
  if (!isNamed && third.length > 0) return null;
  return { kind: "link", userId: first, generation: second, startedBy: isNamed ? { beginning, id } : null };
}
