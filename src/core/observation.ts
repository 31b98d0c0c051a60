import type { Problem } from "./problem/problem.ts";

/** What happened: one closed union. The log, metrics and audit are its readers; nothing logs from inside. No observation ever carries a secret. */
export type Observation =
  | {
      readonly kind: "request";
      readonly requestId: string;
      readonly method: string;
      /** The path as it was sent, without the query; of a part with more than 40 characters, which may be a credential, the first 17. */
      readonly path: string;
      /** The declared path of the route (`/users/{id}`); null where none matched. */
      readonly route: string | null;
      readonly status: number;
      /** The problem's code, where the answer was a problem. */
      readonly code: string | null;
      /** The problem as the caller was told of it, for whoever develops: it may name members as the caller sent them, so a log that is kept has its code alone. */
      readonly problem: Problem | null;
      readonly durationMs: number;
      /** The caller's address, as trusted proxies tell it. */
      readonly address: string;
      readonly userId: number | null;
      readonly scheme: string | null;
      /** The trace that the caller's `traceparent` names, and the caller's span in it. */
      readonly traceId: string | null;
      readonly parentId: string | null;
      /** What the caller used of what will go: `field state`, `resource /v1/orders`. */
      readonly deprecated: readonly string[];
    }
  /** A bug of ours: the caller was told only the request id. */
  | { readonly kind: "fault"; readonly requestId: string; readonly error: unknown }
  /** A credential was refused. `reason` says why in a few words, never what was sent. */
  | {
      readonly kind: "credential_rejected";
      readonly requestId: string;
      readonly scheme: string;
      /** The problem's code that the scheme answers with; another one comes first where too much was tried. */
      readonly code: string;
      readonly reason: string;
      readonly address: string;
    }
  /** An identity header came from a peer that is not trusted, and was dropped. */
  | {
      readonly kind: "identity_header_dropped";
      readonly requestId: string;
      readonly header: string;
      readonly peer: string;
    }
  /** A refresh token came back after its window: the family has ended. */
  | { readonly kind: "refresh_reuse"; readonly requestId: string; readonly userId: number; readonly family: string }
  /** The signature counter of a passkey went back: it may be a copy. The answer was refused. */
  | {
      readonly kind: "passkey_counter_went_back";
      readonly requestId: string;
      readonly userId: number;
      readonly factorId: number;
    }
  /** Somebody has ended logins of a user: one, all, or all but their own. */
  | {
      readonly kind: "logins_ended";
      readonly requestId: string;
      readonly userId: number;
      readonly which: "one" | "all" | "others";
      readonly by: number;
    }
  /** An identity from outside was seen for the first time and is an account's from now on; `issuer` is empty for the proxy. */
  | { readonly kind: "identity_bound"; readonly issuer: string; readonly subject: string; readonly userId: number }
  /** An identity from outside was refused, because its username or its e-mail is an account's that it must not claim. `userId`: whose name it is; null where it is the e-mail. */
  | {
      readonly kind: "identity_not_bound";
      readonly issuer: string;
      readonly subject: string;
      readonly username: string;
      readonly userId: number | null;
    }
  /** Something was refused before it was a request. `detail` says what was wrong with it, never what was sent. */
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly address: string; readonly detail: string }
  /** Something outside the requests went wrong or came back: the store, a feed, a worker. */
  | { readonly kind: "notice"; readonly level: "error" | "info"; readonly message: string; readonly error?: unknown };

/**
 * Why something was refused before it was a request: it could not be read, its headers did not come in time, its TLS handshake failed,
 * there were too many connections, its connection had too many streams of HTTP/2, or its answer was one of too many that wait for a reader.
 */
export type RefusalReason = (typeof refusalReasons)[number];

/** All of them, for whoever counts them from the start. */
export const refusalReasons = [
  "unreadable",
  "headers_timeout",
  "tls_handshake",
  "connections",
  "streams",
  "unread",
] as const;

/** Reads observations. Must not throw and must not wait. */
export type Observer = (observation: Observation) => void;
