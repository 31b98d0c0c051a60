import { isKnownFormat, type NewUser, type AccountsContract, type Role } from "../../door/auth.ts";
import { Flaw, type Field } from "../../door/resources.ts";

export interface ImportOptions {
  /** If true, Django's `is_staff` also makes an administrator, not only `is_superuser`. */
  readonly staffIsAdmin?: boolean;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/** All reasons why a line cannot be imported. */
export interface Refusal {
  readonly reasons: readonly string[];
}

/**
 * The columns that are read. Others are ignored. Those up to `last_login_at` have our names, and the rest have
 * Django's.
 */
export const importedColumns = [
  "name",
  "email",
  "username",
  "password",
  "password_hash",
  "role",
  "active",
  "created_at",
  "last_login_at",
  "first_name",
  "last_name",
  "is_superuser",
  "is_staff",
  "is_active",
  "date_joined",
  "last_login",
] as const;

type Column = (typeof importedColumns)[number];

/** Reads one line. Its columns have our names or those of Django's `auth_user`. */
export function readImportedUser(
  record: Readonly<Record<string, unknown>>,
  { users: { resource: users }, declared: { roles } }: Pick<AccountsContract, "users" | "declared">,
  { staffIsAdmin = false, now }: ImportOptions,
): NewUser | Refusal {
  const reasons: string[] = [];
  const findValue = (...columns: readonly Column[]): unknown =>
    columns.map((column) => record[column]).find((value) => value !== undefined && value !== null && value !== "");

  const read = (column: "email" | "name" | "username", value: unknown): string => {
    const field: Field = users.fields[column];
    const parsed = value === undefined ? new Flaw("required", "This field is required.") : field.kind.parse(value);
    if (typeof parsed === "string") return parsed;
    reasons.push(`${column}: ${parsed instanceof Flaw ? parsed.detail : "It is not a text."}`);
    return "";
  };
  const flag = (column: Column, otherwise: boolean): boolean => {
    const value = findValue(column);
    const parsed = value === undefined ? otherwise : parseFlag(value);
    if (parsed === null) reasons.push(`${column}: It is not true or false.`);
    return parsed ?? otherwise;
  };
  const time = (...columns: readonly [Column, Column]): string | null => {
    const value = findValue(...columns);
    const parsed = value === undefined ? null : parseTime(value);
    if (value !== undefined && parsed === null)
      reasons.push(
        `${columns.find((column) => findValue(column) !== undefined)}: It is not a date and time like 2026-01-31T09:30:00Z.`,
      );
    return parsed;
  };
  const role = (): Role => {
    const value = findValue("role");
    if (typeof value === "string" && roles.includes(value)) return value;
    if (value !== undefined) reasons.push(`role: It is not one of ${roles.join(", ")}.`);
    const isSuperuser = flag("is_superuser", false);
    const isStaff = flag("is_staff", false);
    return isSuperuser || (staffIsAdmin && isStaff) ? "admin" : "user";
  };
  const passwordHash = (): string | null => {
    const value = findValue("password_hash", "password");
    // Django writes `!` before a hash that matches no password.
    if (value === undefined || (typeof value === "string" && value.startsWith("!"))) return null;
    if (typeof value === "string" && isKnownFormat(value)) return value;
    reasons.push("password: It is not a hash in a known format. Plain passwords are not imported.");
    return null;
  };

  const email = read("email", findValue("email"));
  const username = findValue("username");
  const user: NewUser = {
    name: read(
      "name",
      findValue("name") ??
        fullName(findValue("first_name"), findValue("last_name")) ??
        username ??
        (email === "" ? undefined : email),
    ),
    email,
    username: username === undefined ? email : read("username", username),
    role: role(),
    passwordHash: passwordHash(),
    emailOrigin: "vouched",
    active: findValue("active") === undefined ? flag("is_active", true) : flag("active", true),
    lastLoginAt: time("last_login_at", "last_login"),
    now,
    ...whenKnown(time("created_at", "date_joined")),
  };
  return reasons.length === 0 ? user : { reasons };
}

function whenKnown(createdAt: string | null): { readonly createdAt?: string } {
  return createdAt === null ? {} : { createdAt };
}

function fullName(first: unknown, last: unknown): string | undefined {
  const parts = [first, last].filter((part) => typeof part === "string");
  return parts.length === 0 ? undefined : parts.join(" ");
}

function parseFlag(value: unknown): boolean | null {
  const text = String(value).toLowerCase();
  if (["true", "t", "yes", "1"].includes(text)) return true;
  return ["false", "f", "no", "0"].includes(text) ? false : null;
}

/** Parses a time of ISO 8601 or PostgreSQL: `2026-01-31 09:30:00.123456+00`. Without an offset, it is UTC. */
function parseTime(value: unknown): string | null {
  const found =
    typeof value === "string"
      ? /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(value.trim())
      : null;
  if (found === null) return null;
  const [, day, clock = "00:00", offset = "Z"] = found;
  const zone = /^[+-]\d\d$/.test(offset) ? `${offset}:00` : offset.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2").toUpperCase();
  const [seconds = "", fraction = ""] = clock.split(".");
  const ms = Date.parse(`${day}T${seconds}${fraction === "" ? "" : `.${fraction.slice(0, 3)}`}${zone}`);
  return Number.isNaN(ms) || !isInCalendar(day!) ? null : new Date(ms).toISOString();
}

/** Returns true if the day exists. `Date` turns February 30 into a day of March. */
function isInCalendar(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
