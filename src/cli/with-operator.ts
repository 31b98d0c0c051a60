import type { Account } from "../door/auth.ts";
import type { Observation } from "../door/ops.ts";
import type { Operator } from "../service/system/operator.ts";
import { CommandFailed, describeError, printError } from "./output.ts";

/** Opens the store with the settings of the service, runs a task, and closes the store. */
export async function withOperator<T>(
  task: (operator: Operator) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  // Loaded only here, so that the help and commands without a store start immediately.
  const [{ loadConfigFile }, { readSettings }, { readEach }, { openOperator, requireLastingStore }] = await Promise.all(
    [
      import("../service/settings/config-file/config-file.ts"),
      import("../service/settings/settings.ts"),
      import("../service/settings/reading.ts"),
      import("../service/system/operator.ts"),
    ],
  );
  const config = await loadConfigFile(process.cwd());
  const { database } = readEach(process.env, config ?? {}, []);
  // Checked before all settings are read, because `readSettings` creates a secret if there is none.
  if (!database.isWrong) requireLastingStore(database.value, mayCreate);
  const operator = await openOperator({
    settings: readSettings(process.env, config),
    config: config ?? {},
    observe: printTrouble,
    mayCreate,
  });
  try {
    return await task(operator);
  } finally {
    await operator.close();
  }
}

/** Returns the value of a successful response. Any other response ends the command. */
export async function requireDone(operator: Operator, method: string, path: string, body?: unknown): Promise<unknown> {
  const { status, value } = await operator.ask(method, path, body);
  if (status < 400) return value;
  const { code, detail, errors } = value as ProblemShown;
  throw new CommandFailed(detail, code, errors);
}

interface ProblemShown {
  readonly code: string;
  readonly detail: string;
  readonly errors?: CommandFailed["issues"];
}

/**
 * Returns the id of a user. `user` is a username, or an id like `id:5`. A username has no colon, so the two forms
 * cannot be confused.
 */
export async function requireUserId(operator: Operator, user: string): Promise<number> {
  return idIn(user) ?? (await requireAccount(operator, user)).id;
}

/** Returns the account of a user. `user` is a username, or an id like `id:5`. */
export async function requireAccount(operator: Operator, user: string): Promise<Account> {
  const account = await operator.findAccount(idIn(user) ?? user);
  if (account !== null) return account;
  throw new CommandFailed(
    `There is no user ${idIn(user) === null ? `with the username ${JSON.stringify(user)}` : `with the id ${idIn(user)}`}. latchkey user list shows all users; id:5 means the user with the id 5.`,
    "not_found",
  );
}

function idIn(user: string): number | null {
  const id = /^id:([1-9]\d{0,15})$/.exec(user)?.[1];
  return id === undefined ? null : Number(id);
}

function printTrouble(observation: Observation): void {
  if (observation.kind !== "fault" && !(observation.kind === "notice" && observation.level === "error")) return;
  const { error } = observation;
  const message = observation.kind === "notice" ? `${observation.message} ` : "";
  printError(`${message}${describeError(error ?? "")}\n`);
}
