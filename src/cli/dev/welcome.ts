import type { Latchkey } from "../../service/latchkey.ts";
import type { ConfigFile } from "../../service/settings/config-file/config-file.ts";
import type { Settings } from "../../service/settings/settings.ts";
import { formatTable } from "../output.ts";
import { listRoutes } from "../routes.ts";
import { administratorLines, followable } from "../serving/banner.ts";

/**
 * Returns the message for the first start: the URLs, the routes of the project, and the first password, which is shown
 * only once.
 */
export function welcome(service: {
  readonly settings: Settings;
  readonly config: ConfigFile;
  readonly latchkey: Latchkey;
  readonly url: string;
}): string {
  const { settings, config, latchkey, url } = service;
  const { database } = settings;
  const { routes } = latchkey;
  const all = listRoutes(latchkey);
  const own = ownPaths(config, latchkey);
  const shown = all.filter(({ path }) => own.has(path));
  const pages = ["/", "/docs", ...[...own].filter((path) => !path.includes("{"))].filter((path) =>
    routes.some((route) => route.path === path && route.methods.has("GET")),
  );
  const more = all.length - shown.length;
  return [
    `Latchkey listens on ${url}, and starts again when a file changes.`,
    `  database   ${database.kind === "sqlite" ? database.path : "PostgreSQL"}`,
    `  pages      ${pages.map((path) => followable(url) + path).join("  ")}`,
    ...administratorLines(settings, latchkey),
    "",
    ...(shown.length === 0 ? [] : formatTable(shown, ["method", "path", "permission"])),
    `${shown.length === 0 ? "" : "and "}${more} routes of users, logins and the service itself: latchkey routes`,
    "",
  ].join("\n");
}

/** Returns the paths that the config file mounts and declares. */
function ownPaths(
  { mounts = [], endpoints = [] }: ConfigFile,
  { routes, mounts: servedMounts }: Latchkey,
): ReadonlySet<string> {
  const resources = new Set(mounts.map(({ resource }) => resource));
  const mounted = servedMounts.filter(({ resource }) => resources.has(resource));
  const declared = new Set(endpoints.map(({ path }) => path));
  const own = routes.filter(
    ({ path, methods }) =>
      declared.has(path) || [...methods.values()].some((each) => mounted.some((mount) => mount === each.mounted)),
  );
  return new Set(own.map(({ path }) => path));
}
