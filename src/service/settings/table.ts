import { addressSettings } from "./address-settings.ts";
import { levelName, relyingPartyId } from "./factor-values.ts";
import { lifetimeSettings, year } from "./lifetimes.ts";
import { lookSettings } from "./look-settings.ts";
import { mailSettings } from "./mail-settings.ts";
import {
  baseURL,
  database,
  filePath,
  headerName,
  headerSecret,
  hostName,
  choice,
  originList,
  password,
  passwordCost,
  proxyList,
  schemeList,
  seconds,
  serverSecret,
  tablePrefix,
  username,
  wholeNumber,
  yesOrNo,
  type Parse,
} from "./values.ts";

/** One setting. Its key in the table is its name in the config file. */
export interface Setting {
  /** Its name in the environment. */
  readonly name: string;
  /** An alternative name in the environment, used if the first one is not set. */
  readonly alias?: string;
  /** The default, as an operator would write it. Null if there is none. */
  readonly default: string | null;
  /** The default in words, if no written value expresses it. */
  readonly otherwise?: string;
  /** For docs/settings.md. */
  readonly meaning: string;
  readonly parse: Parse<unknown>;
}

/** All settings. Reading, the check for unknown names and docs/settings.md follow from it. */
export const settingsTable = {
  host: {
    name: "LATCHKEY_HOST",
    default: "127.0.0.1",
    parse: hostName,
    meaning:
      "The address to listen on: an IP address or a host name. `0.0.0.0` or `::` means all networks of the machine.",
  },
  port: {
    name: "LATCHKEY_PORT",
    alias: "PORT",
    default: "8000",
    parse: wholeNumber(0, 65_535),
    meaning: "The port; `0` picks a free one and prints it. `PORT` is read if `LATCHKEY_PORT` is not set.",
  },
  database: {
    name: "LATCHKEY_DATABASE",
    default: "sqlite:latchkey.db",
    parse: database,
    meaning: "`sqlite:PATH`, `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/NAME`.",
  },
  tablePrefix: {
    name: "LATCHKEY_TABLE_PREFIX",
    default: null,
    parse: tablePrefix,
    meaning:
      "Prefix of Latchkey's own tables, such as `lk_`, if the database has tables of other programs. Choose it before the first start.",
  },
  secret: {
    name: "LATCHKEY_SECRET",
    default: null,
    parse: serverSecret,
    meaning:
      "The server's own secret, 32 characters or more, instead of a file. Older secrets on the following lines still verify.",
  },
  secretFile: {
    name: "LATCHKEY_SECRET_FILE",
    default: null,
    otherwise: "`latchkey.secret` beside the SQLite file",
    parse: filePath,
    meaning: "The file of that secret. With SQLite the first start creates it; with PostgreSQL it must exist.",
  },
  adminUsername: {
    name: "LATCHKEY_ADMIN_USERNAME",
    default: "admin",
    parse: username,
    meaning: "The username of the first administrator, who is created only if there is none.",
  },
  adminPassword: {
    name: "LATCHKEY_ADMIN_PASSWORD",
    default: null,
    otherwise: "random, shown once",
    parse: password,
    meaning: "The first administrator's password, 8 to 256 characters.",
  },
  schemes: {
    name: "LATCHKEY_SCHEMES",
    default: "basic,session,token,bearer",
    parse: schemeList,
    meaning:
      "The schemes that endpoints accept. `remote-user` and `custom-header` are on only if named here, with their settings.",
  },
  customToken: {
    name: "LATCHKEY_CUSTOM_TOKEN",
    default: null,
    parse: headerSecret(32),
    meaning: "For `custom-header`: the fixed token of `X-Custom-Token`, 32 visible ASCII characters or more.",
  },
  customTokenUsername: {
    name: "LATCHKEY_CUSTOM_TOKEN_USERNAME",
    default: null,
    parse: username,
    meaning: "The account of this token. It must exist at the start.",
  },
  trustedProxies: {
    name: "LATCHKEY_TRUSTED_PROXIES",
    default: null,
    parse: proxyList,
    meaning: "Addresses, CIDR ranges or `unix`, whose `X-Forwarded-For`, `-Proto` and `-Host` are believed.",
  },
  allowedOrigins: {
    name: "LATCHKEY_ALLOWED_ORIGINS",
    default: null,
    parse: originList,
    meaning:
      "Exact origins (`https://app.example`, `capacitor://localhost`) allowed by CORS and by the cross-site check.",
  },
  hsts: {
    name: "LATCHKEY_HSTS",
    default: "host",
    parse: choice("host", "subdomains"),
    meaning:
      "Over TLS, answers tell browsers to use only TLS (`Strict-Transport-Security`): for this `host`, or for its `subdomains` too.",
  },
  remoteUserHeader: {
    name: "LATCHKEY_REMOTE_USER_HEADER",
    default: "X-Remote-User",
    parse: headerName,
    meaning: "For `remote-user`: the header in which the proxy names the user.",
  },
  remoteUserSecret: {
    name: "LATCHKEY_REMOTE_USER_SECRET",
    default: null,
    parse: headerSecret(8),
    meaning: "The value that the proxy must send in `X-Remote-User-Secret`, 8 visible ASCII characters or more.",
  },
  remoteUserTrust: {
    name: "LATCHKEY_REMOTE_USER_TRUST",
    default: null,
    parse: choice("network"),
    meaning: "`network`: trust the network, without a shared secret and with a listener that is not on loopback.",
  },
  remoteUserCreate: {
    name: "LATCHKEY_REMOTE_USER_CREATE",
    default: "false",
    parse: yesOrNo,
    meaning: "`true`: create an account for a new user of the proxy, from `X-Remote-Email` and `X-Remote-Name`.",
  },
  remoteUserLevel: {
    name: "LATCHKEY_REMOTE_USER_LEVEL",
    default: "1",
    parse: levelName,
    meaning: "`2`: the proxy has already checked a second factor.",
  },
  remoteUserTrustEmail: {
    name: "LATCHKEY_REMOTE_USER_TRUST_EMAIL",
    default: "false",
    parse: yesOrNo,
    meaning: "`true`: the proxy vouches for the addresses that it sends.",
  },
  secondFactor: {
    name: "LATCHKEY_SECOND_FACTOR",
    default: "optional",
    parse: choice("optional", "admins", "everyone"),
    meaning: "`optional`: users may add a second factor. `admins` or `everyone`: these users must have one.",
  },
  passkeyRpId: {
    name: "LATCHKEY_PASSKEY_RP_ID",
    default: null,
    otherwise: "the host of `LATCHKEY_PUBLIC_URL`, otherwise `localhost`",
    parse: relyingPartyId,
    meaning: "The host that passkeys are bound to. Another host than `localhost` needs `LATCHKEY_PUBLIC_URL`.",
  },
  outsideCredentialsSeconds: {
    name: "LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS",
    default: "2592000",
    parse: seconds(0, year),
    meaning:
      "Lifetime of API tokens and keys that a remote user, a user of another issuer or a user of an identity provider creates; at most 366 days. `0`: they cannot create any.",
  },
  ...lifetimeSettings,
  signingKeys: {
    name: "LATCHKEY_SIGNING_KEYS",
    default: null,
    otherwise: "derived from the server's secret",
    parse: filePath,
    meaning: "The file of a JWK Set with Ed25519 or P-256 keys: the first private key signs, all verify.",
  },
  issuers: {
    name: "LATCHKEY_ISSUERS",
    default: null,
    parse: filePath,
    meaning: "For `bearer`: the JSON file of other issuers whose tokens are accepted.",
  },
  identityProviders: {
    name: "LATCHKEY_IDENTITY_PROVIDERS",
    default: null,
    parse: filePath,
    meaning:
      "The JSON file of the identity providers (OpenID Connect) at which users log in, with the package `openid-client`. Needs `LATCHKEY_PUBLIC_URL`. See [Log in with your company](guides/company-login.md).",
  },
  workers: {
    name: "LATCHKEY_WORKERS",
    default: "1",
    parse: wholeNumber(1, 64),
    meaning: "Processes that share the port, 1 to 64.",
  },
  tlsCert: {
    name: "LATCHKEY_TLS_CERT",
    default: null,
    parse: filePath,
    meaning: "To serve HTTPS directly: the PEM file of the certificate, followed by its chain.",
  },
  tlsKey: {
    name: "LATCHKEY_TLS_KEY",
    default: null,
    parse: filePath,
    meaning: "The PEM file of the certificate's private key.",
  },
  cleartextLogins: {
    name: "LATCHKEY_CLEARTEXT_LOGINS",
    default: "refuse",
    parse: choice("refuse", "allow"),
    meaning: "`allow`: logins from other hosts without TLS too, for a private network.",
  },
  ...addressSettings,
  ...lookSettings,
  ...mailSettings,
  compression: {
    name: "LATCHKEY_COMPRESSION",
    default: "on",
    parse: choice("on", "off"),
    meaning: "`off` if a proxy compresses, and clients need no `If-Match`.",
  },
  handlerTimeoutSeconds: {
    name: "LATCHKEY_HANDLER_TIMEOUT_SECONDS",
    default: "60",
    parse: seconds(1, 3600),
    meaning: "Time that your own code may take for a request; at most an hour.",
  },
  connectionsPerAddress: {
    name: "LATCHKEY_CONNECTIONS_PER_ADDRESS",
    default: "1000",
    parse: wholeNumber(0, 10_000),
    meaning:
      "Maximum number of open connections from one address (a /64 of IPv6) to each process, at most 10000; `0`: no limit. Trusted proxies are not counted.",
  },
  passwordCost: {
    name: "LATCHKEY_PASSWORD_COST",
    default: "m=19456,t=2,p=1",
    parse: passwordCost,
    meaning:
      "Argon2id: KiB, passes, lanes; at least OWASP's minimum. Hashes with other parameters are replaced at the next login.",
  },
  breachedPasswordsURL: {
    name: "LATCHKEY_BREACHED_PASSWORDS_URL",
    default: null,
    parse: baseURL,
    meaning: "The address of Pwned Passwords, or of a mirror. See [passwords](#passwords).",
  },
  log: {
    name: "LATCHKEY_LOG",
    default: "info",
    parse: choice("silent", "error", "info", "debug"),
    meaning: "`silent`, `error`, `info` or `debug`: one JSON line a request on standard output; never a credential.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** The name of a setting in the config file. */
export type SettingName = keyof typeof settingsTable;

/** The type of a setting after reading. */
export type SettingValue<K extends SettingName> = (typeof settingsTable)[K]["parse"] extends Parse<infer T> ? T : never;

/**
 * The type of a setting in the config file: numbers, booleans and lists keep their types, and all others are texts as
 * in the environment.
 */
export type PlainSetting<T> = T extends number | boolean | string
  ? T
  : T extends readonly (infer Entry)[]
    ? readonly Entry[]
    : string;
