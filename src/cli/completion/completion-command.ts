import { Argument, type Command } from "commander";
import { print } from "../output.ts";
import { collectPlaces, type CompletionContext } from "./command-tree.ts";
import { bashScript, fishScript, zshScript } from "./scripts.ts";

const scripts: Readonly<Record<string, (places: readonly CompletionContext[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Adds `latchkey completion`. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the completion script for a shell; docs/cli.md shows where to install it")
    .addArgument(new Argument("<shell>").choices(Object.keys(scripts)))
    .action((shell: string) => print(scripts[shell]!(collectPlaces(program))));
}
