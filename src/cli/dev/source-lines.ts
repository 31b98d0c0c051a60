import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Paint } from "../output.ts";
import { isOfPackages } from "./package-files.ts";

/** So many lines are shown before and behind the one that threw. */
const AROUND = 2;

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What was thrown, unless that is told already, its own frames, and the lines of the source around the first of them. Causes follow. */
export function explainFault(error: unknown, directory: string, paint: Paint, isTold = false): string {
  if (!(error instanceof Error)) return paint("red", `thrown: ${String(error)}`);
  const frames = (error.stack ?? "").split("\n").filter((line) => line.trimStart().startsWith("at "));
  const own = frames.filter((frame) => isOwn(frame));
  const place = placeOf(own[0] ?? "");
  // Node tells where by the lines before its message, and its own frames say nothing.
  const isSyntax = error.name === "SyntaxError";
  const head = isSyntax ? (error.stack ?? "").split(/^SyntaxError\b/m)[0]!.trimEnd() : "";
  const rest = frames.length - own.length;
  const lines = [
    ...(head === "" ? [] : [head.replace(`file://${directory}/`, "")]),
    ...(isTold ? [] : [paint("red", `${error.name}: ${error.message}`)]),
    ...(place === null ? [] : sourceAround(place, directory, paint)),
    ...own.map((frame) => paint("dim", shorten(frame, directory))),
    ...(own.length === 0 && !isSyntax && !isTold ? frames.slice(0, 8).map((frame) => paint("dim", frame)) : []),
    ...(own.length > 0 && rest > 0 ? [paint("dim", `    and ${rest} frames of packages and Node`)] : []),
  ];
  const cause =
    error.cause === undefined ? [] : [paint("dim", "caused by"), explainFault(error.cause, directory, paint)];
  return [...lines, ...cause].join("\n");
}

/** Neither of Node nor of a package. */
function isOwn(frame: string): boolean {
  const place = placeOf(frame);
  return place !== null && !isOfPackages(place.file);
}

function placeOf(frame: string): Place | null {
  const found = /(?<=[\s(])((?:file:\/\/)?\/[^()]*|[A-Z]:\\[^()]*):(\d+):(\d+)\)?$/.exec(frame.trim());
  if (found === null) return null;
  const where = found[1]!.split("?")[0]!;
  const file = where.startsWith("file:") ? fileURLToPath(where) : where;
  return { file, line: Number(found[2]), column: Number(found[3]) };
}

function sourceAround({ file, line, column }: Place, directory: string, paint: Paint): readonly string[] {
  let source: readonly string[];
  try {
    source = readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
  const from = Math.max(1, line - AROUND);
  const width = String(line + AROUND).length;
  const shown = source.slice(from - 1, line + AROUND).flatMap((text, at) => {
    const number = from + at;
    const code = `${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`;
    return number === line
      ? [code, paint("red", `${" ".repeat(width + 5 + Math.max(column - 1, 0))}^`)]
      : [paint("dim", code)];
  });
  return [`${path.relative(directory, file)}:${line}`, ...shown];
}

function shorten(frame: string, directory: string): string {
  return frame.replace(`file://${directory}/`, "").replace(`${directory}/`, "");
}
