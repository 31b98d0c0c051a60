import { existsSync } from "node:fs";
import type { Latchkey } from "../../service/latchkey.ts";
import type { SchemeName, Settings } from "../../service/settings/settings.ts";
import type { DrawnPassword, FirstAdministrator, UnusedPassword } from "../../service/users/first-administrator.ts";
import { resolvePasswordFile } from "../../service/users/password-file.ts";

/**
 * Returns the text for the operator at startup: the addresses, the first password (only once), and a curl command for
 * each scheme.
 */
export function banner(settings: Settings, listening: string, latchkey: Latchkey): string {
  const { firstAdministrator, routes } = latchkey;
  const url = followable(listening);
  const serves = (path: string): boolean => routes.some((route) => route.path === path);
  // The config file can disable `/docs` and `/protected/`. The path `/users` always exists.
  const exampleURL = url + (serves("/protected/") ? "/protected/" : "/users");
  const { database, adminUsername } = settings;
  const username = firstAdministrator?.username ?? adminUsername;
  const drawn = firstAdministrator?.drawn ?? null;
  const shown = drawn !== null && "password" in drawn ? drawn.password : "PASSWORD";
  const lines = [
    `Latchkey listens on ${listening}`,
    `  database   ${database.kind === "sqlite" ? database.path : "PostgreSQL"}`,
    ...(serves("/docs") ? [`  docs       ${url}/docs`] : []),
    ...administratorLines(settings, latchkey),
    "",
    "Try it:",
    ...settings.schemes.map((scheme) => `  ${curlLine(scheme, { url, exampleURL }, username, shown, settings)}`),
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * Returns the URL with a local address if the service listens on all addresses, because browsers do not open 0.0.0.0.
 */
export function followable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/**
 * Returns the lines about the first administrator. They report that it was created, that its password is not used yet,
 * or that a password in the settings has no effect.
 */
export function administratorLines(
  settings: Pick<Settings, "adminPassword" | "database">,
  { firstAdministrator, unusedPassword, now }: Pick<Latchkey, "firstAdministrator" | "unusedPassword" | "now">,
): readonly string[] {
  if (firstAdministrator !== null) return [`  ${describeFirstAdministrator(firstAdministrator)}`];
  const lines: string[] = [];
  if (unusedPassword !== null) lines.push(`  ${describeUnused(unusedPassword, resolvePasswordFile(settings), now())}`);
  if (settings.adminPassword !== null)
    lines.push(
      `  LATCHKEY_ADMIN_PASSWORD is ignored, because there is an administrator. To change a password: latchkey user password USER`,
    );
  return lines;
}

function describeUnused({ username, until }: UnusedPassword, file: string, now: number): string {
  if (Date.parse(until) <= now)
    return `first administrator: ${username}, whose password expired unused at ${until}. Set a new one: latchkey user password ${username}`;
  const place = existsSync(file) ? `password in ${file}` : "password shown at the first start";
  return `first administrator: ${username}, ${place}, not used yet (valid until ${until})`;
}

/** Returns the message about the administrator that a start or an import has created. It is shown once. */
export function describeFirstAdministrator({ username, drawn }: FirstAdministrator): string {
  return `first administrator: ${username}${drawn === null ? "" : describePassword(drawn)}`;
}

function describePassword(drawn: DrawnPassword): string {
  const until = `valid until ${drawn.until} unless it is used before`;
  return "password" in drawn
    ? `, password: ${drawn.password} (shown only now; ${until})`
    : `, password in ${drawn.file} (${until}; read it and remove the file)`;
}

function curlLine(
  scheme: SchemeName,
  { url, exampleURL }: { readonly url: string; readonly exampleURL: string },
  username: string,
  password: string,
  settings: Settings,
): string {
  const insecure = settings.tls === null ? "" : "k";
  const body = `-H 'Content-Type: application/json' -d '${JSON.stringify({ username, password })}'`;
  const pick = (member: string): string => `sed 's/.*"${member}":"\\([^"]*\\)".*/\\1/'`;
  switch (scheme) {
    case "basic":
      return `curl -s${insecure} -u '${username}:${password}' ${exampleURL}`;
    case "session":
      return `curl -s${insecure} -o /dev/null -c - ${body} ${url}/api/session/ | curl -s${insecure} -b - ${exampleURL}`;
    case "token":
      return `curl -s${insecure} -H "Authorization: Token $(curl -s${insecure} ${body} ${url}/api-token-auth/ | ${pick("token")})" ${exampleURL}`;
    case "bearer":
      return `curl -s${insecure} -H "Authorization: Bearer $(curl -s${insecure} ${body} ${url}/api/token/ | ${pick("access")})" ${exampleURL}`;
    case "remote-user":
      return `curl -s${insecure} -H '${settings.remoteUser.header}: ${username}'${settings.remoteUser.secret === null ? "" : " -H 'X-Remote-User-Secret: SECRET'"} ${exampleURL}   # from a trusted proxy`;
    case "custom-header":
      return `curl -s${insecure} -H 'X-Custom-Token: TOKEN' ${exampleURL}   # TOKEN is LATCHKEY_CUSTOM_TOKEN`;
  }
}
