/** Who is behind a transaction, and in which request: ids alone, and nothing that proves anything. */
export interface Cause {
  /** Null for nobody. */
  readonly userId: number | null;
  /** The name of the scheme that accepted the credential. */
  readonly scheme: string | null;
  /** The id of the named key, the session or the refresh family that the caller came with; null where it has none. */
  readonly credentialId: string | null;
  /** As `X-Request-Id` tells it. */
  readonly requestId: string;
  /** The trace that the caller's `traceparent` names, and the caller's span in it. */
  readonly traceId: string | null;
  readonly parentId: string | null;
}
