import type { CompletedOption, CompletionContext } from "./command-tree.ts";

// Each script contains a table of the places (commands with the words that may follow them) and a few lines that search
// the table.

/** Returns the script for bash 3.2 and later, for use with `source`. */
export function bashScript(places: readonly CompletionContext[]): string {
  const atPlaces = places.map(
    (place) => `    ${quote(place.path)}) words=${quote(wordsAt(place).join(" "))}${place.files ? " files=1" : ""} ;;`,
  );
  return `# Completion of latchkey for bash. Made by: latchkey completion bash
_latchkey() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place=latchkey words="" files="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $each" in
      ${commandPaths(places).map(quote).join("|")}) place="$place $each" ;;
    esac
  done
  case "$place" in
${atPlaces.join("\n")}
  esac
  case "$place $before" in
${valuesAt(places)
  .map(
    ({ at, words, files }) =>
      `    ${at.map(quote).join("|")}) words=${quote(words.join(" "))} files=${files ? "1" : ""} ;;`,
  )
  .join("\n")}
  esac
  COMPREPLY=()
  while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -W "$words" -- "$word")
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -f -- "$word")
  fi
}
complete -F _latchkey latchkey
`;
}

/** Returns the script for zsh, for a file `_latchkey` in its `fpath` or for use with `source`. */
export function zshScript(places: readonly CompletionContext[]): string {
  const described = (name: string, description: string): string =>
    quote(`${name.replaceAll(":", "\\:")}:${oneLine(description)}`);
  const atPlaces = places.map(({ path, commands, options, words, files }) => {
    const plain = [...commands.map((each) => described(each.name, each.description)), ...words.map(quote)];
    const flags = options.flatMap(({ spellings, description }) =>
      spellings.map((each) => described(each, description)),
    );
    return `    ${quote(path)}) plain=(${plain.join(" ")}) flags=(${flags.join(" ")})${files ? " files=1" : ""} ;;`;
  });
  return `#compdef latchkey
# Completion of latchkey for zsh. Made by: latchkey completion zsh
_latchkey() {
  local place=latchkey files="" each
  local -a plain flags
  for each in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $each" in
      ${commandPaths(places).map(quote).join("|")}) place="$place $each" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${valuesAt(places)
  .map(
    ({ at, words, files }) =>
      `    ${at.map(quote).join("|")}) ${files ? "_files" : words.length === 0 ? "_message value" : `compadd -- ${words.map(quote).join(" ")}`}; return ;;`,
  )
  .join("\n")}
  esac
  case "$place" in
${atPlaces.join("\n")}
  esac
  (( $#plain )) && _describe -t commands command plain
  [[ -n "$files" ]] && _files
  _describe -o -t options option flags
}
if [ "$funcstack[1]" = _latchkey ]; then _latchkey "$@"; else compdef _latchkey latchkey; fi
`;
}

/** Returns the script for fish, for a file in its `completions` folder. */
export function fishScript(places: readonly CompletionContext[]): string {
  const lines = places.flatMap(({ path, commands, options, words, files }) => {
    const at = `complete -c latchkey -n ${fishQuote(`__latchkey_at ${fishQuote(path)}`)}`;
    return [
      ...commands.map(({ name, description }) => `${at} -a ${fishQuote(name)} -d ${fishQuote(oneLine(description))}`),
      ...(words.length === 0 ? [] : [`${at} -a ${fishQuote(words.join(" "))}`]),
      ...options.map((option) => `${at} ${fishOption(option)}`),
      ...(files ? [`${at} -F`] : []),
    ];
  });
  return `# Completion of latchkey for fish. Made by: latchkey completion fish
function __latchkey_at
  set -l place latchkey
  for each in (commandline -opc)[2..]
    switch "$place $each"
      case ${commandPaths(places).map(fishQuote).join(" ")}
        set place "$place $each"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c latchkey -f
${lines.join("\n")}
`;
}

function fishOption({ spellings, description, value }: CompletedOption): string {
  const names = spellings.map((each) => (each.startsWith("--") ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`));
  const behind =
    value === "none"
      ? []
      : value === "file"
        ? ["-r", "-F"]
        : value === "any"
          ? ["-x"]
          : ["-x", "-a", fishQuote(value.join(" "))];
  return [...names, ...behind, "-d", fishQuote(oneLine(description))].join(" ");
}

function wordsAt({ commands, options, words }: CompletionContext): readonly string[] {
  return [...commands.map(({ name }) => name), ...words, ...options.flatMap(({ spellings }) => spellings)];
}

/** Returns the paths of all places except the first, which is `latchkey` itself. */
function commandPaths(places: readonly CompletionContext[]): readonly string[] {
  return places.slice(1).map(({ path }) => path);
}

interface ValueAt {
  /** The command with the option, once for each spelling of the option: `latchkey key new --alg`. */
  readonly at: readonly string[];
  readonly words: readonly string[];
  readonly files: boolean;
}

function valuesAt(places: readonly CompletionContext[]): readonly ValueAt[] {
  return places.flatMap(({ path, options }) =>
    options.flatMap(({ spellings, value }): readonly ValueAt[] => {
      if (value === "none") return [];
      const words = typeof value === "string" ? [] : value;
      return [{ at: spellings.map((each) => `${path} ${each}`), words, files: value === "file" }];
    }),
  );
}

function oneLine(text: string): string {
  return text.split("\n")[0]!;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a text for fish. In single quotes, fish needs a backslash before a quote and before a backslash. */
function fishQuote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
