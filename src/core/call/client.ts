import { isText } from "../checking/members.ts";
import type { Call, Client, ReportedClient } from "./call.ts";
import { isTrusted, readAddress, requireTrustedProxies, type TrustedProxies } from "./trusted-proxies.ts";

/**
 * Makes the function that reads the client of a call. It believes `X-Forwarded-For`, `-Proto` and `-Host` only from the
 * named proxies: addresses, CIDR ranges, or `unix` for local sockets.
 */
export function makeClientReader(trustedProxies: readonly string[]): (call: Call) => Client {
  const trusted = requireTrustedProxies(trustedProxies);
  const trustsNobody = trustedProxies.length === 0;
  return (call) => {
    const { client, peer } = call.arrival;
    if (client !== undefined) return readReportedClient(call, client);
    if (trustsNobody || !isTrusted(trusted, plainAddress(peer))) return readDirectClient(call);
    return readProxiedClient(call, trusted);
  };
}

/**
 * Reads the client that a framework reports. A framework may trust forged headers, so its report cannot make a caller a
 * trusted proxy, or a remote caller local.
 */
function readReportedClient(call: Call, { address, encrypted }: ReportedClient): Client {
  // Some frameworks pass on text that the caller wrote, of any length. Text that is not an address becomes `unknown`.
  const plain = readAddress(isText(address) ? address : "") ?? "unknown";
  const loopback = isLoopback(plain) && isLoopback(plainAddress(call.arrival.peer));
  return new KnownClient(plain, encrypted, loopback, false, () => formatOrigin(encrypted, call.header("host")));
}

function readDirectClient(call: Call): Client {
  const address = plainAddress(call.arrival.peer);
  const { encrypted } = call.arrival;
  return new KnownClient(address, encrypted, isLoopback(address), false, () =>
    formatOrigin(encrypted, call.header("host")),
  );
}

function readProxiedClient(call: Call, trusted: TrustedProxies): Client {
  const { address, loopback } = walkBack(call, trusted);
  const proto = findLastValue(call.headers("x-forwarded-proto"))?.toLowerCase();
  const encrypted = proto === "https" || (proto !== "http" && call.arrival.encrypted);
  const readOrigin = () =>
    formatOrigin(encrypted, findLastValue(call.headers("x-forwarded-host")) ?? call.header("host"));
  return new KnownClient(address, encrypted, loopback, true, readOrigin);
}

/** A client whose origin is computed when it is read, because few requests need the origin. */
class KnownClient implements Client {
  readonly address: string;
  readonly encrypted: boolean;
  readonly loopback: boolean;
  readonly viaTrustedProxy: boolean;
  readonly #readOrigin: () => string | null;

  constructor(
    address: string,
    encrypted: boolean,
    loopback: boolean,
    viaTrustedProxy: boolean,
    readOrigin: () => string | null,
  ) {
    this.address = address;
    this.encrypted = encrypted;
    this.loopback = loopback;
    this.viaTrustedProxy = viaTrustedProxy;
    this.#readOrigin = readOrigin;
  }

  get origin(): string | null {
    return this.#readOrigin();
  }
}

/** Walks back from the nearest hop. Stops at the first address that is not a trusted proxy: it is the caller's. */
function walkBack(call: Call, trusted: TrustedProxies): { address: string; loopback: boolean } {
  const hops = call.headers("x-forwarded-for").join(",").split(",");
  let address = plainAddress(call.arrival.peer);
  // A proxy on another machine that reports 127.0.0.1 means its own machine, so every hop must be on this machine.
  let loopback = isLoopback(address);
  if (hops.length === 1 && hops[0]!.trim() === "") {
    // A proxy that reports the transport but no client address still shows that the client is not this machine.
    return { address, loopback: loopback && call.header("x-forwarded-proto") === undefined };
  }
  for (let at = hops.length - 1; at >= 0 && isTrusted(trusted, address); at--) {
    const hop = readAddress(hops[at]!);
    if (hop === null) return { address, loopback: false };
    address = hop;
    loopback &&= isLoopback(hop);
  }
  return { address, loopback };
}

/** Returns the last value, which the nearest proxy wrote. */
function findLastValue(values: readonly string[]): string | undefined {
  const last = values.at(-1);
  return last?.slice(last.lastIndexOf(",") + 1).trim();
}

/**
 * Returns the peer address of the socket without a zone or an IPv4-mapped prefix. The socket reports it in canonical
 * form.
 */
function plainAddress(peer: string): string {
  if (!peer.includes(":")) return peer;
  if (peer.startsWith("::ffff:") && peer.includes(".")) return peer.slice("::ffff:".length);
  const zone = peer.indexOf("%");
  return zone === -1 ? peer : peer.slice(0, zone);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address === "unix";
}

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/** Formats an origin as browsers do (RFC 6454 §6.2): in lower case, without the default port of the scheme. */
function formatOrigin(encrypted: boolean, host: string | undefined): string | null {
  if (host === undefined || host.length > 261) return null;
  const name = host.toLowerCase();
  if (!hostPattern.test(name)) return null;
  return encrypted ? `https://${name.replace(/:443$/, "")}` : `http://${name.replace(/:80$/, "")}`;
}
