import ipaddr from "ipaddr.js";
import { isText, joinMistakes, type ValueCheck } from "../checking/members.ts";
import { requireArguments } from "../checking/options.ts";

type IPAddress = ipaddr.IPv4 | ipaddr.IPv6;
type AddressRange = readonly [address: IPAddress, bits: number];

/** The proxies whose reports about a caller the service believes. */
export interface TrustedProxies {
  readonly unix: boolean;
  readonly ranges: readonly AddressRange[];
}

/** The proxies in a setting, and the mistakes in it. */
export interface TrustedProxySetting {
  readonly proxies: readonly string[];
  /** One sentence for each unusable entry, with its fix. */
  readonly problems: readonly string[];
}

/** Parses a comma-separated list of addresses, CIDR ranges and `unix`. */
export function parseTrustedProxies(text: string): TrustedProxySetting {
  requireArguments("parseTrustedProxies", arguments, { text: aText });
  const proxies = text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  return { proxies, problems: collectMistakes(proxies) };
}

/** Parses a list of proxies. Throws `DeclarationError` if an entry cannot be used. */
export function requireTrustedProxies(proxies: readonly string[]): TrustedProxies {
  requireArguments("requireTrustedProxies", arguments, { proxies: proxyList });
  const ranges = proxies.map(parseRange).filter((each) => each !== null);
  return { unix: proxies.includes("unix"), ranges };
}

const aText: ValueCheck = (value) => (isText(value) ? null : "it has to be a text, like 10.0.0.0/8, unix");

/** Returns the mistake in an option that lists proxies. Returns null if there is none. */
export function proxyList(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every(isText))
    return 'it has to be a list of addresses and CIDR ranges, like ["10.0.0.0/8"]';
  return joinMistakes(collectMistakes(value).map((problem) => problem.replace(/\.$/, "")));
}

/** Returns true if this address is one of the proxies. */
export function isTrusted(trusted: TrustedProxies, address: string): boolean {
  if (address === "unix") return trusted.unix;
  const parsed = parseAddress(address);
  return parsed !== null && trusted.ranges.some((range) => isWithin(parsed, range));
}

/** Reads one entry of `X-Forwarded-For`, with or without a port. Returns null if it is not an address. */
export function readAddress(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return parseAddress(bare)?.toString() ?? null;
}

/** Returns the network of one subscriber: an IPv4 address, or the /64 of an IPv6 address. */
export function formatNetwork(address: string): string {
  return formatPrefix(address, 4);
}

/**
 * Returns the network of one site: the /48 of an IPv6 address (RFC 6177 §2), because a customer with a /48 has 65,536
 * networks of 64 bits. An IPv4 address is a site by itself: its neighbors in a /24 are unrelated, and each further
 * address costs money.
 */
export function formatSite(address: string): string {
  return formatPrefix(address, 3);
}

/**
 * Returns the /24 of an IPv4 address, or the /64 of an IPv6 address. One attacker may control a whole /24, so it has
 * one limit.
 */
export function formatBlock(address: string): string {
  const network = formatNetwork(address);
  const [, block] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(network) ?? [];
  return block === undefined ? network : `${block}.0/24`;
}

function formatPrefix(address: string, groups: number): string {
  if (!address.includes(":")) return address;
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const parts = parsed.parts.slice(0, groups).map((part) => part.toString(16));
  return `${parts.join(":")}::/${groups * 16}`;
}

/** Accepts only the unambiguous spellings: no octal, hexadecimal or shortened IPv4. */
function parseAddress(text: string): IPAddress | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes(":") || text.length > 64 || !ipaddr.IPv6.isValid(text)) return null;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return new ipaddr.IPv6(address.parts);
}

function isWithin(address: IPAddress, [start, bits]: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) return start instanceof ipaddr.IPv4 && address.match(start, bits);
  return start instanceof ipaddr.IPv6 && address.match(start, bits);
}

function parseRange(text: string): AddressRange | null {
  const [name = "", length, ...more] = text.split("/");
  const address = parseAddress(name);
  if (address === null || more.length > 0) return null;
  const whole = address.kind() === "ipv4" ? 32 : 128;
  if (length === undefined) return [address, whole];
  if (!/^\d{1,3}$/.test(length)) return null;
  // ::ffff:10.0.0.0/104 means 10.0.0.0/8.
  const bits = Number(length) - (whole === 32 && name.includes(":") ? 96 : 0);
  return bits < 0 || bits > whole ? null : [address, bits];
}

/**
 * Returns the mistakes of the single entries. If there are none, checks whether the whole list trusts every address.
 */
function collectMistakes(proxies: readonly string[]): readonly string[] {
  const problems = proxies.map(findMistake).filter((each) => each !== null);
  if (problems.length > 0) return problems;
  const ranges = proxies.map(parseRange).filter((each) => each !== null);
  return wholeInternet.some((span) => isCovered(span, ranges))
    ? [`"${proxies.join(",")}" would trust every address of IPv4 or IPv6; name the addresses of your proxies.`]
    : [];
}

/**
 * All unicast addresses of IPv4 (RFC 1112), and all global addresses of IPv6 (RFC 4291). A setting that covers one of
 * these spans trusts every address of that IP version.
 */
const wholeInternet: readonly Span[] = [
  "1.0.0.0-223.255.255.255",
  "2000::-3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
].map((text) => text.split("-").map((each) => toNumber(parseAddress(each)!)) as [bigint, bigint]);

/** The first and the last address, as numbers. */
type Span = readonly [first: bigint, last: bigint];

/** Returns true if every address of the span is in one of the ranges. */
function isCovered([first, last]: Span, ranges: readonly AddressRange[]): boolean {
  const isShort = last < 1n << 32n;
  const spans = ranges
    .filter(([address]) => (address.kind() === "ipv4") === isShort)
    .map(toSpan)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  let next = first;
  for (const [from, to] of spans) if (from <= next && to >= next) next = to + 1n;
  return next > last;
}

function toSpan([address, bits]: AddressRange): Span {
  const free = BigInt((address.kind() === "ipv4" ? 32 : 128) - bits);
  const first = (toNumber(address) >> free) << free;
  return [first, first + (1n << free) - 1n];
}

function toNumber(address: IPAddress): bigint {
  return address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function findMistake(entry: string): string | null {
  if (entry === "unix") return null;
  const range = parseRange(entry);
  if (range === null)
    return `"${entry}" is neither an IP address, nor a CIDR range such as 10.0.0.0/8, nor the word unix.`;
  if (range[1] === 0) return `"${entry}" would trust every address; name the addresses of your proxies.`;
  return null;
}
