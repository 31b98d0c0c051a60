import type { IncomingMessage, ServerResponse } from "node:http";
import type { WatchedSocket } from "./unread.ts";

/** A request or response of HTTP/2, as `node:http2` passes it. */
export interface OnStream {
  readonly stream: Pick<WatchedSocket, "writableLength" | "on" | "destroy"> & {
    close(code?: number): void;
    /** The connection. Undefined if it is closed. */
    readonly session?: object | undefined;
  };
}

/** Returns true for a message of `node:http2`, which has a stream. */
export function isStream(message: IncomingMessage | ServerResponse): message is typeof message & OnStream {
  return "stream" in message;
}

/** The maximum number of open streams of one connection, the same as in Go's server. */
export const MOST_STREAMS = 250;

/**
 * The error code REFUSED_STREAM (RFC 9113 §7). It means that the request was not processed, so the client may send it
 * again.
 */
const REFUSED_STREAM = 7;

const open = new WeakMap<object, number>();

/**
 * Counts a stream until it is closed. If its connection has too many open streams, refuses the stream and returns
 * false.
 */
export function admitStream({ stream }: OnStream): boolean {
  const { session } = stream;
  if (session === undefined) return true;
  const count = open.get(session) ?? 0;
  if (count >= MOST_STREAMS) {
    stream.close(REFUSED_STREAM);
    return false;
  }
  open.set(session, count + 1);
  stream.on("close", () => open.set(session, open.get(session)! - 1));
  return true;
}
