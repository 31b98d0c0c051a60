import type { Argument, Command, Option } from "commander";

/** The possible words at one place of a command line, for example after `latchkey user`. */
export interface Place {
  /** The commands so far: `latchkey user`. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** The possible words of its arguments. */
  readonly words: readonly string[];
  /** True if an argument is a file. */
  readonly files: boolean;
}

/** A word with its description. */
export interface Described {
  readonly name: string;
  readonly description: string;
}

/** An option with all its spellings. */
export interface CompletedOption {
  /** `--request`, `-r` */
  readonly spellings: readonly string[];
  readonly description: string;
  /** The value of the option: none, a file, one of these words, or any text. */
  readonly value: "none" | "file" | "any" | readonly string[];
}

/** Returns the places of a command and of its subcommands. */
export function collectPlaces(command: Command, before = ""): readonly Place[] {
  const path = `${before} ${command.name()}`.trim();
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const place: Place = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(convertOption),
    words: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    files: command.registeredArguments.some(isFile),
  };
  return [place, ...commands.flatMap((each) => collectPlaces(each, path))];
}

function convertOption({ long, short, description, required, optional, argChoices, flags }: Option): CompletedOption {
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
