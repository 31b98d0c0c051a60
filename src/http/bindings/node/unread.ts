import type { Socket } from "node:net";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { peerOf, type Peer } from "./peer.ts";

/** Answers that wait in memory because their readers are slow. */
export interface Unread {
  /** Counts the octets that wait on this connection, which was just written to. `tell` hears of each that was closed. */
  watch(socket: Counted, tell?: Tell): void;
}

/** The members of a connection, or of a stream of HTTP/2, that are looked at. */
export type Counted = Peer &
  Pick<Socket, "writableLength" | "on" | "destroy"> & {
    /** A stream of HTTP/2: one connection has many. */
    readonly isStream?: true;
  };

const MEBIBYTE = 1024 * 1024;
/** Less than this on a connection is not worth counting: 10,000 connections of it are what all may wait for. */
const LEAST_BYTES = 64 * 1024;
/** Node keeps 10 KiB (measured) for an open stream beside its answer. A limit of connections does not limit streams, so each counts from its first octet. */
const STREAM_BYTES = 10 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly address: string;
  readonly tell?: Tell;
}

/** All that waits for one address. */
interface OfAddress {
  bytes: number;
  /** The oldest first. */
  readonly sockets: Set<Counted>;
}

/**
 * A caller who asks for long answers and does not read them pays nothing, and the memory is ours, so that is what is limited. Beyond it the
 * connection or stream goes that has waited longest, of the address for which most waits: a caller who reads is never hit by one who does not.
 */
export function makeUnread(mostBytes = 64 * MEBIBYTE): Unread {
  const waiting = new Map<Counted, Waiting>();
  const addresses = new Map<string, OfAddress>();
  const known = new WeakSet<Counted>();
  let ofAll = 0;

  function remember(socket: Counted, entry: Waiting): void {
    const ofAddress = addresses.get(entry.address) ?? { bytes: 0, sockets: new Set() };
    addresses.set(entry.address, ofAddress);
    waiting.set(socket, entry);
    ofAddress.sockets.add(socket);
    ofAddress.bytes += entry.bytes;
    ofAll += entry.bytes;
  }

  function forget(socket: Counted): void {
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
    const { address, tell } = waiting.get(socket!)!;
    forget(socket!);
    socket!.destroy();
    tell?.(address);
  }

  return {
    watch(socket, tell) {
      const bytes = bytesOf(socket);
      if (bytes === 0) return;
      forget(socket);
      remember(socket, { bytes, address: formatNetwork(peerOf(socket)), ...(tell === undefined ? {} : { tell }) });
      if (!known.has(socket)) {
        known.add(socket);
        for (const event of ["drain", "finish", "close"]) socket.on(event, () => forget(socket));
      }
      while (ofAll > mostBytes) closeOne();
    },
  };
}

function bytesOf({ writableLength, isStream }: Counted): number {
  if (isStream === true) return writableLength === 0 ? 0 : writableLength + STREAM_BYTES;
  return writableLength < LEAST_BYTES ? 0 : writableLength;
}

type Tell = (address: string) => void;
