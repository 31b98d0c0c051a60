import { randomBytes } from "node:crypto";
import { digest, hmac, sameBytes } from "../../../core/crypto/secret.ts";
import { insert, table } from "../../../http/declarations/table.ts";
import { dateTime } from "../../../resource/kinds/fields.ts";
import type { Change, Store } from "../../../store/store.ts";
import { timeText, until } from "../records/conditions.ts";

/** Used challenges of passkey logins. Nothing is stored before a challenge is used. */
export const usedChallengesCollection = table({
  name: "used_passkey_challenges",
  id: "text",
  fields: { expires_at: dateTime() },
  indexes: [["expires_at"]],
});

const CHALLENGE_LIFETIME_MS = 300_000;

/** The challenges of logins by passkey without a username. Each is signed, lives for five minutes and works once. */
export interface Challenges {
  /** Makes a new challenge. The client sends `pending` back with its answer. `now` in milliseconds. */
  make(now: number): { readonly pending: string; readonly challenge: string; readonly expiresAt: number };
  /**
   * Uses up a challenge, also if its answer is wrong. Returns the challenge, or null if it is forged, expired or used.
   */
  use(pending: string, now: number): Promise<string | null>;
  due(now: number): readonly Change[];
}

/** Makes challenges that are signed with `key`. */
export function makeChallenges(store: Store, key: Uint8Array): Challenges {
  const collection = usedChallengesCollection;
  const computeSignature = (body: string): string => hmac(key, `passkey login ${body}`).toString("base64url");
  const deriveChallenge = (body: string): string => hmac(key, `passkey challenge ${body}`).toString("base64url");
  return {
    make(now) {
      const expiresAt = now + CHALLENGE_LIFETIME_MS;
      const body = `${randomBytes(16).toString("base64url")}.${expiresAt}`;
      return { pending: `${body}.${computeSignature(body)}`, challenge: deriveChallenge(body), expiresAt };
    },
    async use(pending, now) {
      const [random = "", until = "", signature = "", more] = pending.split(".");
      const body = `${random}.${until}`;
      if (more !== undefined || !sameBytes(Buffer.from(signature), Buffer.from(computeSignature(body)))) return null;
      const expiresAt = Number(until);
      if (now >= expiresAt) return null;
      const key = digest(body).toString("base64url");
      const values = { expires_at: timeText(expiresAt) };
      const { kind } = await store.write({ changes: [insert(collection, { key, values })] });
      return kind === "written" ? deriveChallenge(body) : null;
    },
    due: (now) => [{ kind: "deleteAll", collection, where: until("expires_at", now) }],
  };
}
