import { lstatSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { visible, visibleLines } from "../../door/terminal.ts";
import type { Paint } from "../output.ts";
import { isOfPackages } from "./package-files.ts";

/** The number of shown lines before and after the line that threw. */
const AROUND = 2;
/** The largest source file that is read, in bytes. */
const MOST_BYTES = 1024 * 1024;

interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Describes a fault: its message, the source lines around its first stack frame in the project, all its frames in the
 * project, and its causes. Leaves out the message if `isReported` is true. A message may contain input of the caller.
 * So control characters are escaped, and no line of the message counts as a frame.
 */
export function explainFault(error: unknown, directory: string, paint: Paint, isReported = false): string {
  if (!(error instanceof Error)) return paint("red", visibleLines(`thrown: ${String(error)}`));
  const frames = collectFrames(error);
  const own = frames.filter((frame) => isOwn(frame));
  const place = parsePlace(own[0] ?? "");
  // For a syntax error, Node writes the place before the message, and its frames are not useful.
  const isSyntax = error.name === "SyntaxError";
  const head = isSyntax ? (error.stack ?? "").split(/^SyntaxError\b/m)[0]!.trimEnd() : "";
  const rest = frames.length - own.length;
  const lines = [
    ...(head === "" ? [] : [visibleLines(head.replace(`file://${directory}/`, ""))]),
    ...(isReported ? [] : [paint("red", visibleLines(`${error.name}: ${error.message}`))]),
    ...(place === null ? [] : sourceAround(place, directory, paint)),
    ...own.map((frame) => paint("dim", visible(shorten(frame, directory)))),
    ...(own.length === 0 && !isSyntax && !isReported
      ? frames.slice(0, 8).map((frame) => paint("dim", visible(frame)))
      : []),
    ...(own.length > 0 && rest > 0 ? [paint("dim", `    and ${rest} frames of packages and Node`)] : []),
  ];
  const cause =
    error.cause === undefined ? [] : [paint("dim", "caused by"), explainFault(error.cause, directory, paint)];
  return [...lines, ...cause].join("\n");
}

/** Returns the stack frames after the message. Returns an empty list if the stack does not contain the message. */
function collectFrames({ stack = "", message }: Error): readonly string[] {
  const at = stack.indexOf(message);
  const behind = at === -1 ? "" : stack.slice(at + message.length);
  return behind.split("\n").filter((line) => line.trimStart().startsWith("at "));
}

/** Returns true if a frame is in a file of the project, not in Node or in a package. */
function isOwn(frame: string): boolean {
  const place = parsePlace(frame);
  return place !== null && !isOfPackages(place.file);
}

function parsePlace(frame: string): SourceLocation | null {
  const found = /(?<=[\s(])((?:file:\/\/)?\/[^()]*|[A-Z]:\\[^()]*):(\d+):(\d+)\)?$/.exec(frame.trim());
  if (found === null) return null;
  const where = found[1]!.split("?")[0]!;
  const file = URL.canParse(where) && where.startsWith("file:///") ? fileURLToPath(where) : where;
  return { file, line: Number(found[2]), column: Number(found[3]) };
}

function sourceAround({ file, line, column }: SourceLocation, directory: string, paint: Paint): readonly string[] {
  const source = readSource(file, directory)?.split("\n") ?? [];
  if (source.length < line) return [];
  const from = Math.max(1, line - AROUND);
  const width = String(line + AROUND).length;
  const shown = source.slice(from - 1, line + AROUND).flatMap((text, at) => {
    const number = from + at;
    const code = visibleLines(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`);
    return number === line
      ? [code, paint("red", `${" ".repeat(width + 5 + Math.max(column - 1, 0))}^`)]
      : [paint("dim", code)];
  });
  return [visible(`${path.relative(directory, file)}:${line}`), ...shown];
}

/**
 * Reads a regular file of the project, of at most 1 MiB. Returns null for any other file: a device may have no end, and
 * a link may lead out of the project.
 */
function readSource(file: string, directory: string): string | null {
  try {
    const isInside = path.relative(realpathSync(directory), realpathSync(file)).split(path.sep)[0] !== "..";
    const found = lstatSync(file);
    return isInside && found.isFile() && found.size <= MOST_BYTES ? readFileSync(file, "utf8") : null;
  } catch {
    return null;
  }
}

function shorten(frame: string, directory: string): string {
  return frame.replace(`file://${directory}/`, "").replace(`${directory}/`, "");
}
