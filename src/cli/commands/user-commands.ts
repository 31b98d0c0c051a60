import type { Command } from "commander";
import type { Where } from "../../door/stores.ts";
import type { Operator } from "../../service/system/operator.ts";
import { addPasswordOptions, obtainPassword, type PasswordOptions } from "../input/password-input.ts";
import { UsageError, show, showList, type Output } from "../output.ts";
import { requireDone, requireUserId, withOperator } from "../with-operator.ts";
import { addBindCommands } from "./bind-commands.ts";
import { addFactorCommands } from "./factor-commands.ts";

/** Adds `latchkey user …`. */
export function addUserCommands(user: Command): void {
  addPasswordOptions(user.command("create").description("create a user"))
    .option("--name <name>", "the display name; required")
    .option("--email <email>", "the e-mail address; required")
    .option("--username <username>", "the login name; default: the e-mail address")
    .option("--admin", "make the user an administrator")
    .option("--without-password", "create a user who cannot log in with a password")
    .option("--json", "print JSON")
    .action(create);
  user
    .command("list")
    .description("list users")
    .option("--role <role>", "only users with this role: user, admin, or a declared role")
    .option("--inactive", "only disabled users")
    .option("--json", "print JSON")
    .action(list);
  addPasswordOptions(
    user
      .command("password")
      .description("change a user's password; ends all sessions and token logins")
      .argument("<user>"),
  )
    .option("--json", "print JSON")
    .action(changePassword);
  user
    .command("unlock")
    .description("forget the wrong passwords of the user, and those of the last minute from every address")
    .argument("<user>")
    .option("--json", "print JSON")
    .action(unlock);
  addChange(user, "disable", "disable a user; ends all sessions, and revokes every token", { active: false });
  addChange(user, "enable", "enable a user", { active: true });
  addChange(user, "promote", "make a user an administrator", { role: "admin" });
  addChange(user, "demote", "make an administrator a plain user", { role: "user" });
  user
    .command("role")
    .description("change a user's role; ends their access tokens")
    .argument("<user>")
    .argument("<role>", "user, admin, or a declared role")
    .option("--json", "print JSON")
    .action(changeRole);
  addBindCommands(user);
  addFactorCommands(user);
  user
    .command("import")
    .description("import users from CSV, JSON lines or Django's dumpdata; reports each line that cannot be imported")
    .argument("<file>", "the file, or - for standard input")
    .option("--format <format>", "csv, jsonl or json; default: from the name and the first character of the file")
    .option("--staff-is-admin", "make a user with Django's is_staff an administrator, not only one with is_superuser")
    .option("--json", "print JSON")
    .action(async (file: string, options: object) => (await import("./import-command.ts")).importFile(file, options));
}

interface CreateOptions extends Output, PasswordOptions {
  readonly name?: string;
  readonly email?: string;
  readonly username?: string;
  readonly admin?: boolean;
}

async function create(options: CreateOptions): Promise<void> {
  const { name, email, username, admin = false, json = false } = options;
  // Checked here and not by the parser, because the parser would report a missing `--name` instead of a misspelled
  // `--nam`.
  if (name === undefined || email === undefined)
    throw new UsageError(`Write ${name === undefined ? "--name NAME" : "--email ADDRESS"} too.`);
  const { password, isDrawn } = await obtainPassword(options);
  const body = {
    name,
    email,
    ...(username === undefined ? {} : { username }),
    ...(password === null ? {} : { password }),
  };
  await withOperator(
    async (operator) => {
      const made = (await requireDone(operator, "POST", "/users", body)) as { readonly id: number };
      if (admin) await requireDone(operator, "PATCH", `/users/${made.id}/account`, { role: "admin" });
      await showUser(operator, made.id, json, "made", isDrawn ? password : null);
    },
    { mayCreate: true },
  );
}

async function changePassword(user: string, options: Output & PasswordOptions): Promise<void> {
  const { password, isDrawn } = await obtainPassword(options);
  await withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    await requireDone(operator, "PATCH", `/users/${id}`, { password });
    await showUser(operator, id, options.json ?? false, "given another password", isDrawn ? password : null);
  });
}

async function unlock(user: string, { json = false }: Output): Promise<void> {
  await withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    const { username } = (await requireDone(operator, "GET", `/users/${id}/account`)) as { readonly username: string };
    await operator.unlock(username);
    await showUser(operator, id, json, "unlocked", null);
  });
}

/** Adds a command that changes the account of a user. */
function addChange(user: Command, name: string, description: string, change: object): void {
  user
    .command(name)
    .description(description)
    .argument("<user>")
    .option("--json", "print JSON")
    .action((who: string, { json = false }: Output) =>
      withOperator(async (operator) => {
        const id = await requireUserId(operator, who);
        await requireDone(operator, "PATCH", `/users/${id}/account`, change);
        await showUser(operator, id, json, `${name}d`, null);
      }),
    );
}

async function changeRole(who: string, role: string, { json = false }: Output): Promise<void> {
  await withOperator(async (operator) => {
    requireRole(operator, role);
    const id = await requireUserId(operator, who);
    await requireDone(operator, "PATCH", `/users/${id}/account`, { role });
    await showUser(operator, id, json, `made ${role}`, null);
  });
}

function requireRole({ roles }: Operator, role: string | undefined): void {
  if (role !== undefined && !roles.includes(role)) throw new UsageError(`A role is one of ${roles.join(", ")}.`);
}

/** Prints a user with the account. Prints the password only if it was just generated. */
async function showUser(
  operator: Operator,
  id: number,
  json: boolean,
  done: string,
  drawn: string | null,
): Promise<void> {
  const user = (await requireDone(operator, "GET", `/users/${id}`)) as object;
  const account = (await requireDone(operator, "GET", `/users/${id}/account`)) as { readonly username: string };
  const password = drawn === null ? {} : { password: drawn };
  show(
    json,
    { ...user, ...account, ...password },
    `User ${id} (${account.username}) was ${done}.${drawn === null ? "" : `\nPassword: ${drawn} (shown only now)`}`,
  );
}

interface ListOptions extends Output {
  readonly role?: string;
  readonly inactive?: boolean;
}

async function list({ role, inactive = false, json = false }: ListOptions): Promise<void> {
  const conditions: Where[] = [];
  if (role !== undefined) conditions.push({ column: "role", operator: "eq", value: role });
  if (inactive) conditions.push({ column: "active", operator: "eq", value: false });
  await withOperator((operator) => {
    requireRole(operator, role);
    const pages = operator.listUsers(conditions.length === 0 ? null : { all: conditions });
    return showList(json, pages, ["id", "username", "name", "email", "role", "active", "last_login_at"]);
  });
}
