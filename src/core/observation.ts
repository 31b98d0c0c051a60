import type { Problem } from "./problem/problem.ts";

/**
 * The reason why a passkey was refused. `malformed`: the answer cannot be read. `type`, `challenge`, `origin` and
 * `cross_origin`: the data of the browser. `rp_id`, `not_present`, `not_verified` (no PIN, finger or face) and
 * `backup_eligibility` (it has changed): the data of the authenticator. `key`, `attestation`: a new passkey with
 * another kind of key or statement. `unknown`: no account has the passkey.
 */
export type PasskeyRefusal =
  | "malformed"
  | "type"
  | "challenge"
  | "origin"
  | "cross_origin"
  | "rp_id"
  | "not_present"
  | "not_verified"
  | "backup_eligibility"
  | "key"
  | "attestation"
  | "signature"
  | "user_handle"
  | "unknown"
  | "inactive"
  | "expired";

/**
 * An event, as one closed union. The log, metrics and audit read it; no other code logs. No observation ever contains a
 * secret.
 */
export type Observation =
  | {
      readonly kind: "request";
      readonly requestId: string;
      readonly method: string;
      /**
       * The sent path without the query. A part with more than 40 characters may be a credential, so only its first 17
       * are included.
       */
      readonly path: string;
      /** The declared path of the route (`/users/{id}`). Null if none matched. */
      readonly route: string | null;
      readonly status: number;
      /** The problem's code, if the response was a problem. */
      readonly code: string | null;
      /**
       * The problem as the caller received it, for developers. It may contain names that the caller sent, so a stored
       * log has only its code.
       */
      readonly problem: Problem | null;
      readonly durationMs: number;
      /** The caller's address, as reported by trusted proxies. */
      readonly address: string;
      readonly userId: number | null;
      /** The administrator who acts for the user. Left out if there is none. */
      readonly actorId?: number;
      readonly scheme: string | null;
      /** The trace in the caller's `traceparent`, and the caller's span in it. */
      readonly traceId: string | null;
      readonly parentId: string | null;
      /** The deprecated parts that the caller used: `field state`, `resource /v1/orders`. */
      readonly deprecated: readonly string[];
    }
  /** A bug in this program. The caller received only the request id. */
  | { readonly kind: "fault"; readonly requestId: string; readonly error: unknown }
  /** A credential was refused. `reason` explains it in a few words, and never contains the credential. */
  | {
      readonly kind: "credential_rejected";
      readonly requestId: string;
      readonly scheme: string;
      /** The code of the problem that the scheme uses. After too many attempts, the response has another code. */
      readonly code: string;
      readonly reason: string;
      readonly address: string;
    }
  /** An identity header came from an untrusted peer and was dropped. */
  | {
      readonly kind: "identity_header_dropped";
      readonly requestId: string;
      readonly header: string;
      readonly peer: string;
    }
  /** A used refresh token was sent again after `graceSeconds`. The service has revoked its token family. */
  | { readonly kind: "refresh_reuse"; readonly requestId: string; readonly userId: number; readonly family: string }
  /** The signature counter of a passkey has decreased, so the passkey may be a copy. The login was refused. */
  | {
      readonly kind: "passkey_counter_went_back";
      readonly requestId: string;
      readonly userId: number;
      readonly factorId: number;
    }
  /** A passkey was refused, at a login or when a user added it. The caller does not learn the reason. */
  | {
      readonly kind: "passkey_refused";
      readonly requestId: string;
      /** Null if the passkey is not known. */
      readonly userId: number | null;
      readonly factorId: number | null;
      readonly reason: PasskeyRefusal;
    }
  /** Logins of a user were ended: one, all, or all except the caller's own. */
  | {
      readonly kind: "logins_ended";
      readonly requestId: string;
      readonly userId: number;
      readonly which: "one" | "all" | "others";
      readonly by: number;
    }
  /**
   * An external identity was seen for the first time and now belongs to an account. `issuer` is empty for the proxy.
   */
  | { readonly kind: "identity_bound"; readonly issuer: string; readonly subject: string; readonly userId: number }
  /**
   * An external identity was refused, because its username or e-mail belongs to an account that it must not claim.
   * `userId`: the account with this name. Null for an e-mail.
   */
  | {
      readonly kind: "identity_not_bound";
      readonly issuer: string;
      readonly subject: string;
      readonly username: string;
      readonly userId: number | null;
    }
  /**
   * A login at an identity provider failed. `reason` explains it for the operator, and contains no token and no code.
   */
  | {
      readonly kind: "provider_login_failed";
      readonly requestId: string;
      readonly provider: string;
      readonly reason: string;
    }
  /** Something was refused before it became a request. `detail` explains it, and never contains what was sent. */
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly address: string; readonly detail: string }
  /** Something outside of requests failed or recovered: the store, a feed, a worker. */
  | { readonly kind: "notice"; readonly level: "error" | "info"; readonly message: string; readonly error?: unknown };

/**
 * The reason why something was refused before it became a request: it could not be parsed, its headers were late, its
 * TLS handshake failed, there were too many connections, its connection had too many HTTP/2 streams, or too many
 * responses waited for slow clients.
 */
export type RefusalReason = (typeof refusalReasons)[number];

/** All reasons, for counters that start at zero. */
export const refusalReasons = [
  "unreadable",
  "headers_timeout",
  "tls_handshake",
  "connections",
  "streams",
  "unread",
] as const;

/** Receives observations. Must not throw and must not wait. */
export type Observer = (observation: Observation) => void;
