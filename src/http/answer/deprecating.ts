import type { Deprecated } from "../../core/deprecation.ts";
import { formatLink } from "../../core/headers/link.ts";
import type { Exchange } from "../request/exchange.ts";
import type { Answer } from "./writing.ts";

/**
 * Announces that the request used deprecated parts: the date of deprecation (RFC 9745), the date of removal (RFC 8594),
 * and links to more information. If the request used several parts, sends the earliest date of each kind.
 */
export function addDeprecations({ deprecations, service }: Exchange, { headers }: Answer): void {
  const since = Math.min(...deprecations.map((each) => each.since));
  const sunsets = deprecations.flatMap(({ sunset }) => sunset ?? []);
  headers.push("Deprecation", `@${Math.floor(since / 1000)}`);
  if (sunsets.length > 0) headers.push("Sunset", new Date(Math.min(...sunsets)).toUTCString());
  const links = [...new Set(deprecations.flatMap((each) => formatLinks(each, service.basePath)))].join(", ");
  if (links === "") return;
  const there = headers.indexOf("Link");
  if (there === -1) headers.push("Link", links);
  else headers[there + 1] += `, ${links}`;
}

function formatLinks({ link, sunset }: Deprecated, basePath: string): readonly string[] {
  if (link === null) return [];
  const target = link.startsWith("/") ? basePath + link : link;
  return [formatLink(target, "deprecation"), ...(sunset === null ? [] : [formatLink(target, "sunset")])];
}
