import type { Argument, Command, Option } from "commander";

/** What may be written at one place of a command line: behind `latchkey user`, say. */
export interface Place {
  /** The commands so far: `latchkey user`. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** The words that its arguments may be. */
  readonly words: readonly string[];
  /** An argument is a file. */
  readonly files: boolean;
}

/** A word and what it does. */
export interface Described {
  readonly name: string;
  readonly description: string;
}

/** An option in all its spellings. */
export interface CompletedOption {
  /** `--request`, `-r` */
  readonly spellings: readonly string[];
  readonly description: string;
  /** What stands behind it: nothing, a file, one of these words, or what nobody can guess. */
  readonly value: "none" | "file" | "any" | readonly string[];
}

/** Every place of a command and of those below it. */
export function placesOf(command: Command, before = ""): readonly Place[] {
  const path = `${before} ${command.name()}`.trim();
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const place: Place = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(optionOf),
    words: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    files: command.registeredArguments.some(isFile),
  };
  return [place, ...commands.flatMap((each) => placesOf(each, path))];
}

function optionOf({ long, short, description, required, optional, argChoices, flags }: Option): CompletedOption {
  const takesValue = required || optional;
  const isFileValue = /<file>/.test(flags);
  return {
    spellings: [long, short].filter((each) => each !== undefined && each !== null),
    description,
    value: !takesValue ? "none" : isFileValue ? "file" : (argChoices ?? "any"),
  };
}

function isFile(argument: Argument): boolean {
  return argument.name() === "file";
}
