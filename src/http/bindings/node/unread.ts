import type { Socket } from "node:net";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { readPeerAddress, type Peer } from "./peer.ts";

/** Responses that wait in memory because their readers are slow. */
export interface Unread {
  /**
   * Counts the waiting octets of a connection that was just written to. If `watch` closes this connection later to free
   * memory, it calls `report` with the network address.
   */
  watch(socket: WatchedSocket, report?: Report): void;
}

/** The used members of a connection, or of a stream of HTTP/2. */
export type WatchedSocket = Peer &
  Pick<Socket, "writableLength" | "on" | "destroy"> & {
    /** True for a stream of HTTP/2. One connection has many streams. */
    readonly isStream?: true;
  };

const MEBIBYTE = 1024 * 1024;
/** Connections with fewer octets are not counted: even 10,000 of them together stay within the total limit. */
const LEAST_BYTES = 64 * 1024;
/**
 * Node needs 10 KiB (measured) for an open stream, in addition to its response. The limit of connections does not limit
 * the number of streams, so each stream counts from its first octet.
 */
const STREAM_BYTES = 10 * 1024;

interface UnreadEntry {
  readonly bytes: number;
  readonly address: string;
  readonly report?: Report;
}

/** The waiting responses of one address. */
interface OfAddress {
  bytes: number;
  /** The sockets, in the order in which they were written to. The one that has waited longest is first. */
  readonly sockets: Set<WatchedSocket>;
}

/**
 * Limits the memory of responses that wait for slow clients. Without the limit, a client could request long responses
 * and never read them. Above the limit, `watch` finds the address with the most waiting octets, and closes its
 * connection or stream that has waited longest. So slow clients do not affect a client that reads its responses.
 */
export function makeUnread(mostBytes = 64 * MEBIBYTE): Unread {
  const waiting = new Map<WatchedSocket, UnreadEntry>();
  const addresses = new Map<string, OfAddress>();
  const watchedSockets = new WeakSet<WatchedSocket>();
  let ofAll = 0;

  function remember(socket: WatchedSocket, entry: UnreadEntry): void {
    const ofAddress = addresses.get(entry.address) ?? { bytes: 0, sockets: new Set() };
    addresses.set(entry.address, ofAddress);
    waiting.set(socket, entry);
    ofAddress.sockets.add(socket);
    ofAddress.bytes += entry.bytes;
    ofAll += entry.bytes;
  }

  function forget(socket: WatchedSocket): void {
    const entry = waiting.get(socket);
    if (entry === undefined) return;
    const ofAddress = addresses.get(entry.address)!;
    waiting.delete(socket);
    ofAddress.sockets.delete(socket);
    ofAddress.bytes -= entry.bytes;
    ofAll -= entry.bytes;
    if (ofAddress.sockets.size === 0) addresses.delete(entry.address);
  }

  function closeOne(): void {
    let most: OfAddress = { bytes: 0, sockets: new Set() };
    for (const ofAddress of addresses.values()) if (ofAddress.bytes > most.bytes) most = ofAddress;
    const [socket] = most.sockets;
    const { address, report } = waiting.get(socket!)!;
    forget(socket!);
    socket!.destroy();
    report?.(address);
  }

  return {
    watch(socket, report) {
      const bytes = measureBytes(socket);
      if (bytes === 0) return;
      forget(socket);
      remember(socket, {
        bytes,
        address: formatNetwork(readPeerAddress(socket)),
        ...(report === undefined ? {} : { report }),
      });
      if (!watchedSockets.has(socket)) {
        watchedSockets.add(socket);
        for (const event of ["drain", "finish", "close"]) socket.on(event, () => forget(socket));
      }
      while (ofAll > mostBytes) closeOne();
    },
  };
}

function measureBytes({ writableLength, isStream }: WatchedSocket): number {
  if (isStream === true) return writableLength === 0 ? 0 : writableLength + STREAM_BYTES;
  return writableLength < LEAST_BYTES ? 0 : writableLength;
}

type Report = (address: string) => void;
