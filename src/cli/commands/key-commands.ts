import { Option, type Command } from "commander";
import type { NewKeyOptions } from "./key-actions.ts";

/** Loaded only when needed, so that the help appears quickly. */
const actions = () => import("./key-actions.ts");

/** Adds `latchkey key …`. */
export function addKeyCommands(key: Command): void {
  key
    .command("new")
    .description(
      "add a key to the file of LATCHKEY_SIGNING_KEYS; the service publishes it and verifies tokens with it; if it is the first key, it also signs",
    )
    .addOption(new Option("--alg <algorithm>", "its algorithm").choices(["EdDSA", "ES256"]).default("EdDSA"))
    .option("--json", "print JSON")
    .action(async (options: NewKeyOptions) => (await actions()).addKey(options));
  key
    .command("activate")
    .description("let a key sign; the previous one still verifies")
    .argument("<kid>")
    .option("--json", "print JSON")
    .action(async (kid: string, options: object) => (await actions()).activate(kid, options));
  key
    .command("retire")
    .description("remove a key that no longer signs")
    .argument("<kid>")
    .option("--force", "even if tokens that it signed are still valid; they become invalid")
    .option("--json", "print JSON")
    .action(async (kid: string, options: object) => (await actions()).retire(kid, options));
  key
    .command("list")
    .description("list the keys")
    .option("--json", "print JSON")
    .action(async (options: object) => (await actions()).list(options));
}
