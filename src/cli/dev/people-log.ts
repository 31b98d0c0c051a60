import type { Observation, Observer } from "../../door/ops.ts";
import { visible } from "../../door/terminal.ts";
import { onTerminal, createPainter, type Paint, type Style } from "../output.ts";
import { explainFault } from "./source-lines.ts";

/**
 * Returns an observer that writes a readable log: one line per request, with the reason if it was refused, and faults
 * with their source lines.
 */
export function peopleLog(stream: NodeJS.WriteStream, directory: string): Observer {
  const paint = createPainter(stream);
  const write = (text: string): void => void stream.write(onTerminal(`${text}\n`));
  return (observation) => {
    switch (observation.kind) {
      case "request":
        return write(requestLine(observation, paint));
      case "fault":
        return write(explainFault(observation.error, directory, paint));
      case "notice": {
        const { level, message, error } = observation;
        write(paint(level === "error" ? "red" : "dim", message));
        return error === undefined ? undefined : write(explainFault(error, directory, paint));
      }
      case "identity_header_dropped":
        return write(paint("yellow", `${observation.header} was ignored: ${observation.peer} is not a trusted proxy.`));
      case "refused":
        return write(paint("yellow", `refused before the request was complete: ${observation.detail}`));
      default:
        // A refused credential is already in the line of its request. All other observations are only for permanent
        // logs.
        return undefined;
    }
  };
}

function requestLine(request: Extract<Observation, { kind: "request" }>, paint: Paint): string {
  const { method, path, status, durationMs, userId, scheme, problem } = request;
  const who = userId === null || scheme === null ? "" : `user ${userId} by ${scheme}`;
  const parts = [
    paint("dim", new Date().toTimeString().slice(0, 8)),
    method.padEnd(6),
    printable(path).padEnd(28),
    paint(chooseStyle(status), String(status)),
    paint("dim", `${formatMs(durationMs)}  ${who}`.trimEnd()),
  ];
  const line = parts.join("  ");
  if (problem === null || status < 400) return line;
  const { code, detail, issues } = problem;
  const reason = issues.length === 0 ? detail : issues.map((issue) => `${issue.pointer} ${issue.detail}`).join(" ");
  return `${line}  ${paint(chooseStyle(status), code)} ${printable(reason)}`;
}

function chooseStyle(status: number): Style {
  if (status >= 500) return "red";
  if (status >= 400) return "yellow";
  return status >= 300 ? "cyan" : "green";
}

function formatMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`.padStart(7);
}

/**
 * Makes a text safe to print. Paths and field names come from the caller, so control characters are escaped and the
 * length is limited.
 */
function printable(text: string): string {
  return visible(text.slice(0, 500));
}
