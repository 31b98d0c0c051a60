import type { EventEmitter } from "node:events";
import path from "node:path";

/** The tests of a run that have not ended. */
export interface Progress {
  /**
   * Returns the sentences for a run that is stopped. They start with the reason, and name the files that did not
   * finish.
   */
  describeUnfinished(reason: string): string;
}

/** The members of an event of `node:test` that name a test or a file. */
interface TestEvent {
  readonly name: string;
  readonly file?: string;
  readonly nesting: number;
}

/**
 * Follows a run of `node:test`. `groups` has the test files that a started file loads. Calls `ended` after each test,
 * so that a caller notices a run in which no test ends.
 */
export function followRun(
  stream: EventEmitter,
  groups: ReadonlyMap<string, readonly string[]>,
  ended: () => void,
): Progress {
  const started = new Set<string>();
  const running = new Map<string, string>();
  const isFile = ({ name, file }: TestEvent): boolean => name === file;
  const keyOf = ({ name, file = "" }: TestEvent): string => `${file}\n${name}`;

  stream.on("test:dequeue", (test: TestEvent) => {
    if (isFile(test)) started.add(test.name);
    else if (test.nesting === 0) running.set(keyOf(test), `${path.relative(".", test.file ?? "")} (${test.name})`);
  });
  stream.on("test:complete", (test: TestEvent) => {
    started.delete(test.name);
    if (test.nesting === 0) running.delete(keyOf(test));
    ended();
  });

  return {
    describeUnfinished(reason) {
      const tests = [...running.values()].toSorted();
      const files = [...started].flatMap((file) => groups.get(file) ?? [file]).map((file) => path.relative(".", file));
      const waiting = files.filter((file) => !tests.some((test) => test.startsWith(`${file} (`)));
      return [
        `${reason} ${tests.length === 0 ? "No test was running." : `Still running: ${tests.join(", ")}.`}`,
        ...(waiting.length === 0 ? [] : [`Their processes also load: ${waiting.join(", ")}.`]),
        "Run one of them alone: npm test -- FILE.",
      ].join("\n");
    },
  };
}
