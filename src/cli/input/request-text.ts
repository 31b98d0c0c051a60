import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { text } from "node:stream/consumers";
import type { Arrival } from "../../door/http.ts";
import { readErrorCode } from "../../service/settings/error.ts";
import { CommandFailed, UsageError } from "../output.ts";

/** The options of a command that describe a request. */
export interface RequestOptions {
  readonly method: string;
  readonly header: readonly string[];
  /** A file with the head of a request, instead of the other options. */
  readonly request?: string;
  readonly peer: string;
  readonly tls?: boolean;
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
}

const tokenForm = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Returns the request that the options describe, in the form of a received request without a body. */
export async function readRequest(url: string, options: RequestOptions): Promise<Arrival> {
  const { request, method, header, peer, tls = false } = options;
  const address = URL.parse(url, "http://localhost");
  if (address === null) throw new UsageError(`${url} is not an address. Write a path, like /users.`);
  if (isIP(peer) === 0 && peer !== "unix")
    throw new UsageError(`--peer ${peer} is not an IP address. Write one, or unix for a local socket.`);
  const head =
    request === undefined
      ? { method, target: address.pathname + address.search, headers: [`Host: ${address.host}`, ...header] }
      : parseHead(await readHead(request));
  return {
    method: head.method,
    target: head.target,
    rawHeaders: head.headers.flatMap(parseField),
    peer,
    encrypted: tls || (request === undefined && address.protocol === "https:"),
    readBody: async () => new Uint8Array(),
  };
}

async function readHead(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read (${readErrorCode(error)}).`);
  }
}

/** Parses the request line and the header fields of HTTP/1.1, up to the empty line (RFC 9112 §2.1). */
function parseHead(head: string): Head {
  const [first = "", ...lines] = head.split(/\r?\n/);
  const found = /^(\S+) (\S+)(?: HTTP\/1\.[01])?$/.exec(first);
  if (found === null || !tokenForm.test(found[1]!))
    throw new CommandFailed("The first line is not a request line. Write one like: GET /users HTTP/1.1");
  const end = lines.indexOf("");
  return { method: found[1]!, target: found[2]!, headers: end === -1 ? lines : lines.slice(0, end) };
}

function parseField(field: string, at: number): readonly [string, string] {
  const colon = field.indexOf(":");
  const name = field.slice(0, Math.max(colon, 0));
  if (!tokenForm.test(name)) throw new CommandFailed(`Header field ${at + 1} is not of the form Name: value.`);
  // Node gives header values in this form: one character for each byte.
  return [name, Buffer.from(field.slice(colon + 1).trim()).toString("latin1")];
}
