import path from "node:path";
import { createInterface } from "node:readline/promises";
import { isLogin, logins, packageName, resourceMistake } from "./names.ts";
import { folderMistake } from "./project.ts";

/** The answers on the command line. Missing ones are asked for. */
export interface Answers {
  readonly folder: string;
  readonly resource: string;
  readonly login: string;
  readonly signUp: boolean;
  readonly teams: boolean;
}

/** Asks for the missing answers. An empty answer takes the default. Returns null if the user cancels. */
export async function ask(
  knownAnswers: Partial<{ [K in keyof Answers]: Answers[K] | undefined }>,
  standard: Answers,
): Promise<Answers | null> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  lines.once("SIGINT", () => lines.close());

  /** Asks until the answer is valid. */
  async function question(text: string, usual: string, mistakeIn: (answer: string) => string | null): Promise<string> {
    for (;;) {
      const answer = (await lines.question(`${text} (${usual}): `, { signal: gone.signal })).trim() || usual;
      const mistake = mistakeIn(answer);
      if (mistake === null) return answer;
      process.stdout.write(`${mistake}\n`);
    }
  }

  async function agrees(text: string, isUsual: boolean): Promise<boolean> {
    const answer = await question(text, isUsual ? "yes" : "no", (each) =>
      /^(?:y|yes|n|no)$/i.test(each) ? null : "Write yes or no.",
    );
    return /^y/i.test(answer);
  }

  try {
    const folder =
      knownAnswers.folder ??
      (await question("What is the project called?", standard.folder, (answer) =>
        packageName(path.basename(path.resolve(answer))) === ""
          ? "Use letters or digits."
          : folderMistake(path.resolve(answer)),
      ));
    const resource =
      knownAnswers.resource ??
      (await question("One of what you keep, like book or order_line?", standard.resource, resourceMistake));
    const ways = Object.entries(logins).map(([name, what]) => `  ${name.padEnd(8)} ${what}\n`);
    if (knownAnswers.login === undefined) process.stdout.write(`How do people log in?\n${ways.join("")}`);
    const login =
      knownAnswers.login ??
      (await question("Which", standard.login, (answer) =>
        isLogin(answer) ? null : `Write one of ${Object.keys(logins).join(", ")}.`,
      ));
    const teams =
      knownAnswers.teams ??
      (await agrees("Do people work in teams: in projects that only members see?", standard.teams));
    const signUp =
      knownAnswers.signUp ??
      (teams ||
        (await agrees("Do people sign up themselves, with an address that they prove by mail?", standard.signUp)));
    return { folder, resource, login, signUp, teams };
  } catch {
    process.stdout.write("\n");
    return null;
  } finally {
    lines.close();
  }
}
