import type { Socket } from "node:net";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { peerOf, type Peer } from "./peer.ts";

/** Answers that wait in memory because their readers are slow. */
export interface Unread {
  /** Counts what waits on this connection, which was just written to. `tell` hears of each that had to go. */
  watch(socket: Counted, tell?: Tell): void;
}

/** What of a connection is looked at. */
export type Counted = Peer & Pick<Socket, "writableLength" | "on" | "destroy">;

const MEBIBYTE = 1024 * 1024;
/** Less than this is not worth counting: 10,000 connections of it are what all may wait for. */
const LEAST_BYTES = 64 * 1024;

/**
 * Whoever asks for long answers and does not read them costs nothing but memory, so that is what is limited. Beyond it the
 * connection goes that has waited longest, of the address for which most waits: who reads is never hit by who does not.
 */
export function makeUnread(mostBytes = 64 * MEBIBYTE): Unread {
  /** The oldest first. */
  const waiting = new Map<Counted, { readonly bytes: number; readonly address: string; readonly tell?: Tell }>();
  const known = new WeakSet<Counted>();
  let ofAll = 0;

  function forget(socket: Counted): void {
    const entry = waiting.get(socket);
    if (entry === undefined) return;
    waiting.delete(socket);
    ofAll -= entry.bytes;
  }

  function closeOne(): void {
    const ofAddress = new Map<string, number>();
    for (const { address, bytes } of waiting.values()) ofAddress.set(address, (ofAddress.get(address) ?? 0) + bytes);
    const most = Math.max(...ofAddress.values());
    for (const [socket, { address, tell }] of waiting) {
      if (ofAddress.get(address) !== most) continue;
      forget(socket);
      socket.destroy();
      return tell?.(address);
    }
  }

  return {
    watch(socket, tell) {
      const bytes = socket.writableLength;
      if (bytes < LEAST_BYTES) return;
      forget(socket);
      const address = formatNetwork(peerOf(socket));
      waiting.set(socket, { bytes, address, ...(tell === undefined ? {} : { tell }) });
      ofAll += bytes;
      if (!known.has(socket)) {
        known.add(socket);
        socket.on("drain", () => forget(socket));
        socket.on("close", () => forget(socket));
      }
      while (ofAll > mostBytes) closeOne();
    },
  };
}

type Tell = (address: string) => void;
