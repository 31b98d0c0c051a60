import type { Command } from "commander";
import type { Operator } from "../../service/system/operator.ts";
import { CommandFailed, exits, show, showList, type Output } from "../output.ts";
import { requireDone, requireUserId, withOperator } from "../with-operator.ts";

/** Adds `latchkey token …`. */
export function addTokenCommands(token: Command): void {
  token
    .command("create")
    .description("create a user's API token, or show the existing one")
    .argument("<user>")
    .option("--json", "print JSON")
    .action(create);
  token
    .command("revoke")
    .description("revoke a user's API token")
    .argument("<user>")
    .option("--json", "print JSON")
    .action(revoke);
  token
    .command("check")
    .description("check the form and the checksum of a token; needs no database")
    .argument("[token...]", "the tokens; default: all tokens in the text of standard input")
    .option("--json", "print JSON")
    .action(check);
}

function create(user: string, { json = false }: Output): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserWithToken(operator, user);
    const { token } = (await requireDone(operator, "POST", `/users/${id}/token`)) as { readonly token: string };
    show(json, { id, token }, token);
  });
}

function revoke(user: string, { json = false }: Output): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserWithToken(operator, user);
    const { status } = await operator.ask("GET", `/users/${id}/token`);
    if (status === 404) throw new CommandFailed("The user has no API token.", "not_found");
    await requireDone(operator, "DELETE", `/users/${id}/token`);
    show(json, { id, revoked: true }, "The token was revoked.");
  });
}

async function requireUserWithToken(operator: Operator, user: string): Promise<number> {
  const id = await requireUserId(operator, user);
  if (operator.serves(`/users/${id}/token`)) return id;
  throw new CommandFailed(
    "API tokens are off. Add token to the schemes: LATCHKEY_SCHEMES, or settings.schemes in the config file.",
    "not_found",
  );
}

/** Matches texts that may be tokens. Also matches incomplete tokens, which are then reported as invalid. */
const candidates = /\blk_[0-9A-Za-z]{14,}/g;

async function check(tokens: readonly string[], { json = false }: Output): Promise<void> {
  const found = tokens.length > 0 ? tokens : await readCandidates();
  if (found.length === 0)
    throw new CommandFailed("There is no token in the input: tokens begin with lk_.", "not_found");
  const { parseOpaqueToken } = await import("../../door/auth.ts");
  const form = /^lk_[0-9A-Za-z]{62}$/;
  const checked = found.map((text) => {
    const valid = parseOpaqueToken(text, "lk") !== null;
    return { prefix: shownPart(text), valid, reason: valid ? null : form.test(text) ? wrongChecksum : wrongForm };
  });
  await showList(json, [checked], ["prefix", "valid", "reason"]);
  if (checked.some(({ valid }) => !valid)) process.exitCode = exits.failed;
}

async function readCandidates(): Promise<readonly string[]> {
  const found: string[] = [];
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin })) found.push(...(line.match(candidates) ?? []));
  return found;
}

const wrongChecksum = "The checksum is wrong: the token is mistyped or invented.";
const wrongForm = "It does not have the form of a token: lk_ and 62 letters or digits.";

/** Returns the first characters of a token, enough to recognize it but without its secret part. */
function shownPart(text: string): string {
  return /^lk_[0-9A-Za-z]{14}/.exec(text)?.[0] ?? "?";
}
