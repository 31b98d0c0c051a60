import { Secret } from "../../core/crypto/secret.ts";

/** A mail server, and the user and password for it. */
export interface SMTPServer {
  readonly host: string;
  readonly port: number;
  /**
   * True if the connection starts with TLS (`smtps`). Otherwise STARTTLS is required. To a loopback address, it is used
   * if it is offered.
   */
  readonly secure: boolean;
  /** Null if the server needs no login. */
  readonly user: string | null;
  readonly password: Secret | null;
}

const CURE = "Write smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST";

/**
 * Reads `smtp://USER:PASSWORD@HOST:PORT` (default port: 587) and `smtps://…` (465). `password` is the password if the
 * URL contains none; a second password is a mistake. The mistakes do not contain the URL, because a password may be in
 * it.
 */
export function readSMTPURL(
  url: Secret,
  password: Secret | null = null,
): { readonly server: SMTPServer } | { readonly mistakes: readonly string[] } {
  const parsed = URL.parse(url.reveal().toString("utf8"));
  if (parsed === null || !["smtp:", "smtps:"].includes(parsed.protocol) || parsed.hostname === "")
    return { mistakes: [`it is no address of a mail server. ${CURE}`] };
  const mistakes: string[] = [];
  const [user, own] = [decoded(parsed.username), decoded(parsed.password)];
  if (user === null || own === null) mistakes.push("its user or password has a wrong %-escape. Escape % as %25");
  if (!["", "/"].includes(parsed.pathname) || parsed.search !== "" || parsed.hash !== "")
    mistakes.push(
      `it has more than a host and a port. ${CURE}. Escape @, /, ? and # in a password as %40, %2F, %3F and %23`,
    );
  if (own !== "" && password !== null) mistakes.push("it has a password, and another one is given. Keep one");
  if (user === "" && (own !== "" || password !== null)) mistakes.push("there is a password and no user. Add the user");
  if (user !== "" && own === "" && password === null)
    mistakes.push("there is a user and no password. Add the password");
  if (mistakes.length > 0) return { mistakes };
  const secure = parsed.protocol === "smtps:";
  return {
    server: {
      host: parsed.hostname.replaceAll(/[[\]]/g, ""),
      port: parsed.port === "" ? (secure ? 465 : 587) : Number(parsed.port),
      secure,
      user: user === "" ? null : user,
      password: password ?? (own === "" || own === null ? null : new Secret(own)),
    },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
